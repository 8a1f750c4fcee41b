"""One sample as page data: what was asked and answered, its claims with verdicts, its facts, its chunks in rank order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.compare.cases import Case
from ragstone.compare.findings import SPLIT, Outcome
from ragstone.report.html.highlights import Piece, mark_claims, mark_facts

YES, NO = "entailment", "contradiction"
TONES = {YES: "good", NO: "bad"}
SIGNS = {"good": "✓", "bad": "✗", "silent": "·"}
_SAID = {"good": "says so", "bad": "says otherwise", "silent": "is silent"}
# A report is to be read; the whole of a long text is in the run.
MOST_CHARACTERS = 4_000
MOST_CHUNKS = 20


@dataclass(frozen=True)
class Mark:
    """A verdict as colour, sign and words."""

    tone: str
    words: str

    @property
    def sign(self) -> str:
        """For those who do not see colours."""
        return SIGNS[self.tone]


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
        answer=None if sample.answer is None else _marked_answer(case),
        references=[cut(text) for text in sample.references or ()],
        unanswerable=sample.answerable is False,
        cause=outcome.cause.name if outcome.cause else "",
        part=(outcome.cause.part or "") if outcome.cause else "",
        undecided=outcome.undecided,
        quality=quality,
        findings=[
            {
                "cause": finding.cause.name,
                "fails": finding.cause.fails,
                "about": finding.kind if finding.kind == "answer" else f"{finding.kind} {finding.number}",
                "why": finding.why,
            }
            for finding in outcome.findings
        ],
        claims=[*_claims(case, "answer", "reference"), *_claims(case, "reference", "answer")],
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


def tone_of(verdict: str) -> str:
    """Good, bad or silent."""
    return TONES.get(verdict, "silent")


def _marked_answer(case: Case) -> list[Piece]:
    """By the reference where there is one, else by the chunks; without verdicts there is nothing to mark."""
    claims = [claim.text for claim in case.claims("answer")]
    verdicts = case.verdicts("answer_claims_in_reference")
    if not verdicts:
        verdicts = [YES if YES in row else NO if NO in row else "" for row in case.matrix("answer_claims_in_contexts")]
    text = cut(case.sample.answer or "")
    if len(verdicts) != len(claims):
        return [Piece(text)]
    return mark_claims(text, claims, [tone_of(verdict) for verdict in verdicts])


def _claims(case: Case, whose: str, other: str) -> Iterator[dict[str, Any]]:
    claims = case.claims(whose)
    if not claims:
        return
    verdicts, rows = case.verdicts(f"{whose}_claims_in_{other}"), case.matrix(f"{whose}_claims_in_contexts")
    together = case.verdicts(f"{whose}_claims_in_all_contexts")
    listed = []
    for place, claim in enumerate(claims):
        tone = tone_of(verdicts[place]) if place < len(verdicts) else ""
        chunks = list(_chunk_marks(rows[place])) if place < len(rows) else []
        if place < len(together) and together[place] == YES and not any(mark.tone == "good" for mark in chunks):
            chunks.append(Mark("good", "all together"))
        listed.append(
            {
                "number": place + 1,
                "text": claim.text,
                "said": Mark(tone, f"{other} {_SAID[tone]}") if tone else None,
                "chunks": chunks or ([Mark("silent", "no chunk")] if place < len(rows) else []),
            }
        )
    yield {"whose": whose, "other": other, "rows": listed}


def _chunk_marks(row: Sequence[str]) -> Iterator[Mark]:
    """The chunks that say so, and those that say otherwise."""
    for verdict, tone in TONES.items():
        ranks = [str(rank) for rank, word in enumerate(row, 1) if word == verdict]
        if ranks:
            yield Mark(tone, f"chunk{'s' if len(ranks) > 1 else ''} {', '.join(ranks)}")


def _facts(case: Case) -> Iterator[dict[str, Any]]:
    if not case.sample.facts or not case.has("fact_matches"):
        return
    for number, fact in enumerate(case.sample.facts):
        ranks = dict.fromkeys(match.chunk + 1 for match in case.evidence["fact_matches"] if match.fact == number)
        words = f"chunk{'s' if len(ranks) > 1 else ''} {', '.join(map(str, ranks))}" if ranks else "no chunk"
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
        "marks": list(_marks(case, outcome, rank)),
    }


def _marks(case: Case, outcome: Outcome, rank: int) -> Iterator[Mark]:
    """What a chunk is good for, or does harm to."""
    for whose in ("reference", "answer"):
        rows = case.matrix(f"{whose}_claims_in_contexts")
        for verdict, tone in TONES.items():
            numbers = [number for number, row in enumerate(rows, 1) if len(row) >= rank and row[rank - 1] == verdict]
            if numbers:
                verb = "says" if tone == "good" else "contradicts"
                yield Mark(tone, f"{verb} {_counted(f'{whose} claim', numbers)}")
    matches = case.evidence.get("fact_matches") or ()
    if facts := list(dict.fromkeys(match.fact + 1 for match in matches if match.chunk == rank - 1)):
        yield Mark("good", f"has {_counted('fact', facts)}")
    split = [one.number for one in outcome.findings if one.cause is SPLIT and one.kind == "fact" and rank in one.chunks]
    if split:
        yield Mark("silent", f"has a part of {_counted('fact', split)}")


def _counted(kind: str, numbers: Sequence[int]) -> str:
    return f"{kind}{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"
