"""A spool: a JSON-lines file that one process appends to. What was acknowledged survives the death of the process.

Lines that arrive while the disk is busy are written together, with one flush to disk for all of them.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from ragstone.errors import StorageError

_BLOCK = 1 << 16


class SpoolFullError(StorageError):
    """The spool has reached its limit."""


class Spool:
    """Appends rows; `append` returns after they are on disk."""

    def __init__(self, path: str, most_bytes: int) -> None:
        self.path = path
        self._most_bytes = most_bytes
        self._waiting: list[tuple[bytes, asyncio.Future[None]]] = []
        self._task: asyncio.Task[None] | None = None
        try:
            folder = os.path.dirname(os.path.abspath(path))
            os.makedirs(folder, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            lock_file(self._file, path)
            self._size = _whole_lines(self._file)
            os.ftruncate(self._file, self._size)
            os.fsync(self._file)
            sync_folder(folder)
        except OSError as error:
            raise StorageError(f"cannot write {path}: {error.strerror}") from None

    async def append(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write rows and wait until they are on disk; a StorageError if they could not be written."""
        content = b"".join(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n" for row in rows)
        if not content:
            return
        if self._size + len(content) > self._most_bytes:
            raise SpoolFullError(f"{self.path} has reached its limit of {self._most_bytes:,} bytes")
        done = asyncio.get_running_loop().create_future()
        self._waiting.append((content, done))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._write_waiting())
        # A caller that leaves must not cancel what others wait for.
        await asyncio.shield(done)

    async def _write_waiting(self) -> None:
        while self._waiting:
            waiting, self._waiting = self._waiting, []
            try:
                await asyncio.to_thread(self._write, b"".join(content for content, _ in waiting))
            except OSError as error:
                failure = StorageError(f"cannot write {self.path}: {error.strerror}")
                for _, done in waiting:
                    done.set_exception(failure)
                    done.exception()  # the caller may be gone
            else:
                for _, done in waiting:
                    done.set_result(None)

    def _write(self, content: bytes) -> None:
        """All bytes or none: after a failure the file has its earlier size."""
        try:
            os.lseek(self._file, self._size, os.SEEK_SET)
            left = memoryview(content)
            while left:
                left = left[os.write(self._file, left) :]
            os.fsync(self._file)
        except OSError:
            os.ftruncate(self._file, self._size)
            raise
        self._size += len(content)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def _whole_lines(file: int) -> int:
    """The size without a last line that a killed process left unfinished; nobody was told that it was stored."""  # voice: ok
    end = os.fstat(file).st_size
    while end:
        start = max(0, end - _BLOCK)
        block = os.pread(file, end - start, start)
        if (found := block.rfind(b"\n")) >= 0:
            return start + found + 1
        end = start
    return 0


def lock_file(file: int, path: str) -> None:
    """Raise a StorageError if another process has locked the file. The lock ends with the process."""
    try:
        import fcntl  # noqa: PLC0415  (not on Windows)
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise StorageError(f"another process writes {path}. Stop it, or choose another file.") from None


def sync_folder(folder: str) -> None:
    """Flush the entry of a new file in its folder to disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
