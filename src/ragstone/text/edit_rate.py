"""Translation edit rate: insertions, deletions, replacements and block moves that turn one text into another.

The search of Tercom (Snover et al. 2006) as in sacrebleu, with the same limits and preferences, so that the counts are equal;
but all moves of a round are evaluated at once, as rows of one array.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

# The limits of Tercom and sacrebleu: they are part of the definition.
_LONGEST_MOVE = 10
_FARTHEST_MOVE = 50
_BEAM = 25
_MOST_MOVES_TRIED = 1000
_FAR = 1 << 29


class _Move(NamedTuple):
    """A block of the text and its target position."""

    length: int
    start: int
    target: int


class _Alignment(NamedTuple):
    """The text position of each reference word, and the number of errors before each position of both."""

    distance: int
    position: list[int]
    wrong_in_text: list[int]
    wrong_in_reference: list[int]


def count_edits(text: Sequence[str], reference: Sequence[str]) -> int:
    """The number of edits that turn the text into the reference; moving a block is one edit."""
    if not reference:
        return len(text)
    number: dict[str, int] = {}
    current = [number.setdefault(word, len(number)) for word in text]
    target = np.array([number.setdefault(word, len(number)) for word in reference], dtype=np.int32)
    positions: dict[int, list[int]] = {}
    for position, word in enumerate(target.tolist()):
        positions.setdefault(word, []).append(position)
    moved = tried = 0
    while True:
        alignment = _align(current, target)
        moves = list(_moves(current, target.tolist(), positions, alignment, _MOST_MOVES_TRIED - tried))
        tried += len(moves)
        if not moves or tried >= _MOST_MOVES_TRIED:
            return moved + alignment.distance
        better = _best_move(current, target, moves, alignment.distance)
        if better is None:
            return moved + alignment.distance
        moved, current = moved + 1, better


def _moves(
    text: list[int], reference: list[int], positions: dict[int, list[int]], alignment: _Alignment, limit: int
) -> Iterator[_Move]:
    """Moves of misplaced words of the text to where the reference has them and the text does not."""
    count = 0
    for start, word in enumerate(text):
        for position in positions.get(word, ()):
            if abs(position - start) > _FARTHEST_MOVE:
                continue
            for length in range(1, 1 + _common(text, start, reference, position)):
                if (
                    alignment.wrong_in_text[start + length] > alignment.wrong_in_text[start]
                    and alignment.wrong_in_reference[position + length] > alignment.wrong_in_reference[position]
                    and not start <= alignment.position[position] < start + length
                ):
                    for target in _targets(alignment.position, position, length):
                        count += 1
                        yield _Move(length, start, target)
                    if count >= limit:
                        return


def _common(text: list[int], start: int, reference: list[int], position: int) -> int:
    """The number of equal words from here on, up to the longest move."""
    most = min(_LONGEST_MOVE, len(text) - start, len(reference) - position)
    return next((length for length in range(most) if text[start + length] != reference[position + length]), most)


def _targets(aligned: list[int], position: int, length: int) -> Iterator[int]:
    """Possible targets of a block: after the words that are aligned with the reference words around the position."""
    last = -1
    for offset in range(position - 1, position + length):
        target = 0 if offset == -1 else aligned[offset] + 1
        if target != last:
            yield target
        last = target


def _best_move(text: list[int], reference: np.ndarray, moves: Sequence[_Move], distance: int) -> list[int] | None:
    """The text after the move with the smallest distance; ties prefer the longest, then the first move."""
    distinct = list(dict.fromkeys(moves))
    moved = [_perform(text, move) for move in distinct]
    # All texts have the same length: their distances are in the last row of the table.
    *_, (_, last) = _rows(np.array(moved, dtype=np.int32), reference)
    distances = last[:, -1]
    best = min(
        range(len(distinct)),
        key=lambda at: (distances[at], -distinct[at].length, distinct[at].start, distinct[at].target),
    )
    return moved[best] if distances[best] < distance else None


def _perform(words: list[int], move: _Move) -> list[int]:
    length, start, target = move
    block, end = words[start : start + length], start + length
    if target < start:
        return words[:target] + block + words[target:start] + words[end:]
    # Inside the block, the target counts as if the block were removed.
    stop = target if target > end else target + length
    return words[:start] + words[end:stop] + block + words[stop:]


def _rows(texts: np.ndarray, reference: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """The rows of the edit distance table: the first column and the costs of each text, within a beam around the diagonal."""
    size, ratio = len(reference), len(reference) / max(texts.shape[1], 1)
    beam = math.ceil(ratio / 2 + _BEAM) if ratio / 2 > _BEAM else _BEAM
    before = np.concatenate([[-1], reference])
    start, costs = 0, np.tile(np.arange(size + 1, dtype=np.int32), (len(texts), 1))
    yield start, costs
    for row, words in enumerate(texts.T, start=1):
        diagonal = math.floor(row * ratio)
        low = max(0, diagonal - beam)
        high = size + 1 if row == texts.shape[1] else min(size + 1, diagonal + beam)
        above = np.full((len(texts), high - low + 1), _FAR, dtype=np.int32)
        first, last = max(low - 1, start), min(high, start + costs.shape[1])
        above[:, first - low + 1 : last - low + 1] = costs[:, first - start : last - start]
        costs = above[:, :-1] + (words[:, None] != before[low:high])
        np.minimum(costs, above[:, 1:] + 1, out=costs)
        # An insertion costs one per step: the running minimum at each position.
        steps = np.arange(high - low, dtype=np.int32)
        costs -= steps
        np.minimum.accumulate(costs, axis=1, out=costs)
        costs += steps
        start = low
        yield start, costs


def _align(text: list[int], reference: np.ndarray) -> _Alignment:
    """The cheapest alignment of text and reference; ties prefer replacement, then deletion."""
    table = [(start, costs[0].tolist()) for start, costs in _rows(np.array([text], dtype=np.int32), reference)]
    words = reference.tolist()
    row, column = len(text), len(words)
    position, wrong_in_text, wrong_in_reference = [0] * column, [1] * row, [1] * column
    while row or column:
        cost = _cost(table, row, column)
        different = int(not row or not column or text[row - 1] != words[column - 1])
        if row and column and cost == _cost(table, row - 1, column - 1) + different:
            row, column = row - 1, column - 1
            position[column] = row
            wrong_in_text[row] = wrong_in_reference[column] = different
        elif row and cost == _cost(table, row - 1, column) + 1:
            row -= 1
        else:
            column -= 1
            position[column] = row - 1
    return _Alignment(
        _cost(table, len(text), len(words)),
        position,
        list(accumulate(wrong_in_text, initial=0)),
        list(accumulate(wrong_in_reference, initial=0)),
    )


def _cost(table: list[tuple[int, list[int]]], row: int, column: int) -> int:
    start, costs = table[row]
    return costs[column - start] if 0 <= column - start < len(costs) else _FAR
