"""Proposals that wait for a decision, and decisions: accept or reject facts and answers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ragstone.data.types import Chunk
from ragstone.truth.citations.check import CitationCheck, check_citation
from ragstone.truth.model import Case, Standing

CITATION = "citation"
# The position of the answer of a case among its facts.
ANSWER = -1


@dataclass(frozen=True)
class Item:
    """Something that a person can accept or reject: a fact, the answers of a case, or that a case is unanswerable.

    `position` is the position of the fact in its case, or ANSWER.
    """

    case: str
    position: int
    kind: str
    text: str
    provenance: str
    standing: str
    confidence: float | None = None


@dataclass(frozen=True)
class Choice:
    """A filter of items; empty parts match everything. An item without a confidence matches no limit of confidence."""

    cases: Collection[str] = ()
    facts: Collection[int] = ()
    kinds: Collection[str] = ()
    provenances: Collection[str] = ()
    least: float | None = None
    most: float | None = None
    standing: str = "proposed"

    def matches(self, item: Item) -> bool:
        """Whether an item is chosen."""
        return (
            item.standing == self.standing
            and (not self.cases or item.case in self.cases)
            and (not self.facts or item.position in self.facts)
            and (not self.kinds or item.kind in self.kinds)
            and (not self.provenances or item.provenance in self.provenances)
            and (self.least is None or (item.confidence is not None and item.confidence >= self.least))
            and (self.most is None or (item.confidence is not None and item.confidence <= self.most))
        )

    @property
    def is_limited(self) -> bool:
        """Whether it names cases or filters by more than the standing."""
        return bool(self.cases or self.kinds or self.provenances) or (self.least, self.most) != (None, None)


def items_of(case: Case) -> Iterator[Item]:
    """The answer of a case, then its facts."""
    if case.references or case.answerable is False:
        kind = "answer" if case.references else "unanswerable"
        text = " / ".join(case.references) or "the documents do not contain the answer"
        probability = case.metadata.get("probability")
        known = isinstance(probability, int | float) and 0 <= probability <= 1
        yield Item(case.id, ANSWER, kind, text, case.provenance, case.standing, probability if known else None)
    for position, fact in enumerate(case.facts):
        yield Item(case.id, position, fact.kind, fact.text, fact.provenance, fact.standing, fact.confidence)


def choose(cases: Iterable[Case], choice: Choice) -> list[Item]:
    """The items that match a filter, in the order of the cases."""
    return [item for case in cases for item in items_of(case) if choice.matches(item)]


@dataclass(frozen=True)
class Decision:
    """Items that are accepted, rejected or proposed again."""

    items: Sequence[Item]
    standing: Standing

    def apply(self, cases: Iterable[Case]) -> list[Case]:
        """The cases after the decision."""
        positions: dict[str, set[int]] = {}
        for item in self.items:
            positions.setdefault(item.case, set()).add(item.position)
        return [self._decide(case, positions[case.id]) if case.id in positions else case for case in cases]

    def _decide(self, case: Case, positions: Collection[int]) -> Case:
        facts = [
            replace(fact, standing=self.standing) if at in positions else fact for at, fact in enumerate(case.facts)
        ]
        return replace(case, facts=facts, standing=self.standing if ANSWER in positions else case.standing)


def citable_passages(case: Case) -> list[Chunk]:
    """The texts that can contain the citations of a case: its passages, then reference contexts with other texts."""
    known = {passage.text for passage in case.passages}
    return [*case.passages, *(Chunk(text) for text in dict.fromkeys(case.reference_contexts) if text not in known)]


def find_lost(cases: Iterable[Case], items: Iterable[Item]) -> Mapping[Item, CitationCheck]:
    """The citations among the items that are not in the passages of their case. Cases without passages are not checked."""
    passages = {case.id: [passage.text for passage in citable_passages(case)] for case in cases}
    checks = {
        item: check_citation(item.text, passages[item.case])
        for item in items
        if item.position != ANSWER and item.kind == CITATION and any(map(str.strip, passages[item.case]))
    }
    return {item: check for item, check in checks.items() if not check.holds}
