"""Which parts of the documents have questions, and which have none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ragstone.formats.documents import Passage


@dataclass(frozen=True)
class Covered:
    """How much of a document has questions; the sections that have none are named."""

    source: str
    passages: int
    passages_used: int
    sections: int
    sections_used: int
    questions: int
    unused: list[str]


def measure_coverage(passages: Sequence[Passage], used: Iterable[Sequence[str]]) -> list[Covered]:
    """Document by document; `used` are the passages of each question."""
    questions = [frozenset(ids) for ids in used]
    everything = frozenset().union(*questions)
    documents = dict.fromkeys(passage.source for passage in passages)
    return [
        _covered(source, [item for item in passages if item.source == source], questions, everything)
        for source in documents
    ]


def _covered(
    source: str, passages: Sequence[Passage], questions: Sequence[frozenset[str]], used: frozenset[str]
) -> Covered:
    ids = {passage.id for passage in passages}
    sections = dict.fromkeys(passage.section for passage in passages)
    reached = {passage.section for passage in passages if passage.id in used}
    return Covered(
        source=source,
        passages=len(passages),
        passages_used=len(ids & used),
        sections=len(sections),
        sections_used=len(reached),
        questions=sum(bool(question & ids) for question in questions),
        unused=[section for section in sections if section not in reached],
    )
