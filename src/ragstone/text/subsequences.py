"""What two sequences of numbers have in common in the same order, gaps allowed: ROUGE-L's longest common subsequence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import isqrt
from typing import Any

import numpy as np

# A number is written as a character, where there are enough of them: all but the surrogates.
_SURROGATES = range(0xD800, 0xE000)
_CHARACTERS = 0x110000 - len(_SURROGATES)
# Bits of memory for one comparison, beyond which a part of it is made twice.
_MOST_BITS = 2**30


def common_lengths(
    left: np.ndarray, left_offsets: np.ndarray, right: np.ndarray, right_offsets: np.ndarray
) -> np.ndarray:
    """The length of the longest common subsequence of each row of the one with the same row of the other."""
    from rapidfuzz.distance import LCSseq  # noqa: PLC0415  (a tenth of a second, for those who count in order alone)
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
    """The numbers of a line at the places that belong to its longest common subsequence with any of the other lines.

    Where there are several such subsequences the one is taken that Google's rouge-score takes.
    """
    masks: dict[int, int] = {}
    for place, number in enumerate(line):
        masks[number] = masks.get(number, 0) | 1 << place
    chosen = 0
    for other in others:
        if not masks.keys().isdisjoint(other):
            chosen |= _common_places([masks.get(number, 0) for number in other], len(line))
    return [number for place, number in enumerate(line) if chosen >> place & 1] if chosen else []


def _common_places(steps: Sequence[int], size: int) -> int:
    """Bit by bit the places of a line that another line shares in order; its steps are the places of each of its numbers.

    Bit-parallel (Hyyrö 2004): after a step a bit is 0 where the longest common subsequence grows with that place. Walking
    back, a place is taken where the numbers are equal; otherwise what grows there came from an earlier step.
    """
    chosen, below = 0, (1 << size) - 1
    for mask, state in _backwards(steps, size):
        top = ((mask | ~state) & below).bit_length()
        if not top:
            break
        place = 1 << (top - 1)
        if mask & place:
            chosen, below = chosen | place, place - 1
        else:
            below = 2 * place - 1
    return chosen


def _backwards(steps: Sequence[int], size: int) -> Iterator[tuple[int, int]]:
    """Each step with the state after it, last first; of a long comparison only some states are kept, the rest made again."""
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
