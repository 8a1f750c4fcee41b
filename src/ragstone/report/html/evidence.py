"""The evidence about a sample as page data, for reports and for the viewer: what the claims, facts and chunks have to do with each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.compare.cases import Case
from ragstone.compare.findings import SPLIT, Outcome
from ragstone.report.html.highlights import Piece, mark_claims

_YES, _NO = "entailment", "contradiction"
_TONES = {_YES: "good", _NO: "bad"}
_SIGNS = {"good": "✓", "bad": "✗", "silent": "·"}
_SAID = {"good": "says so", "bad": "says otherwise", "silent": "is silent"}


@dataclass(frozen=True)
class Mark:
    """A verdict as colour, sign and words."""

    tone: str
    words: str

    @property
    def sign(self) -> str:
        """For those who do not see colours."""
        return _SIGNS[self.tone]


def mark_answer(case: Case, text: str) -> list[Piece]:
    """The answer, or its beginning, with its claims marked: by the reference where there is one, else by the chunks."""
    claims = [claim.text for claim in case.claims("answer")]
    verdicts = case.verdicts("answer_claims_in_reference")
    if not verdicts:
        rows = case.matrix("answer_claims_in_contexts")
        verdicts = [_YES if _YES in row else _NO if _NO in row else "" for row in rows]
    if len(verdicts) != len(claims):
        return [Piece(text)]
    return mark_claims(text, claims, [_tone(verdict) for verdict in verdicts])


def chunks_behind(case: Case, numbers: Sequence[int]) -> dict[str, list[int]]:
    """The ranks of the chunks that say some claims of the answer, and of those that deny them; claims by number."""
    rows = case.matrix("answer_claims_in_contexts")
    mine = [rows[number - 1] for number in numbers if number <= len(rows)]
    return {
        name: sorted({rank for row in mine for rank in _ranks(row, verdict)})
        for name, verdict in (("says", _YES), ("denies", _NO))
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
        tone = _tone(verdicts[place]) if place < len(verdicts) else ""
        row = rows[place] if place < len(rows) else []
        listed.append(
            {
                "number": place + 1,
                "text": claim.text,
                "said": Mark(tone, f"{other} {_SAID[tone]}") if tone else None,
                # Whether anybody looked into the chunks.
                "known": place < len(rows),
                "says": _ranks(row, _YES),
                "denies": _ranks(row, _NO),
                "together": place < len(together) and together[place] == _YES,
            }
        )
    yield {"whose": whose, "other": other, "rows": listed}


def fact_ranks(case: Case, place: int) -> list[int] | None:
    """The ranks of the chunks that have a fact; None where nobody looked."""
    matches = case.evidence.get("fact_matches")
    if matches is None:
        return None
    return list(dict.fromkeys(match.chunk + 1 for match in matches if match.fact == place))


def holds_what_is_needed(case: Case, rank: int) -> bool | None:
    """Whether a chunk says something of the reference or has a fact; None where nobody looked."""
    needed, facts = case.matrix("reference_claims_in_contexts"), case.evidence.get("fact_matches")
    if not needed and facts is None:
        return None
    said = any(len(row) >= rank and row[rank - 1] == _YES for row in needed)
    return said or any(match.chunk == rank - 1 for match in facts or ())


def chunk_marks(case: Case, outcome: Outcome, rank: int) -> Iterator[Mark]:
    """What a chunk is good for, or does harm to."""
    for whose in ("reference", "answer"):
        rows = case.matrix(f"{whose}_claims_in_contexts")
        for verdict, verb in ((_YES, "says"), (_NO, "contradicts")):
            numbers = [number for number, row in enumerate(rows, 1) if len(row) >= rank and row[rank - 1] == verdict]
            if numbers:
                yield Mark(_TONES[verdict], f"{verb} {counted(f'{whose} claim', numbers)}")
    matches = case.evidence.get("fact_matches") or ()
    if facts := list(dict.fromkeys(match.fact + 1 for match in matches if match.chunk == rank - 1)):
        yield Mark("good", f"has {counted('fact', facts)}")
    split = [one.number for one in outcome.findings if one.cause is SPLIT and one.kind == "fact" and rank in one.chunks]
    if split:
        yield Mark("silent", f"has a part of {counted('fact', split)}")


def finding_rows(outcome: Outcome) -> list[dict[str, Any]]:
    """What was found about a sample, each with what it is about and why."""
    return [
        {
            "cause": finding.cause.name,
            "fails": finding.cause.fails,
            "about": finding.kind if finding.kind == "answer" else f"{finding.kind} {finding.number}",
            "chunks": list(finding.chunks),
            "why": finding.why,
        }
        for finding in outcome.findings
    ]


def counted(kind: str, numbers: Sequence[int]) -> str:
    """`fact 2`, `facts 1, 3`."""
    return f"{kind}{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


def _tone(verdict: str) -> str:
    return _TONES.get(verdict, "silent")


def _ranks(row: Sequence[str], verdict: str) -> list[int]:
    return [rank for rank, word in enumerate(row, 1) if word == verdict]
