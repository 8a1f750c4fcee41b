"""Keeps the outputs of the local judge between runs, in a SQLite file: a second version takes less time.

Keys are hashes of both texts and of all that the outputs depend on, so the file contains no text. A file that cannot be used is
ignored, and a broken one is removed: its content can be computed again.
"""

from __future__ import annotations

import platform
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from functools import cached_property
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path

import numpy as np

from ragstone.models.local_judge import LocalJudge, Pair
from ragstone.storage.durable import user_folder
from ragstone.storage.places import make_private_folders

# Goes up if pairs are cut into tokens in another way.
_FORM = 1
# About three million pairs; a larger file is begun again.
_MOST_BYTES = 300_000_000
# The five outputs of a pair.
_BYTES = 40
_WAIT_S = 2.0


def memory_file() -> Path:
    """The file, on this machine: several machines must not share it, as they may share the cache of replies."""
    return user_folder("cache") / "local-judge.sqlite"


class JudgeMemory:
    """A judge whose outputs are kept."""

    def __init__(self, judge: LocalJudge, path: Path | None = None) -> None:
        self._judge, self._path = judge, path

    def run(self, pairs: Sequence[Pair]) -> list[np.ndarray]:
        """The outputs as the judge computes them, those of earlier runs from the file."""
        keys = [blake2b(repr((*pair,)).encode(), digest_size=16, key=self._key).digest() for pair in pairs]
        found = self._use(lambda file: _read(file, keys))
        missing = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in found}
        if missing:
            made = dict(zip(missing, self._judge.run(list(missing.values())), strict=True))
            self._use(lambda file: _write(file, made))
            found |= made
        return [found[key] for key in keys]

    @cached_property
    def _key(self) -> bytes:
        card = self._judge.card
        limits = (card.max_length, sorted(card.second_limit.items()), sorted(card.files.items()))
        return blake2b(repr((_FORM, limits, version("onnxruntime"), platform.machine())).encode()).digest()

    def _use(self, work: Callable[[sqlite3.Connection], dict[bytes, np.ndarray]]) -> dict[bytes, np.ndarray]:
        with suppress(OSError, RuntimeError):  # no folder can be written, or there is no home folder
            path = self._path or memory_file()
            make_private_folders(str(path.parent))
            if path.exists() and path.stat().st_size > _MOST_BYTES:
                path.unlink()
            try:
                with closing(sqlite3.connect(path, timeout=_WAIT_S)) as file, file:
                    file.execute("CREATE TABLE IF NOT EXISTS outputs (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID")
                    return work(file)
            except sqlite3.OperationalError:
                pass  # locked by another process, or the disk is full
            except sqlite3.DatabaseError:
                path.unlink()
        return {}


def _read(file: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, np.ndarray]:
    marks = ", ".join("?" * len(keys))
    rows = file.execute(f"SELECT key, value FROM outputs WHERE key IN ({marks})", keys)  # noqa: S608
    return {key: np.frombuffer(value) for key, value in rows if len(value) == _BYTES}


def _write(file: sqlite3.Connection, made: dict[bytes, np.ndarray]) -> dict[bytes, np.ndarray]:
    rows = [(key, value.astype(np.float64).tobytes()) for key, value in made.items()]
    file.executemany("INSERT OR REPLACE INTO outputs VALUES (?, ?)", rows)
    return made
