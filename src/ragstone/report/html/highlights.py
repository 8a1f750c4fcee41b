"""Texts cut into pieces, so that the pieces that matter can be marked: sentences by their claims, places by their facts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ragstone.data.types import FactMatch
from ragstone.text.sentences import sentences
from ragstone.text.words import split_unspaced, words

# A claim belongs to the sentence that has most of its words, if that is at least half of them.
_LEAST_SHARE = 0.5
_WORST_FIRST = ("bad", "silent", "good")


@dataclass(frozen=True)
class Piece:
    """A stretch of text; marked ones have a tone and the numbers of the claims or facts that they belong to."""

    text: str
    tone: str = ""
    numbers: tuple[int, ...] = ()


def mark_claims(text: str, claims: Sequence[str], tones: Sequence[str]) -> list[Piece]:
    """An answer with its sentences in the tone of the worst claim that each makes."""
    spans = sentences(text)
    bags = [_bag(text[span.start : span.end]) for span in spans]
    made: dict[int, list[int]] = {}
    for number, claim in enumerate(claims):
        wanted = _bag(claim)
        shares = [len(wanted & bag) / len(wanted) if wanted else 0.0 for bag in bags]
        best = max(range(len(shares)), key=shares.__getitem__, default=None)
        if best is not None and shares[best] >= _LEAST_SHARE:
            made.setdefault(best, []).append(number)
    pieces: list[Piece] = []
    at = 0
    for place, span in enumerate(spans):
        if numbers := made.get(place):
            tone = next((word for word in _WORST_FIRST if any(tones[n] == word for n in numbers)), "")
            pieces += [Piece(text[at : span.start])] if span.start > at else []
            pieces.append(Piece(text[span.start : span.end], tone, tuple(n + 1 for n in numbers)))
            at = span.end
    return [*pieces, Piece(text[at:])] if at < len(text) or not pieces else pieces


def mark_facts(text: str, matches: Iterable[FactMatch], most: int) -> list[Piece]:
    """A chunk with the places where facts were found; where places overlap, the piece has the numbers of both."""
    found = [(m.start, min(m.end, len(text)), m.fact + 1) for m in matches if 0 <= m.start < min(m.end, len(text))]
    cuts = sorted({0, min(most, len(text)), *(end for start, stop, _ in found for end in (start, stop) if end < most)})
    pieces = []
    for start, end in pairwise(cuts):
        numbers = tuple(sorted({fact for first, last, fact in found if first <= start and end <= last}))
        pieces.append(Piece(text[start:end], "good" if numbers else "", numbers))
    return pieces


def _bag(text: str) -> set[str]:
    return {piece for word in words(text) for piece in split_unspaced(word.text)}
