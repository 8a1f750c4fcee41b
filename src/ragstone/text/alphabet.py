"""Texts of any script as texts of at most 256 characters: rapidfuzz compares these twice as fast."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

_UNKNOWN, _SEPARATOR = 0, 255


class Alphabet:
    """Gives each character that it meets a character below U+0100, until there are no more."""

    def __init__(self) -> None:
        self._codes = np.zeros(0x110000, dtype=np.uint8)
        self._codes[ord("\n")] = _SEPARATOR
        self._used = 0
        self._lock = threading.Lock()

    def shorten(self, texts: Sequence[str]) -> list[str] | None:
        """The texts with other characters in the same places; None if they have too many. No text may have a line break.

        Equal characters stay equal and different ones different, so edit distances and positions do not change.
        """
        joined = _codes_of("\n".join(texts))
        codes = self._codes.take(joined)
        if not codes.all():
            if not self._add(np.unique(joined[codes == _UNKNOWN])):
                return None
            codes = self._codes.take(joined)
        return codes.tobytes().decode("latin-1").split(chr(_SEPARATOR))

    def _add(self, characters: np.ndarray) -> bool:
        with self._lock:
            new = characters[self._codes[characters] == _UNKNOWN]
            if self._used + len(new) >= _SEPARATOR:
                return False
            self._codes[new] = np.arange(self._used + 1, self._used + len(new) + 1)
            self._used += len(new)
        return True


def _codes_of(text: str) -> np.ndarray:
    """The number of each character, of 16 bits if they all fit: that is encoded faster."""
    narrow = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), dtype="<u2")
    if len(narrow) == len(text):
        return narrow
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


_current = [Alphabet()]


def shorten(texts: Sequence[str]) -> Sequence[str]:
    """The texts with at most 256 different characters if that is possible and not so already."""
    if all(map(str.isascii, texts)):
        return texts
    shortened = _current[0].shorten(texts)
    if shortened is None:
        # Full of other characters: the next texts start with a new one.
        _current[0] = fresh = Alphabet()
        shortened = fresh.shorten(texts)
    return texts if shortened is None else shortened
