"""One sample as page data: what was asked and answered, its claims with verdicts, its facts, its chunks in rank order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.compare.cases import Case
from ragstone.compare.findings import Outcome
from ragstone.report.html.evidence import (
    Mark,
    chunk_marks,
    claim_groups,
    counted,
    fact_ranks,
    finding_rows,
    mark_answer,
)
from ragstone.report.html.highlights import Piece, mark_facts

# A report is to be read; the whole of a long text is in the run.
MOST_CHARACTERS = 4_000
MOST_CHUNKS = 20


@dataclass(frozen=True)
class Shown:
    """A sample as the page shows it."""

    anchor: str
    id: str
    row: int
    question: str
    answer: list[Piece] | None
    references: list[str]
    unanswerable: bool
    cause: str
    part: str
    undecided: str
    quality: float | None
    findings: list[dict[str, Any]]
    claims: list[dict[str, Any]]
    facts: list[dict[str, Any]]
    chunks: list[dict[str, Any]] | None
    chunks_left_out: int
    cells: list[dict[str, Any]]

    @property
    def scored(self) -> list[dict[str, Any]]:
        """The scores that there are."""
        return [cell for cell in self.cells if cell["value"] is not None]

    @property
    def unscored(self) -> list[tuple[str, list[str]]]:
        """Why others are missing, and which."""
        found: dict[str, list[str]] = {}
        for cell in self.cells:
            if cell["value"] is None:
                found.setdefault(f"{cell['status']}, {cell['reason']}", []).append(cell["metric"])
        return list(found.items())


def show_sample(
    row: int, case: Case, outcome: Outcome, cells: list[dict[str, Any]], quality: float | None, prefix: str = "s"
) -> Shown:
    """All that a run knows about a sample, in the order in which one reads it."""
    sample = case.sample
    contexts = sample.contexts
    return Shown(
        anchor=f"{prefix}{row + 1}",
        id=sample.id,
        row=row + 1,
        question=cut(sample.question or ""),
        answer=None if sample.answer is None else mark_answer(case, cut(sample.answer)),
        references=[cut(text) for text in sample.references or ()],
        unanswerable=sample.answerable is False,
        cause=outcome.cause.name if outcome.cause else "",
        part=(outcome.cause.part or "") if outcome.cause else "",
        undecided=outcome.undecided,
        quality=quality,
        findings=finding_rows(outcome),
        claims=claim_groups(case),
        facts=list(_facts(case)),
        chunks=None if contexts is None else [_chunk(case, outcome, rank) for rank in _ranks(contexts)],
        chunks_left_out=max(0, len(contexts or ()) - MOST_CHUNKS),
        cells=cells,
    )


def cut(text: str) -> str:
    """The beginning of a long text, with a word about the rest."""
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]} … ({len(text):,} characters in all)"


def _ranks(contexts: Sequence[object]) -> range:
    return range(1, min(len(contexts), MOST_CHUNKS) + 1)


def _facts(case: Case) -> Iterator[dict[str, Any]]:
    if not case.sample.facts or not case.has("fact_matches"):
        return
    for number, fact in enumerate(case.sample.facts):
        ranks = fact_ranks(case, number)
        words = counted("chunk", ranks) if ranks else "no chunk"
        yield {"number": number + 1, "text": cut(fact.text), "mark": Mark("good" if ranks else "bad", words)}


def _chunk(case: Case, outcome: Outcome, rank: int) -> dict[str, Any]:
    chunk = (case.sample.contexts or [])[rank - 1]
    matches = [match for match in case.evidence.get("fact_matches") or () if match.chunk == rank - 1]
    pieces = mark_facts(chunk.text, matches, MOST_CHARACTERS)
    if len(chunk.text) > MOST_CHARACTERS:
        pieces.append(Piece(f" … ({len(chunk.text):,} characters in all)"))
    return {
        "rank": rank,
        "id": chunk.id or "",
        "source": chunk.source or "",
        "score": chunk.score,
        "pieces": pieces,
        "marks": list(chunk_marks(case, outcome, rank)),
    }
