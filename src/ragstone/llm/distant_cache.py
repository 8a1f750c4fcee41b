"""Replies in object storage, so that workers on many machines share them: the same addresses as on a disk, an object a reply."""

from __future__ import annotations

import os
from typing import Any

from ragstone.errors import StorageError
from ragstone.llm.cache import VARIABLE, Cache, CacheSize, decode_entry, default_folder, encode_entry
from ragstone.storage.places import Place, open_place


class DistantCache(Cache):
    """A prefix of a bucket, or any place with a URL."""

    def __init__(self, url: str) -> None:
        super().__init__(".")
        self.url = url
        self._place = open_place(url)

    def __repr__(self) -> str:
        return f"DistantCache({self.url!r})"

    @property
    def shown(self) -> str:
        """Where replies are kept, for people."""
        return self.url

    def read(self, key: str) -> Any:
        """What was stored under a key, or None."""
        try:
            return decode_entry(key, self._entry(key).read_bytes())
        except (StorageError, OSError, ValueError):
            return None

    def write(self, key: str, value: Any) -> None:
        """Store a value; if that fails, say why in `problem` and go on."""
        try:
            self._entry(key).write_bytes(encode_entry(key, value))
        except (StorageError, OSError) as error:
            self.problem = f"replies are not kept in {self.url}: {error}"

    def size(self) -> CacheSize:
        """How many entries there are and how much room they take."""
        sizes = [len(entry.read_bytes()) for entry in self._entries()]
        return CacheSize(len(sizes), sum(sizes))

    def clear(self) -> CacheSize:
        """Remove all entries; returns what was removed."""
        size = self.size()
        for entry in self._entries():
            entry.remove()
        return size

    def _entry(self, key: str) -> Place:
        return self._place / key[:2] / f"{key[2:]}.json"

    def _entries(self) -> list[Place]:
        folders = [place for place in self._place.children() if len(place.name) == 2]
        return [entry for folder in folders for entry in folder.children() if entry.name.endswith(".json")]


def open_cache(folder: str | os.PathLike[str] | None = None) -> Cache:
    """The replies in a folder or behind a URL; those of RAGSTONE_CACHE, or of the usual place, where none is named."""
    chosen = os.fspath(folder) if folder is not None else os.environ.get(VARIABLE) or os.fspath(default_folder())
    return DistantCache(chosen) if "://" in chosen else Cache(chosen if folder is not None else None)
