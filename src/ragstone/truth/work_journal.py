"""A journal of replies that makes interrupted work resumable: started, kept after a stop, and removed at the end."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from ragstone.errors import InterruptedRunError, StopRunError
from ragstone.storage.durable import Journal, read_journal


class WorkJournal:
    """The replies so far by the key of their request. Without a file nothing is kept."""

    def __init__(self, file: Journal | None, known: dict[str, Any]) -> None:
        self._file = file
        self.known = known
        # Set by the caller if nothing is left to do: then the file is removed.
        self.is_finished = False

    def add(self, key: str, reply: Any) -> None:
        """Store a reply. Failures are not stored, so that they are asked again."""
        if self._file is not None:
            self._file.append([{"key": key, "reply": reply}])


@contextmanager
def open_journal(
    path: str | None, about: Mapping[str, Any], resume: bool, note: Callable[[str], object]
) -> Iterator[WorkJournal]:
    """Open the journal of one work until the end of the block; with `resume`, its replies are known.

    A journal that was written for something else than `about` is overwritten. An interrupt and StopRunError say how to continue.
    """
    head = {"journal": 1, **about}
    known = _read(path, head) if path and resume else {}
    if resume and not known:
        note("there is nothing to resume; starting from the beginning")
    file = Journal(path, keep=bool(known), sync=False) if path else None
    if file is not None and not known:
        file.append([head])
    journal = WorkJournal(file, known)
    try:
        yield journal
    except (KeyboardInterrupt, StopRunError) as error:
        kept = f"the answers are kept in {path}. Repeat the command with --resume to continue." if path else ""
        if isinstance(error, StopRunError):
            raise StopRunError(f"{error}\n{kept}".strip()) from None
        raise InterruptedRunError(f"stopped; {kept or 'nothing is kept'}") from None
    finally:
        if file is not None:
            file.close()
    if path and journal.is_finished:
        with suppress(FileNotFoundError):
            os.remove(path)


def _read(path: str, head: Mapping[str, Any]) -> dict[str, Any]:
    first, *entries = read_journal(path) or [None]
    if first != head:
        return {}
    return {
        entry["key"]: entry["reply"] for entry in entries if isinstance(entry, dict) and {"key", "reply"} <= set(entry)
    }
