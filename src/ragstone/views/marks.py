"""Texts with marked places, marks with a tone and words, and the limits on long texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ragstone.data.types import FactMatch
from ragstone.data.verdict import SIGNS
from ragstone.text.sentences import sentences
from ragstone.text.words import split_unspaced, words

# A claim belongs to the sentence that contains most of its words, if it contains at least half of them.
_LEAST_SHARE = 0.5
_WORST_FIRST = ("bad", "silent", "unsure", "good")
_SHORT = 20_000
FULL = 2_000_000


@dataclass
class Limits:
    """The number of characters shown of a text, and of chunks. `cut` is set if a text was shortened."""

    size: int = _SHORT
    chunks: int | None = None
    cut: bool = False
    # Whether small images are a part of the output, for files.
    embed: bool = False

    @classmethod
    def read(cls, query: Mapping[str, str]) -> Limits:
        """Read the limits from a query: `?full=1` raises them."""
        return cls(FULL) if query.get("full") else cls()

    def shorten(self, text: str) -> str:
        """Return the beginning of a long text and its full length."""
        return text[: self.size] + self.rest(text)

    def rest(self, text: str) -> str:
        """Return a note about the part of a text over the limit; empty if the text is shown in full."""
        if len(text) <= self.size:
            return ""
        self.cut = True
        return f" … ({len(text):,} characters in all)"


@dataclass(frozen=True)
class Piece:
    """A part of a text. A marked part has a tone and the numbers of its claims or facts."""

    text: str
    tone: str = ""
    numbers: tuple[int, ...] = ()


@dataclass(frozen=True)
class Mark:
    """A verdict as colour, sign and words."""

    tone: str
    words: str

    @property
    def sign(self) -> str:
        """The sign, for readers who cannot see the colour."""
        return SIGNS[self.tone]


@dataclass(frozen=True)
class RankMark(Mark):
    """A mark about chunks, by rank."""

    ranks: tuple[int, ...] = ()

    @property
    def short(self) -> str:
        """`✓ 1, 3`: for a column of chunks."""
        return f"{self.sign} {', '.join(map(str, self.ranks)) or self.words}"


def mark_claims(text: str, claims: Sequence[str], tones: Sequence[str]) -> list[Piece]:
    """An answer with its sentences in the tone of their worst claim."""
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
    """A chunk with its facts marked. If facts overlap, the piece has the numbers of both."""
    spans = [(m.start, min(m.end, len(text)), m.fact + 1) for m in matches if 0 <= m.start < min(m.end, len(text))]
    cuts = sorted({0, min(most, len(text)), *(end for start, stop, _ in spans for end in (start, stop) if end < most)})
    pieces = []
    for start, end in pairwise(cuts):
        numbers = tuple(sorted({fact for first, last, fact in spans if first <= start and end <= last}))
        pieces.append(Piece(text[start:end], "good" if numbers else "", numbers))
    return pieces


def _bag(text: str) -> set[str]:
    return {piece for word in words(text) for piece in split_unspaced(word.text)}
