"""What a page cannot show, and with which status it says so."""

from __future__ import annotations

from ragstone.errors import RagstoneError


class NotThereError(RagstoneError):
    """There is no such page: the run or the sample is not under the root."""

    status = 404
