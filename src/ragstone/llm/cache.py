"""Replies on disk, addressed by everything that can change them: asking the same again costs nothing.

One small JSON file a reply, written under a temporary name and renamed, so that several processes can share a folder.
What cannot be read is a miss; what cannot be written is not kept. Neither fails a run.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from ragstone.errors import StorageError

VARIABLE = "RAGSTONE_CACHE"
_SUFFIX = ".json"
# A change of what is stored makes all older entries misses.
_VERSION = 1
_SEAM = b'\n"value":'


class CacheSize(NamedTuple):
    """What a cache holds."""

    entries: int
    size_bytes: int


def default_folder() -> Path:
    """Where replies are kept: RAGSTONE_CACHE, else the place that the platform has for such things."""
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen).expanduser()
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "ragstone" / "replies"


def make_key(parts: Any) -> str:
    """The address of what is described by some JSON: the same for the same content, whatever the order of its keys."""
    canonical = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.blake2b(canonical.encode(), digest_size=20).hexdigest()


class Cache:
    """A folder of replies."""

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        self.folder = Path(folder) if folder is not None else default_folder()
        # Why nothing is kept any more, if so; for a note at the end of a run.
        self.problem: str | None = None

    def __repr__(self) -> str:
        return f"Cache({str(self.folder)!r})"

    @property
    def shown(self) -> str:
        """Where replies are kept, for people."""
        return str(self.folder)

    def read(self, key: str) -> Any:
        """What was stored under a key, or None; a broken or foreign file is as good as none."""
        try:
            with open(self._path(key), "rb") as stream:
                return decode_entry(key, stream.read())
        except (OSError, ValueError, RecursionError):
            return None

    def write(self, key: str, value: Any) -> None:
        """Store a value; if that fails, say why in `problem` and go on."""
        path = self._path(key)
        temporary = f"{path}.{os.getpid()}-{threading.get_ident():x}.tmp"
        try:
            _write_file(temporary, encode_entry(key, value))
            os.replace(temporary, path)
        except FileNotFoundError:
            pass  # another process clears the cache at this moment
        except OSError as error:
            self.problem = f"replies are not kept in {self.folder}: {error.strerror or type(error).__name__}"
            with suppress(OSError):
                os.remove(temporary)

    def size(self) -> CacheSize:
        """How many entries there are and how much room they take."""
        entries = total = 0
        for path in self._files():
            with suppress(OSError):
                total += path.stat().st_size
                entries += path.suffix == _SUFFIX
        return CacheSize(entries, total)

    def clear(self) -> CacheSize:
        """Remove all entries, and nothing else that may lie in the folder; returns what was removed."""
        size = self.size()
        try:
            for path in self._files():
                path.unlink(missing_ok=True)
        except OSError as error:
            raise StorageError(f"cannot clear {self.folder}: {error.strerror}") from None
        for folder in self._folders():
            with suppress(OSError):
                folder.rmdir()
        return size

    def _path(self, key: str) -> str:
        return f"{self.folder}{os.sep}{key[:2]}{os.sep}{key[2:]}{_SUFFIX}"

    def _folders(self) -> list[Path]:
        try:
            return [path for path in self.folder.iterdir() if len(path.name) == 2 and path.is_dir()]
        except OSError:
            return []

    def _files(self) -> Iterator[Path]:
        """Entries, and what a killed process has left half-written."""
        for folder in self._folders():
            with suppress(OSError):
                yield from (path for path in folder.iterdir() if path.suffix in (_SUFFIX, ".tmp"))


def encode_entry(key: str, value: Any) -> bytes:
    """What is stored under a key: a line that names it with a checksum, then the value."""
    content = json.dumps(value, separators=(",", ":")).encode()
    return b"".join((_head(key, content), _SEAM, content, b"}"))


def decode_entry(key: str, entry: bytes) -> Any:
    """The value of an entry, or None where it is broken or another's."""
    head, _, value = entry.partition(_SEAM)
    return json.loads(value[:-1]) if head == _head(key, value[:-1]) and value[-1:] == b"}" else None


def _write_file(path: str, content: bytes) -> None:
    """Not flushed to the disk: a reply lost in a power cut is only asked for again."""
    try:
        with open(path, "wb") as stream:
            stream.write(content)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as stream:
            stream.write(content)


def _head(key: str, value: bytes) -> bytes:
    """The first line of an entry: it names its key and holds the checksum of the second."""
    checksum = hashlib.blake2b(value, digest_size=8).hexdigest()
    return f'{{"ragstone":{_VERSION},"key":"{key}","checksum":"{checksum}",'.encode()
