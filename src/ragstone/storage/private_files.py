"""Files and folders that only their owner can read, for any umask: runs, ground truth, cached replies."""

from __future__ import annotations

import os
from typing import IO

_FOLDER_MODE = 0o700
_FILE_MODE = 0o600


def make_private_folders(path: str) -> None:
    """Create a folder and its missing parents with mode 0700. Folders that exist keep their permissions."""
    missing = []
    while path and not os.path.isdir(path):
        missing.append(path)
        parent = os.path.dirname(path)
        if parent == path:
            break
        path = parent
    for folder in reversed(missing):
        try:
            os.mkdir(folder, _FOLDER_MODE)
        except FileExistsError:  # another process was faster, or it is a file
            if not os.path.isdir(folder):
                raise


def open_private(path: str) -> IO[bytes]:
    """Open a file for writing; a new file gets mode 0600."""
    return open(path, "wb", opener=private_opener)


def private_opener(path: str, flags: int) -> int:
    """The `opener` of `open` that creates files with mode 0600."""
    return os.open(path, flags, _FILE_MODE)
