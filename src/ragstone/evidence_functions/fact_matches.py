"""Which chunk contains which fact: judges retrieval without chunk ids, so that two chunkings can be compared (DIAL)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Self

import numpy as np
import pyarrow as pa

from ragstone.data.codec import arrow_type
from ragstone.data.columns import Lists, Ragged, concat_offsets
from ragstone.data.types import Chunk, Fact, FactMatch, Gaps
from ragstone.data.verdict import ENTAILMENT, probability_of
from ragstone.errors import Skip
from ragstone.evidence_functions.tokens import list_offsets
from ragstone.registry import CATALOGUE, Catalogue, evidence
from ragstone.registry.specs import read_signature
from ragstone.text.clauses import is_sentence
from ragstone.text.folded_columns import fold_texts
from ragstone.text.matchers import CitationMatcher, FactSpan, FoldingMatcher, JudgeMatcher, Matcher
from ragstone.text.passages import Passages
from ragstone.text.questions import is_fragment
from ragstone.tools.protocols import Checker

_MATCHES = arrow_type(list[FactMatch])
JUDGE = JudgeMatcher.name


@evidence(columnar=True)
def fact_matches(facts: pa.ListArray, contexts: pa.ListArray, matcher: Matcher) -> Gaps[FactMatches]:
    """Every occurrence of a fact in a retrieved chunk, with its character span."""
    wanted, listed = facts.flatten().field("text"), contexts.flatten().field("text")
    reasons = rows_without_words(wanted.to_pylist(), list_offsets(facts))
    if isinstance(matcher, FoldingMatcher):
        rows = zip(_cut(fold_texts(wanted), facts), _cut(fold_texts(listed), contexts), strict=True)
        matches = [list(matcher.find_folded(*row)) for row in rows]
    else:
        pairs = zip(_cut(wanted.to_pylist(), facts), _cut(listed.to_pylist(), contexts), strict=True)
        matches = [list(matcher.find(*pair)) for pair in pairs]
    return Gaps(FactMatches.from_lists(matches, matcher.name), reasons)


async def judged_fact_matches(
    question: str, facts: list[Fact], contexts: list[Chunk], matcher: Matcher, checker: Checker
) -> list[FactMatch]:
    """Every fact that a retrieved chunk states in its own words or in others, by the judge that checks claims.

    A fact of a few words that a chunk contains is found without asking; a sentence may be denied where it stands. A chunk without a
    number or date of the fact, other than those of the question, does not state it. The span is that of the words, or a sentence.
    """
    from ragstone.text.claim_numbers import check_numbers  # noqa: PLC0415  (only this matcher needs its patterns)

    texts, chunks = [fact.text for fact in facts], [chunk.text for chunk in contexts]
    for reason in rows_without_words(texts, np.array([0, len(texts)])).values():
        raise Skip(reason)
    places: dict[tuple[int, int], list[FactSpan]] = {}
    for match in CitationMatcher().find(texts, chunks):
        places.setdefault((match.fact, match.chunk), []).append(match)
    short = {fact for fact, text in enumerate(texts) if is_fragment(text) and not is_sentence(text)}
    there = {pair for pair in places if pair[0] in short}
    asked = [fact for fact in range(len(texts)) if any((fact, chunk) not in there for chunk in range(len(chunks)))]
    verdicts = await checker.check(question, [texts[fact] for fact in asked], chunks) if asked else []
    found = [match for pair in there for match in places[pair]]
    for fact, row in zip(asked, verdicts, strict=True):
        for chunk, verdict in enumerate(row):
            said = places.get((fact, chunk), ())
            if verdict != ENTAILMENT or (fact, chunk) in there:
                continue
            if said or not check_numbers(texts[fact], [chunks[chunk]], question):
                found += _stated(fact, chunk, texts[fact], chunks[chunk], said, verdict)
    found.sort(key=lambda match: (match.chunk, match.fact, match.start))
    return [FactMatch(*match, matcher=matcher.name) for match in found]


def _stated(fact: int, chunk: int, wanted: str, text: str, places: Sequence[FactSpan], verdict: str) -> list[FactSpan]:
    likely = probability_of(verdict)
    confidence = 1.0 if likely is None else likely
    if places:
        return [place._replace(confidence=confidence) for place in places]
    near = Passages(text).nearest_span(wanted)
    start, end = near[0] if near else (0, len(text))
    return [FactSpan(fact, chunk, start, end, confidence)]


def with_matcher(tools: Mapping[str, Any]) -> Catalogue:
    """The catalogue for these tools: a judge matches facts row by row, all other matchers do so in whole columns."""
    if "matcher" not in tools or tools["matcher"].signature != JudgeMatcher.signature:
        return CATALOGUE
    maker = CATALOGUE.evidence("fact_matches")
    if maker is None:
        raise AssertionError("fact_matches is defined above")
    needs, _, _ = read_signature(judged_fact_matches)
    prompts = ("context_verdicts",)
    judged = replace(maker, function=judged_fact_matches, needs=needs, columnar=False, prompts=prompts)
    return CATALOGUE.with_evidence(judged)


@evidence(columnar=True)
def fact_ranks(fact_matches: FactMatches, facts: pa.ListArray) -> Ranks:
    """The rank, from 1, of the first chunk in which each fact is found; nothing where it is not."""
    fact_matches = FactMatches.from_column(fact_matches)
    offsets, never = list_offsets(facts), np.iinfo(np.int64).max
    ranks = np.full(offsets[-1], never)
    np.minimum.at(ranks, offsets[fact_matches.row_of] + fact_matches.facts, fact_matches.chunks + 1)
    return Ranks(np.where(ranks == never, 0, ranks), offsets)


@evidence(columnar=True)
def chunk_relevance(fact_matches: FactMatches, contexts: pa.ListArray) -> Counts:
    """How many of the facts each retrieved chunk contains."""
    fact_matches = FactMatches.from_column(fact_matches)
    offsets = list_offsets(contexts)
    chunks = offsets[fact_matches.row_of] + fact_matches.chunks
    most = int(fact_matches.facts.max(initial=0)) + 1
    pairs = np.unique(chunks * most + fact_matches.facts)
    return Counts(np.bincount(pairs // most, minlength=offsets[-1]), offsets)


def rows_without_words(facts: Sequence[str], offsets: np.ndarray) -> dict[int, str]:
    """The rows in which a fact has no letter or digit, and which."""
    reasons: dict[int, str] = {}
    for place, fact in enumerate(facts):
        # Most facts begin with a letter.
        if not fact[:1].isalnum() and not any(character.isalnum() for character in fact):
            row = int(np.searchsorted(offsets, place, side="right")) - 1
            reasons.setdefault(row, f"fact {place - offsets[row] + 1} ({fact[:20]!r}) has no letter or digit")
    return reasons


def _cut(items: Iterable[Any], lists: pa.ListArray) -> Iterator[Sequence[Any]]:
    """The items of each list."""
    rest = iter(items)
    for length in lists.value_lengths().to_pylist():
        yield list(islice(rest, length))


class FactMatches(Lists):
    """A list of `FactMatch` per row: one array per number, and the name of the matcher."""

    row_type = list[FactMatch]

    def __init__(self, numbers: Sequence[np.ndarray], offsets: np.ndarray, matcher: str) -> None:
        self.facts, self.chunks, self.starts, self.ends, self.confidences = numbers
        self.offsets = offsets
        self.matcher = matcher

    @classmethod
    def from_lists(cls, lists: Iterable[Sequence[tuple[int, int, int, int, float]]], matcher: str) -> FactMatches:
        """One row per list of matches: fact, chunk, start, end, confidence."""
        rows = list(lists)
        matches = [match for row in rows for match in row]
        kinds = (*[np.int64] * 4, np.float64)
        columns = zip(*matches, strict=True) if matches else [()] * len(kinds)
        numbers = [np.array(column, dtype=kind) for column, kind in zip(columns, kinds, strict=True)]
        return cls(numbers, np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)]), matcher)

    @classmethod
    def from_column(cls, column: FactMatches | Iterable[Sequence[FactMatch]]) -> FactMatches:
        """The column as it is, or made from the lists of matches that a judge found row by row."""
        if isinstance(column, FactMatches):
            return column
        rows = [[(one.fact, one.chunk, one.start, one.end, one.confidence) for one in matches] for matches in column]
        return cls.from_lists(rows, JUDGE)

    @classmethod
    def concat(cls, columns: Sequence[FactMatches]) -> FactMatches:
        """One column of the rows of all columns."""
        numbers = [np.concatenate(parts) for parts in zip(*(column.numbers for column in columns), strict=True)]
        return cls(numbers, concat_offsets(columns), columns[0].matcher)

    def __getitem__(self, row: int) -> list[FactMatch]:
        row = range(len(self))[row]
        here = slice(self.offsets[row], self.offsets[row + 1])
        columns = [column[here].tolist() for column in self.numbers]
        return [
            FactMatch(fact, chunk, start, end, confidence, self.matcher)
            for fact, chunk, start, end, confidence in zip(*columns, strict=True)
        ]

    @property
    def numbers(self) -> list[np.ndarray]:
        """The columns in the order of `FactMatch`."""
        return [self.facts, self.chunks, self.starts, self.ends, self.confidences]

    def take(self, rows: np.ndarray) -> FactMatches:
        """The chosen rows, in the given order."""
        chosen = Ragged(np.arange(len(self.facts)), self.offsets).take(rows)
        return FactMatches([column[chosen.values] for column in self.numbers], chosen.offsets, self.matcher)

    def to_arrow(self) -> pa.ListArray:
        """The stored form."""
        columns = [pa.array(column) for column in self.numbers]
        columns.append(pa.repeat(pa.scalar(self.matcher, pa.string()), len(self.facts)))
        items = pa.StructArray.from_arrays(columns, fields=list(_MATCHES.value_type))
        return pa.ListArray.from_arrays(pa.array(self.offsets, pa.int32()), items, type=_MATCHES)

    @classmethod
    def from_arrow(cls, stored: pa.ListArray) -> FactMatches:
        """The column from its stored form; rows must not be null."""
        matches = stored.flatten()
        *numbers, matchers = (matches.field(position) for position in range(matches.type.num_fields))
        matcher = matchers[0].as_py() if len(matchers) else ""
        return cls([column.to_numpy() for column in numbers], list_offsets(stored), matcher)


class Counts(Ragged):
    """A list of integers per row; a row reads as a Python list."""

    row_type: Any = list[int]

    def __getitem__(self, row: int) -> Any:
        return super().__getitem__(row).tolist()

    def to_arrow(self) -> pa.ListArray:
        """The stored form."""
        return pa.ListArray.from_arrays(pa.array(self.offsets, pa.int32()), pa.array(self.values))

    @classmethod
    def from_arrow(cls, stored: pa.ListArray) -> Self:
        """The column from its stored form; rows must not be null."""
        return cls(stored.flatten().fill_null(0).to_numpy(), list_offsets(stored))


class Ranks(Counts):
    """A list of ranks per row; 0 means no rank and reads as None."""

    row_type = list[int | None]

    def __getitem__(self, row: int) -> Any:
        return [rank or None for rank in super().__getitem__(row)]

    def to_arrow(self) -> pa.ListArray:
        """The stored form."""
        ranks = pa.array(self.values, mask=self.values == 0)
        return pa.ListArray.from_arrays(pa.array(self.offsets, pa.int32()), ranks)
