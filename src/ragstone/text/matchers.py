"""Ways to find facts in chunks. Which one is used is chosen once for a run: a matcher is a tool."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from ragstone.errors import UnknownNameError
from ragstone.text.words import FoldedText


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


class CitationMatcher:
    """The words of the fact stand in the chunk one after the other; case, punctuation and white space do not matter.

    Unlike DIAL's library, only whole words count: the fact "9 million" is not found in "19 million".
    """

    name = "citation"
    signature = "citation/1"

    def find(self, facts: Sequence[str], chunks: Sequence[str]) -> Iterator[Found]:
        """Every place where a citation stands, with the offsets of the original text."""
        folded_facts = [FoldedText(fact) for fact in facts]
        for position, chunk in enumerate(chunks):
            folded_chunk = FoldedText(chunk)
            for number, fact in enumerate(folded_facts):
                for span in folded_chunk.find(fact):
                    yield Found(number, position, span.start, span.end, 1.0)


MATCHERS: dict[str, type[ExactMatcher] | type[CitationMatcher]] = {
    matcher.name: matcher for matcher in (ExactMatcher, CitationMatcher)
}


def make_matcher(name: str) -> Matcher:
    """The matcher of that name."""
    if name not in MATCHERS:
        raise UnknownNameError("fact matcher", name, MATCHERS, f"There are: {', '.join(MATCHERS)}.")
    return MATCHERS[name]()
