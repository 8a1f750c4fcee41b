"""Matchers find facts in chunks. A matcher is a tool: it is chosen once per run."""

from __future__ import annotations

import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from ragstone.errors import UnknownNameError, UsageError
from ragstone.text.words import FoldedText, Span

if TYPE_CHECKING:
    from rapidfuzz.distance import ScoreAlignment

_LEAST_LIKENESS = 90
_NEGATIONS = "no|not|never|none|nor|neither|without|cannot|kein|keine|nicht|nie|ohne|ne|pas|jamais|sans|nunca|sin|sem|não|non|senza|не|нет|без|不|没|無|无|ない|لا|नहीं"
_NUMBERS_AND_NEGATIONS = re.compile(rf"\d+|(?<!\S)(?:{_NEGATIONS}|\S+n t)(?!\S)")


class FactSpan(NamedTuple):
    """The positions of a fact in a chunk and the matcher's confidence."""

    fact: int
    chunk: int
    start: int
    end: int
    confidence: float


class Matcher(Protocol):
    """Finds facts in chunks."""

    name: str
    signature: str

    def find(self, facts: Sequence[str], chunks: Sequence[str]) -> Iterator[FactSpan]:
        """Every match of a fact, chunk by chunk, with offsets in the original text."""
        ...


class FoldingMatcher(ABC):
    """A matcher that compares folded texts, which can be folded for many rows at once."""

    def find(self, facts: Sequence[str], chunks: Sequence[str]) -> Iterator[FactSpan]:
        """Every match of a fact, chunk by chunk, with offsets in the original text."""
        return self.find_folded([FoldedText(fact) for fact in facts], [FoldedText(chunk) for chunk in chunks])

    @abstractmethod
    def find_folded(self, facts: Sequence[FoldedText], chunks: Sequence[FoldedText]) -> Iterator[FactSpan]:
        """The same for texts that are folded."""


class ExactMatcher:
    """The chunk equals the fact, character for character."""

    name = "exact"
    signature = "exact/1"

    def find(self, facts: Sequence[str], chunks: Sequence[str]) -> Iterator[FactSpan]:
        """Every match of a fact, chunk by chunk, with offsets in the original text."""
        for position, chunk in enumerate(chunks):
            for number, fact in enumerate(facts):
                if chunk == fact:
                    yield FactSpan(number, position, 0, len(chunk), 1.0)


class CitationMatcher(FoldingMatcher):
    """The words of the fact occur in the chunk in sequence; case, punctuation and white space are ignored.

    Unlike DIAL's library, only whole words count: the fact "9 million" is not found in "19 million".
    """

    name = "citation"
    signature = "citation/1"

    def find_folded(self, facts: Sequence[FoldedText], chunks: Sequence[FoldedText]) -> Iterator[FactSpan]:
        """Every occurrence of a fact."""
        # Most facts are in no chunk. Two spaces separate chunks, and no fact has these inside.
        everything = "".join([chunk.folded for chunk in chunks])
        wanted = [
            (number, fact, fact.folded) for number, fact in enumerate(facts) if fact and fact.folded in everything
        ]
        for position, chunk in enumerate(chunks):
            folded = chunk.folded
            for number, fact, words in wanted:
                if words in folded:
                    yield from _citations(number, position, fact, chunk)


def _citations(number: int, position: int, fact: FoldedText, chunk: FoldedText) -> Iterator[FactSpan]:
    for span in chunk.find(fact):
        yield FactSpan(number, position, *_with_edges(fact.text, chunk.text, span), 1.0)


def _with_edges(fact: str, chunk: str, span: Span) -> Span:
    """Extend a span by the punctuation at the ends of the fact, if the chunk has it too."""
    fact = fact.strip()
    if fact[0].isalnum() and fact[-1].isalnum():
        return span
    lead = fact[: next((index for index, letter in enumerate(fact) if letter.isalnum()), 0)]
    tail = fact[len(fact) - next((index for index, letter in enumerate(reversed(fact)) if letter.isalnum()), 0) :]
    start = span.start - len(lead) if chunk.endswith(lead, 0, span.start) else span.start
    end = span.end + len(tail) if chunk.startswith(tail, span.end) else span.end
    return Span(start, end)


class FuzzyMatcher(FoldingMatcher):
    """Nearly the words of the fact occur in the chunk; hyphens, broken words and table text are tolerated.

    A citation has confidence 1. Otherwise the nearest span by edit distance must be at least 90 % similar and have the same
    numbers and negations: a changed figure or a missing "not" changes the meaning.
    """

    name = "fuzzy"
    signature = "fuzzy/1:90"

    def find_folded(self, facts: Sequence[FoldedText], chunks: Sequence[FoldedText]) -> Iterator[FactSpan]:
        """Every occurrence of a fact; without any, the nearest span if it is similar enough."""
        from rapidfuzz import fuzz, process  # noqa: PLC0415  (only this matcher needs it)

        numbers = [number for number, fact in enumerate(facts) if fact]
        wanted, texts = [facts[number].folded.strip() for number in numbers], [chunk.folded for chunk in chunks]
        if not wanted or not texts:
            return
        short = shorten([*wanted, *texts])
        short_facts, short_texts = short[: len(wanted)], short[len(wanted) :]
        # Most facts are in few chunks: one call finds the candidate pairs, and positions are computed only for these.
        likeness = process.cdist(short_facts, short_texts, scorer=fuzz.partial_ratio, score_cutoff=_LEAST_LIKENESS)
        for position, index in zip(*map(np.ndarray.tolist, likeness.T.nonzero()), strict=True):
            fact, chunk, words = facts[numbers[index]], chunks[position], wanted[index]
            if fact.folded in chunk.folded:
                yield from _citations(numbers[index], position, fact, chunk)
            elif len(words) <= len(chunk.folded) and (
                near := fuzz.partial_ratio_alignment(
                    short_facts[index], short_texts[position], score_cutoff=_LEAST_LIKENESS
                )
            ):
                yield from _near(numbers[index], position, words, chunk, near)


class JudgeMatcher:
    """The claim judge decides whether a chunk states the fact in other words. It is called when evidence is collected."""

    name = "judge"
    signature = "judge/2"

    def find(self, facts: Sequence[str], chunks: Sequence[str]) -> Iterator[FactSpan]:  # noqa: ARG002
        """Raises: only a run can call the judge."""
        raise UsageError('the matcher "judge" asks a model: use it in `ragstone run` or `ragstone.evaluate`')


def _near(number: int, position: int, wanted: str, chunk: FoldedText, alignment: ScoreAlignment) -> Iterator[FactSpan]:
    """The span of the chunk that is nearest to the fact, extended to whole words."""
    if alignment.dest_end == alignment.dest_start:
        return
    start = chunk.folded.rfind(" ", 0, alignment.dest_start + 1) + 1
    end = chunk.folded.find(" ", alignment.dest_end - 1)
    span = chunk.folded[start:end].strip()
    if span and numbers_and_negations(wanted) == numbers_and_negations(span):
        yield FactSpan(number, position, *chunk.original(start, end), alignment.score / 100)


def numbers_and_negations(folded: str) -> list[str]:
    """The numbers and negations, which must be equal, in order."""
    return _NUMBERS_AND_NEGATIONS.findall(folded)


MATCHERS: dict[str, type[ExactMatcher] | type[CitationMatcher] | type[FuzzyMatcher]] = {
    matcher.name: matcher for matcher in (ExactMatcher, CitationMatcher, FuzzyMatcher)
}


def make_matcher(name: str) -> Matcher:
    """The matcher of that name."""
    if name not in MATCHERS:
        raise UnknownNameError("fact matcher", name, MATCHERS, f"Choose from: {', '.join(MATCHERS)}.")
    return MATCHERS[name]()


_UNKNOWN, _SEPARATOR = 0, 255


class Alphabet:
    """Maps characters to codes below U+0100 while any are left: rapidfuzz compares these twice as fast."""

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
        # The alphabet is full: start a new one.
        _current[0] = fresh = Alphabet()
        shortened = fresh.shorten(texts)
    return texts if shortened is None else shortened
