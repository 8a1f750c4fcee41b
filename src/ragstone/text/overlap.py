"""Word overlap of two texts: shared content words, token coverage, and longest common subsequences (ROUGE-L)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from math import isqrt
from typing import Any

import numpy as np

from ragstone.text import squad
from ragstone.text.lexicon import lexicon, number_words, word_set
from ragstone.text.porter import stem
from ragstone.text.words import word_texts

FUNCTION_WORDS = word_set(lexicon("overlap")["function_words"])
_NUMBERS = {word: str(number) for word, number in number_words().items()}


@lru_cache(maxsize=4096)
def content_words(text: str) -> frozenset[str]:
    """The content words, folded, with numbers as digits; all words if there is no content word."""
    everything = frozenset(_NUMBERS.get(word, word) for word in word_texts(text))
    return everything - FUNCTION_WORDS or everything


@lru_cache(maxsize=4096)
def content_stems(text: str) -> frozenset[str]:
    """The stems of the content words; empty if there is no content word."""
    return frozenset(stem(word) for word in content_words(text) if word not in FUNCTION_WORDS)


# Words that any question and answer may have: they do not say what it is about.
_ANY_TOPIC = frozenset(map(stem, lexicon("overlap")["any_topic"].split()))
# Scripts whose words are not separated.
_JOINED_SCRIPTS = ("\u0e00", "\u109f"), ("\u1780", "\u17ff")


def shares_topic(text: str, question: str, answer: str) -> bool:
    """Whether a text has a word that says what the answer is about, or most such words of the question.

    An answer without such words, `Yes`, takes them from its question. True for scripts that do not separate words.
    """
    if any(low <= letter <= high for letter in answer for low, high in _JOINED_SCRIPTS):
        return True
    there, folded = content_stems(text), text.casefold()
    wanted, asked = content_stems(answer) - _ANY_TOPIC, content_stems(question) - _ANY_TOPIC
    if any(_has_stem(word, there, folded) for word in wanted or asked):
        return True
    found = sum(_has_stem(word, there, folded) for word in asked)
    return not (wanted or asked) or 2 * found > len(asked)


def _has_stem(word: str, there: frozenset[str], folded: str) -> bool:
    # Compounds contain their parts: Preise, Hallenbadpreise.
    return word in there or (len(word) > 3 and word in folded)


def covered(text: str, by: str) -> float:
    """The share of a text's tokens that occur in another text, as in `k_precision`; 0 for a text without tokens."""
    wanted, there = squad.tokens(text), _distinct(by)
    return sum(token in there for token in wanted) / len(wanted) if wanted else 0.0


@lru_cache(maxsize=4096)
def _distinct(text: str) -> frozenset[str]:
    return frozenset(squad.tokens(text))


# A number is encoded as a character if there are enough of them: all but the surrogates.
_SURROGATES = range(0xD800, 0xE000)
_CHARACTERS = 0x110000 - len(_SURROGATES)
# Memory in bits for one comparison; above it, states are recomputed.
_MOST_BITS = 2**30


def common_lengths(
    left: np.ndarray, left_offsets: np.ndarray, right: np.ndarray, right_offsets: np.ndarray
) -> np.ndarray:
    """The length of the longest common subsequence of each row of `left` with the same row of `right`."""
    from rapidfuzz.distance import LCSseq  # noqa: PLC0415  (0.1 s to import, and few metrics need it)
    from rapidfuzz.process import cpdist  # noqa: PLC0415

    if len(left_offsets) == 1:
        return np.zeros(0)
    few = max(left.max(initial=0), right.max(initial=0)) < _CHARACTERS
    split = _texts if few else _lists
    lengths: np.ndarray = cpdist(
        split(left, left_offsets), split(right, right_offsets), scorer=LCSseq.similarity, dtype=np.int32
    )
    return lengths.astype(np.float64)


def _texts(numbers: np.ndarray, offsets: np.ndarray) -> list[Any]:
    """Each number as a character, each row as a text."""
    codes = np.where(numbers < _SURROGATES.start, numbers, numbers + len(_SURROGATES))
    text, ends = codes.astype("<u4").tobytes().decode("utf-32-le"), offsets.tolist()
    return [text[start:end] for start, end in pairwise(ends)]


def _lists(numbers: np.ndarray, offsets: np.ndarray) -> list[Any]:
    every, ends = numbers.tolist(), offsets.tolist()
    return [every[start:end] for start, end in pairwise(ends)]


def union_of_common(line: Sequence[int], others: Iterable[Sequence[int]]) -> list[int]:
    """The numbers of a line that belong to its longest common subsequence with any of the other lines.

    If there are several such subsequences, the result is the same as in Google's rouge-score.
    """
    masks: dict[int, int] = {}
    for position, number in enumerate(line):
        masks[number] = masks.get(number, 0) | 1 << position
    chosen = 0
    for other in others:
        if not masks.keys().isdisjoint(other):
            chosen |= _common_positions([masks.get(number, 0) for number in other], len(line))
    return [number for position, number in enumerate(line) if chosen >> position & 1] if chosen else []


def _common_positions(steps: Sequence[int], size: int) -> int:
    """The positions of a line that another line shares in order, as bits; `steps` are the positions of each of its numbers.

    Bit-parallel (Hyyrö 2004): after a step, a bit is 0 if the longest common subsequence grows at that position. On the way
    back, a position is chosen if the numbers are equal; otherwise the growth came from an earlier step.
    """
    chosen, below = 0, (1 << size) - 1
    for mask, state in _backwards(steps, size):
        top = ((mask | ~state) & below).bit_length()
        if not top:
            break
        position = 1 << (top - 1)
        if mask & position:
            chosen, below = chosen | position, position - 1
        else:
            below = 2 * position - 1
    return chosen


def _backwards(steps: Sequence[int], size: int) -> Iterator[tuple[int, int]]:
    """Each step with the state after it, last first; long comparisons keep some states and recompute the rest."""
    full = (1 << size) - 1

    def follow(states: list[int], masks: Sequence[int], state: int) -> int:
        for mask in masks:
            matched = state & mask
            if matched:
                state = ((state + matched) | (state - matched)) & full
            states.append(state)
        return state

    block = len(steps) if len(steps) * size <= _MOST_BITS else isqrt(len(steps))
    starts = [full]
    for end in range(block, len(steps), block):
        starts.append(follow([], steps[end - block : end], starts[-1]))
    for number in reversed(range(len(starts))):
        part = steps[number * block : (number + 1) * block]
        states: list[int] = []
        follow(states, part, starts[number])
        yield from zip(reversed(part), reversed(states), strict=True)
