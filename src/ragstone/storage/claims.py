"""Taking a name that nobody else may take: two who save at once never get the same one."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ragstone.storage.places import Place, storage_errors

_CLAIM = "claim"


@contextmanager
def claiming(folder: Place) -> Iterator[bool]:
    """Whether the folder is ours until the block ends; never true for two at a time.

    Locally a file decides that must not be there yet. Arrow cannot ask an object store for that: there everybody leaves a
    claim of its own and then looks, and only who sees no other claim has it. Two who come at once may both be refused.
    """
    name = _CLAIM if folder.is_local else f"{_CLAIM}.{secrets.token_hex(8)}"
    mine, held = folder / name, False
    try:
        held = _create(mine) if folder.is_local else _leave(mine, folder)
        yield held
    finally:
        if held or not folder.is_local:
            mine.remove()
        if held and folder.is_local:
            with suppress(OSError):  # something lies in it, which is the rule
                os.rmdir(folder.path)


def is_claimed(folder: Place) -> bool:
    """Whether somebody holds it, or held it when its process was killed."""
    return any(child.name.startswith(_CLAIM) for child in folder.children())


def _create(mine: Place) -> bool:
    with storage_errors(f"cannot write {mine}"):
        while True:
            os.makedirs(os.path.dirname(mine.path), exist_ok=True)
            try:
                os.close(os.open(mine.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            except FileExistsError:
                return False
            except FileNotFoundError:  # somebody who gave up has removed the folder just now
                continue
            return True


def _leave(mine: Place, folder: Place) -> bool:
    mine.write_bytes(str(os.getpid()).encode())
    return not any(child.name.startswith(_CLAIM) and child.name != mine.name for child in folder.children())
