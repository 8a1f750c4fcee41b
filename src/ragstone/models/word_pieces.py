"""The tokenizer of the local judge and of MiniLM: BERT's lower-case word pieces, so that they need no package for it.

Tests compare it with the package tokenizers, for every character that its tables have. Special tokens in a text are plain text.
"""

from __future__ import annotations

import json
import string
import unicodedata
from functools import lru_cache

from ragstone.models.runtime import unusable
from ragstone.models.store import Installed

FILE = "tokenizer.json"
# Ideographs, which are words of their own.
_IDEOGRAPHS = [(0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2A6DF), (0x2A700, 0x2B81F)]
_IDEOGRAPHS += [(0x2B920, 0x2CEAF), (0x2F800, 0x2FA1F)]
_MOST_LETTERS = 100  # Of a word; a longer one is unknown.


class _Folded(dict[int, str]):
    """Replacements of characters, for `str.translate`: punctuation and ideographs between spaces, letters without accents."""

    def __missing__(self, code: int) -> str:
        letter, kind = chr(code), unicodedata.category(chr(code))
        if letter in "\t\n\r" or kind.startswith("Z"):
            folded = " "
        elif letter == "\ufffd" or kind in ("Cc", "Cf", "Co"):
            folded = ""
        else:
            parts = [one for one in unicodedata.normalize("NFD", letter) if unicodedata.category(one) != "Mn"]
            is_ideograph = any(low <= code <= high for low, high in _IDEOGRAPHS)
            folded = "".join(f" {one} " if is_ideograph or _is_punctuation(one) else one.lower() for one in parts)
        return self.setdefault(code, folded)


def _is_punctuation(letter: str) -> bool:
    return letter in string.punctuation or unicodedata.category(letter).startswith("P")


class WordPieces:
    """Cuts texts into the pieces of a vocabulary."""

    def __init__(self, ids: dict[str, int]) -> None:
        self.ids = ids
        self._folded, self._pieces = _Folded(), lru_cache(50_000)(self._cut)

    @classmethod
    def open(cls, model: Installed) -> WordPieces:
        """The vocabulary of a stored model; raises if it is of another kind."""
        try:
            read = json.loads(model.path(FILE).read_text(encoding="utf-8"))
            if (read["model"]["type"], read["normalizer"]["lowercase"]) != ("WordPiece", True):
                raise ValueError("it has no lower-case word pieces")
            return cls(read["model"]["vocab"])
        except (ValueError, KeyError, TypeError) as error:
            raise unusable(model, FILE, error) from error

    def encode(self, text: str) -> list[int]:
        """The numbers of the pieces, without marks for begin and end."""
        return [piece for word in text.translate(self._folded).split() for piece in self._pieces(word)]

    def _cut(self, word: str) -> tuple[int, ...]:
        """The longest pieces from the left; one unknown piece if any part has none."""
        found, start, mark = [], 0, ""
        while start < len(word) <= _MOST_LETTERS:
            end = next((end for end in range(len(word), start, -1) if mark + word[start:end] in self.ids), start)
            if end == start:
                break
            found.append(self.ids[mark + word[start:end]])
            start, mark = end, "##"
        return tuple(found) if start == len(word) else (self.ids["[UNK]"],)
