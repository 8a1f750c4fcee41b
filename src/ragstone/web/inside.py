"""What lies under the root: links that lead elsewhere do not."""

from __future__ import annotations

import os

from ragstone.storage.places import Place


def is_inside(root: Place, place: Place) -> bool:
    """Whether a folder lies under the root, links followed."""
    if not root.is_local:
        return True
    top = os.path.realpath(root.path)
    return os.path.realpath(place.path).startswith(top.rstrip(os.sep) + os.sep)
