"""Ways to find facts in chunks. Which one is used is chosen once for a run: a matcher is a tool."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from ragstone.errors import UnknownNameError
from ragstone.text.words import FoldedText, Span

if TYPE_CHECKING:
    from rapidfuzz.distance import ScoreAlignment

_LEAST_LIKENESS = 90
_NEGATIONS = "no|not|never|none|nor|neither|without|cannot|kein|keine|nicht|nie|ohne|ne|pas|jamais|sans|nunca|sin|sem|não|non|senza|не|нет|без|不|没|無|无|ない|لا|नहीं"
_NUMBERS_AND_NEGATIONS = re.compile(rf"\d+|(?<!\S)(?:{_NEGATIONS}|\S+n t)(?!\S)")


class Found(NamedTuple):
    """Which fact stands in which chunk, from which to which character, and how sure the matcher is."""

    fact: int
    chunk: int
    start: int
    end: int
    confidence: float


class Matcher(Protocol):
    """Finds facts in chunks."""

    name: str
    signature: str

    def find(self, facts: Sequence[str], chunks: Sequence[str]) -> Iterator[Found]:
        """Every place where a fact stands, chunk by chunk."""
        ...


class FoldingMatcher(ABC):
    """A matcher that compares folded texts, which may be folded for many rows at once."""

    def find(self, facts: Sequence[str], chunks: Sequence[str]) -> Iterator[Found]:
        """Every place where a fact stands, with the offsets of the original text."""
        return self.find_folded([FoldedText(fact) for fact in facts], [FoldedText(chunk) for chunk in chunks])

    @abstractmethod
    def find_folded(self, facts: Sequence[FoldedText], chunks: Sequence[FoldedText]) -> Iterator[Found]:
        """The same for texts that are folded."""


class ExactMatcher:
    """The chunk is the fact, character for character."""

    name = "exact"
    signature = "exact/1"

    def find(self, facts: Sequence[str], chunks: Sequence[str]) -> Iterator[Found]:
        """The whole chunk, where it equals the fact."""
        for position, chunk in enumerate(chunks):
            for number, fact in enumerate(facts):
                if chunk == fact:
                    yield Found(number, position, 0, len(chunk), 1.0)


class CitationMatcher(FoldingMatcher):
    """The words of the fact stand in the chunk one after the other; case, punctuation and white space do not matter.

    Unlike DIAL's library, only whole words count: the fact "9 million" is not found in "19 million".
    """

    name = "citation"
    signature = "citation/1"

    def find_folded(self, facts: Sequence[FoldedText], chunks: Sequence[FoldedText]) -> Iterator[Found]:
        """Every place where a citation stands."""
        wanted = [(number, fact, fact.folded) for number, fact in enumerate(facts) if fact]
        for position, chunk in enumerate(chunks):
            folded = chunk.folded
            for number, fact, words in wanted:
                if words in folded:
                    yield from _citations(number, position, fact, chunk)


def _citations(number: int, position: int, fact: FoldedText, chunk: FoldedText) -> Iterator[Found]:
    for span in chunk.find(fact):
        yield Found(number, position, *_with_edges(fact.text, chunk.text, span), 1.0)


def _with_edges(fact: str, chunk: str, span: Span) -> Span:
    """The place with the punctuation at the ends of the fact, where the chunk has it too."""
    fact = fact.strip()
    lead = fact[: next((place for place, letter in enumerate(fact) if letter.isalnum()), 0)]
    tail = fact[len(fact) - next((place for place, letter in enumerate(reversed(fact)) if letter.isalnum()), 0) :]
    start = span.start - len(lead) if chunk.endswith(lead, 0, span.start) else span.start
    end = span.end + len(tail) if chunk.startswith(tail, span.end) else span.end
    return Span(start, end)


class FuzzyMatcher(FoldingMatcher):
    """Almost the words of the fact stand in the chunk: hyphens, torn words and table text do not hide it.

    A citation counts in full. Otherwise the stretch of the chunk that is nearest by edit distance must be alike to at
    least 90 %, and must have the same numbers and the same negations: a changed figure or a dropped "not" is no noise.
    """

    name = "fuzzy"
    signature = "fuzzy/1:90"

    def find_folded(self, facts: Sequence[FoldedText], chunks: Sequence[FoldedText]) -> Iterator[Found]:
        """Every place where a citation stands, else the nearest stretch if it is near enough."""
        from rapidfuzz import fuzz, process  # noqa: PLC0415  (only this matcher needs it)

        numbers = [number for number, fact in enumerate(facts) if fact]
        wanted, texts = [facts[number].folded.strip() for number in numbers], [chunk.folded for chunk in chunks]
        if not wanted or not texts:
            return
        # Most facts stand in few chunks: whether one does is asked for all at once, and where only if it does.
        likeness = process.cdist(wanted, texts, scorer=fuzz.partial_ratio, score_cutoff=_LEAST_LIKENESS)
        for position, place in zip(*map(np.ndarray.tolist, likeness.T.nonzero()), strict=True):
            fact, chunk, words = facts[numbers[place]], chunks[position], wanted[place]
            if fact.folded in chunk.folded:
                yield from _citations(numbers[place], position, fact, chunk)
            elif len(words) <= len(chunk.folded) and (
                near := fuzz.partial_ratio_alignment(words, chunk.folded, score_cutoff=_LEAST_LIKENESS)
            ):
                yield from _near(numbers[place], position, words, chunk, near)


def _near(number: int, position: int, wanted: str, chunk: FoldedText, found: ScoreAlignment) -> Iterator[Found]:
    """The stretch of the chunk that is nearest to the fact, to the ends of the words in which it begins and ends."""
    if found.dest_end == found.dest_start:
        return
    start = chunk.folded.rfind(" ", 0, found.dest_start + 1) + 1
    end = chunk.folded.find(" ", found.dest_end - 1)
    stretch = chunk.folded[start:end].strip()
    if stretch and weighty(wanted) == weighty(stretch):
        yield Found(number, position, *chunk.original(start, end), found.score / 100)


def weighty(folded: str) -> list[str]:
    """What must not differ: the numbers and the negations, in their order."""
    return _NUMBERS_AND_NEGATIONS.findall(folded)


MATCHERS: dict[str, type[ExactMatcher] | type[CitationMatcher] | type[FuzzyMatcher]] = {
    matcher.name: matcher for matcher in (ExactMatcher, CitationMatcher, FuzzyMatcher)
}


def make_matcher(name: str) -> Matcher:
    """The matcher of that name."""
    if name not in MATCHERS:
        raise UnknownNameError("fact matcher", name, MATCHERS, f"There are: {', '.join(MATCHERS)}.")
    return MATCHERS[name]()
