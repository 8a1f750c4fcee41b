"""The evidence about a sample as page data: claims with the chunks that say so, facts with their places, chunks by rank."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.compare.cases import Case
from ragstone.compare.findings import SPLIT, Outcome
from ragstone.report.html.highlights import Piece, mark_claims, mark_facts
from ragstone.report.html.samples import NO, YES, tone_of

_SAID = {"good": "says so", "bad": "says otherwise", "silent": "is silent"}
_LONG = 20_000
_MOST = 2_000_000
# Finding sentences in a text of so many characters takes a moment; longer ones are shown without marks.
_MOST_MARKED = 200_000


@dataclass
class Limits:
    """How much of a long text is shown; `?full=1` shows all, and notes are kept of what was left out."""

    most: int = _LONG
    cut: bool = False

    @classmethod
    def read(cls, query: Mapping[str, str]) -> Limits:
        """From an address."""
        return cls(_MOST if query.get("full") else _LONG)

    def shorten(self, text: str) -> str:
        """The beginning of a long text, with a word about the rest."""
        if len(text) <= self.most:
            return text
        self.cut = True
        return f"{text[: self.most]} … ({len(text):,} characters in all)"


def answer_pieces(case: Case, limits: Limits) -> list[dict[str, Any]]:
    """The answer with its claims marked by verdict: that of the reference, or else that of the chunks."""
    text = limits.shorten(case.sample.answer or "")
    claims = [claim.text for claim in case.claims("answer")]
    verdicts = case.verdicts("answer_claims_in_reference")
    rows = case.matrix("answer_claims_in_contexts")
    if not verdicts:
        verdicts = [YES if YES in row else NO if NO in row else "" for row in rows]
    if not claims or len(verdicts) != len(claims) or len(text) > _MOST_MARKED:
        return [_piece(Piece(text), rows)]
    return [_piece(piece, rows) for piece in mark_claims(text, claims, [tone_of(verdict) for verdict in verdicts])]


def _piece(piece: Piece, rows: Sequence[Sequence[str]]) -> dict[str, Any]:
    mine = [rows[place - 1] for place in piece.numbers if place <= len(rows)]
    return {
        "text": piece.text,
        "tone": piece.tone,
        "numbers": list(piece.numbers),
        "says": sorted({rank for row in mine for rank in _ranks(row, YES)}),
        "denies": sorted({rank for row in mine for rank in _ranks(row, NO)}),
    }


def claim_groups(case: Case) -> list[dict[str, Any]]:
    """The claims of the answer and of the reference, each with what the other and the chunks say to it."""
    return [
        group
        for whose, other in (("answer", "reference"), ("reference", "answer"))
        for group in _group(case, whose, other)
    ]


def _group(case: Case, whose: str, other: str) -> Iterator[dict[str, Any]]:
    claims = case.claims(whose)
    if not claims:
        return
    verdicts, rows = case.verdicts(f"{whose}_claims_in_{other}"), case.matrix(f"{whose}_claims_in_contexts")
    together = case.verdicts(f"{whose}_claims_in_all_contexts")
    listed = []
    for place, claim in enumerate(claims):
        tone = tone_of(verdicts[place]) if place < len(verdicts) else ""
        row = rows[place] if place < len(rows) else []
        listed.append(
            {
                "number": place + 1,
                "text": claim.text,
                "said": {"tone": tone, "words": f"{other} {_SAID[tone]}"} if tone else None,
                "known": place < len(rows),
                "says": _ranks(row, YES),
                "denies": _ranks(row, NO),
                "together": place < len(together) and together[place] == YES,
            }
        )
    yield {"whose": whose, "other": other, "rows": listed}


def fact_list(case: Case, limits: Limits) -> list[dict[str, Any]]:
    """The facts with the ranks of the chunks that have them; None where nobody looked."""
    matches = case.evidence.get("fact_matches")
    return [
        {
            "number": place + 1,
            "text": limits.shorten(fact.text),
            "kind": fact.kind,
            "source": fact.source or "",
            "ranks": None
            if matches is None
            else list(dict.fromkeys(match.chunk + 1 for match in matches if match.fact == place)),
        }
        for place, fact in enumerate(case.sample.facts or ())
    ]


def chunk_list(case: Case, outcome: Outcome, limits: Limits) -> list[dict[str, Any]] | None:
    """The chunks in rank order; None where nothing is known about retrieval."""
    if case.sample.contexts is None:
        return None
    return [_chunk(case, outcome, rank, limits) for rank in range(1, len(case.sample.contexts) + 1)]


def _chunk(case: Case, outcome: Outcome, rank: int, limits: Limits) -> dict[str, Any]:
    chunk = (case.sample.contexts or [])[rank - 1]
    matches = [match for match in case.evidence.get("fact_matches") or () if match.chunk == rank - 1]
    pieces = mark_facts(chunk.text, matches, limits.most)
    if len(chunk.text) > limits.most:
        limits.cut = True
        pieces.append(Piece(f" … ({len(chunk.text):,} characters in all)"))
    return {
        "rank": rank,
        "id": chunk.id or "",
        "source": chunk.source or "",
        "score": chunk.score,
        "relevance": _relevance(case, rank),
        "pieces": [{"text": piece.text, "numbers": list(piece.numbers)} for piece in pieces],
        "marks": list(_marks(case, outcome, rank)),
    }


def _relevance(case: Case, rank: int) -> dict[str, str] | None:
    """A badge: by the grades of the data, else by what the chunk was found to hold."""
    sample = case.sample
    chunk = (sample.contexts or [])[rank - 1]
    if sample.relevance:
        grade = sample.relevance.get(chunk.id or "", 0)
        return {
            "tone": "good" if grade > 0 else "silent",
            "words": f"relevant, grade {grade:g}" if grade > 0 else "not relevant",
        }
    needed = case.matrix("reference_claims_in_contexts")
    facts = case.evidence.get("fact_matches")
    if not needed and facts is None:
        return None
    holds = any(len(row) >= rank and row[rank - 1] == YES for row in needed)
    holds = holds or any(match.chunk == rank - 1 for match in facts or ())
    return (
        {"tone": "good", "words": "has what is needed"}
        if holds
        else {"tone": "silent", "words": "nothing that is needed"}
    )


def _marks(case: Case, outcome: Outcome, rank: int) -> Iterator[dict[str, str]]:
    """What a chunk is good for, or does harm to."""
    for whose in ("reference", "answer"):
        rows = case.matrix(f"{whose}_claims_in_contexts")
        for verdict, tone, verb in ((YES, "good", "says"), (NO, "bad", "contradicts")):
            numbers = [place for place, row in enumerate(rows, 1) if len(row) >= rank and row[rank - 1] == verdict]
            if numbers:
                yield {"tone": tone, "words": f"{verb} {counted(f'{whose} claim', numbers)}"}
    matches = case.evidence.get("fact_matches") or ()
    if facts := list(dict.fromkeys(match.fact + 1 for match in matches if match.chunk == rank - 1)):
        yield {"tone": "good", "words": f"has {counted('fact', facts)}"}
    split = [one.number for one in outcome.findings if one.cause is SPLIT and one.kind == "fact" and rank in one.chunks]
    if split:
        yield {"tone": "silent", "words": f"has a part of {counted('fact', split)}"}


def counted(kind: str, numbers: Sequence[int]) -> str:
    """`fact 2`, `facts 1, 3`."""
    return f"{kind}{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


def _ranks(row: Sequence[str], verdict: str) -> list[int]:
    return [rank for rank, word in enumerate(row, 1) if word == verdict]
