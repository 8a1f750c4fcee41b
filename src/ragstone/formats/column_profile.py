"""The content of a column in figures: lists or texts, their length, how many are questions, whether values repeat."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any

from ragstone.formats.loose_contexts import parse_list, text_of_chunk
from ragstone.formats.values import Unfit, plain
from ragstone.text.lexicon import late_pattern

_QUESTION_MARKS = ("?", "？", "؟")
_ASKS = late_pattern(
    r"(?:what|how|why|when|where|who|which|whose|can|could|is|are|do|does|did|should|may|must|tell|explain|describe|list|name|"
    r"was|wie|wo|wer|wann|warum|wieso|welche[rsnm]?|kann|können|darf|muss|gibt|ist|sind|que|qué|quel|quelle|quels|comment|"
    r"pourquoi|où|quand|combien|cómo|cuándo|dónde|cuál|cuánto|cosa|come|quando|dove|perché|quanto|onde|qual|hoe|wat|waar|wanneer|"
    r"что|как|где|когда|почему|сколько|какой|какая|какие|jak|co|kiedy|gdzie)\b",
    re.IGNORECASE,
)
_URL = late_pattern(r"\s*(?:https?|s3|file)://\S+\s*$")
_FILE_NAME = late_pattern(r"[^\s/]+\.(?:pdf|md|docx?|html?|txt|xlsx?|csv|json)(?:#\S*)?$", re.IGNORECASE)
_WORD = late_pattern(r"\w{2,}")
_UNSPACED = late_pattern("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]")
_NUMBER = late_pattern(r"\s*[+-]?[\d.,]+\s*%?\s*$")


@dataclass(frozen=True)
class ColumnProfile:
    """The first cells of one column."""

    name: str
    cells: Sequence[Any]

    @property
    def rows(self) -> int:
        """The number of rows that were looked at."""
        return len(self.cells)

    @cached_property
    def values(self) -> list[Any]:
        """The cells that are not empty."""
        return [cell for cell in map(plain, self.cells) if cell is not None and cell not in ("", [])]

    @cached_property
    def lists(self) -> list[list[Any]]:
        """The values that are lists, or JSON or Python lists in a text."""
        found = []
        for value in self.values:
            try:
                items = parse_list(value) if isinstance(value, str) else plain(value)
            except Unfit:  # the reader reports it
                continue
            if isinstance(items, list | tuple):
                found.append(list(items))
        return found

    @cached_property
    def texts(self) -> list[str]:
        """The values that are texts."""
        return [value for value in self.values if isinstance(value, str)]

    @property
    def has_lists(self) -> bool:
        """Whether most values are lists."""
        return len(self.lists) * 2 > len(self.values)

    @property
    def has_texts(self) -> bool:
        """Whether most values are texts, and not lists."""
        return not self.has_lists and len(self.texts) * 2 > len(self.values)

    @cached_property
    def items(self) -> list[str]:
        """The texts in the lists; chunks as mappings count with their text."""
        return [text for items in self.lists for item in items if (text := text_of_chunk(item)) is not None]

    @cached_property
    def length(self) -> float:
        """The mean number of characters of a text or of an item."""
        return self._mean(len)

    @cached_property
    def words(self) -> float:
        """The mean number of words of a text or of an item; Chinese and Japanese have about two characters per word."""
        return self._mean(lambda text: len(text.split()) + len(_UNSPACED.findall(text)) / 2)

    @cached_property
    def questions(self) -> float:
        """The share of texts that ask: they end with a question mark or begin with a question word."""
        return self._mean(lambda text: text.rstrip(" \t\n\"'»”").endswith(_QUESTION_MARKS) or bool(_ASKS.match(text)))

    @property
    def marked_questions(self) -> float:
        """The share of texts that end with a question mark."""
        return self._mean(lambda text: text.rstrip(" \t\n\"'»”").endswith(_QUESTION_MARKS))

    @cached_property
    def addresses(self) -> float:
        """The share of texts or items that are addresses or names of files."""
        return self._mean(lambda text: bool(_URL.match(text) or _FILE_NAME.match(text)))

    @cached_property
    def numbers(self) -> float:
        """The share of values that are numbers or true/false."""
        numeric = sum(
            isinstance(value, int | float) or (isinstance(value, str) and bool(_NUMBER.match(value)))
            for value in self.values
        )
        return numeric / len(self.values) if self.values else 0.0

    @cached_property
    def distinct(self) -> float:
        """The share of different values."""
        return len(set(map(str, self.values))) / len(self.values) if self.values else 0.0

    @property
    def looks_like_ids(self) -> bool:
        """Whether every row has a short value without spaces, and no two are equal."""
        texts = [str(value).strip() for value in self.values if isinstance(value, str | int)]
        if len(texts) < self.rows or self.distinct < 1.0 or any(isinstance(value, bool) for value in self.values):
            return False
        return all(0 < len(text) <= 48 and " " not in text for text in texts) and not self.addresses

    def shared_words(self, other: ColumnProfile) -> float:
        """The mean share of this column's words that the same row of the other column has."""
        shares = []
        for mine, theirs in zip(self.cells, other.cells, strict=True):
            wanted = set(_WORD.findall(_joined(mine)))
            if wanted and theirs:
                shares.append(len(wanted & set(_WORD.findall(_joined(theirs)))) / len(wanted))
        return fmean(shares) if shares else 0.0

    def _mean(self, measure: Callable[[str], float]) -> float:
        texts = self.items if self.has_lists else self.texts
        return fmean(map(measure, texts)) if texts else 0.0


def _joined(value: Any) -> str:
    return "" if value is None else (" ".join(map(str, value)) if isinstance(value, list) else str(value)).casefold()
