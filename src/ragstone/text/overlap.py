"""How many words of one text stand in another: what a judge by meaning is combined with, and held against."""

from __future__ import annotations

from functools import lru_cache

from ragstone.text import squad
from ragstone.text.words import words

_FUNCTION_WORDS = frozenset(
    [
        "a",
        "an",
        "the",
        "and",
        "or",
        "but",
        "of",
        "to",
        "in",
        "on",
        "at",
        "by",
        "for",
        "from",
        "with",
        "as",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "being",
        "it",
        "its",
        "this",
        "that",
        "these",
        "those",
        "he",
        "she",
        "they",
        "his",
        "her",
        "their",
        "there",
        "which",
        "who",
        "whom",
        "whose",
        "what",
        "when",
        "where",
        "how",
        "do",
        "does",
        "did",
        "has",
        "have",
        "had",
        "not",
        "no",
        "so",
        "than",
        "then",
        "also",
        "into",
        "about",
        "over",
        "under",
        "after",
        "before",
        "between",
    ]
)
_SMALL = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty"
_NUMBERS = {
    **{word: str(number) for number, word in enumerate(_SMALL.split())},
    **dict(
        zip(
            ["thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"],
            map(str, range(30, 100, 10)),
            strict=True,
        )
    ),
}


@lru_cache(maxsize=4096)
def content_words(text: str) -> frozenset[str]:
    """The words that carry meaning, folded, a number the same as a word and in digits; all words where none does."""
    everything = frozenset(_NUMBERS.get(word.text, word.text) for word in words(text))
    return everything - _FUNCTION_WORDS or everything


def covered(text: str, by: str) -> float:
    """The share of a text's tokens that occur in another one, as `k_precision` counts them; 0 for a text without tokens."""
    wanted, there = squad.tokens(text), _distinct(by)
    return sum(token in there for token in wanted) / len(wanted) if wanted else 0.0


@lru_cache(maxsize=4096)
def _distinct(text: str) -> frozenset[str]:
    return frozenset(squad.tokens(text))
