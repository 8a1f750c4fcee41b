"""The 404 error of the viewer, and the check that a path is inside the root."""

from __future__ import annotations

import os

from ragstone.errors import RagstoneError
from ragstone.storage.places import Place


class NotFoundError(RagstoneError):
    """The page, run, sample or ground truth does not exist under the root."""

    status = 404


def is_inside(root: Place, place: Place) -> bool:
    """Check that a path is inside the root, following symlinks."""
    if not root.is_local:
        return True
    top = os.path.realpath(root.path)
    return os.path.realpath(place.path).startswith(top.rstrip(os.sep) + os.sep)
