"""How much two bags of words share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple


class Overlap(NamedTuple):
    """Precision, recall and their harmonic mean."""

    precision: float
    recall: float
    f1: float


def bag_overlap(predicted: Sequence[str], expected: Sequence[str]) -> Overlap:
    """The shared words, counted with repetition, as a share of each side. Both sides empty: 1; one empty: 0."""
    if not predicted or not expected:
        value = 1.0 if len(predicted) == len(expected) else 0.0
        return Overlap(value, value, value)
    shared = (Counter(predicted) & Counter(expected)).total()
    precision, recall = shared / len(predicted), shared / len(expected)
    return Overlap(precision, recall, 2 * precision * recall / (precision + recall) if shared else 0.0)
