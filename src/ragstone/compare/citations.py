"""The citations of each claim of an answer in words, right or wrong: for `explain` and the viewer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ragstone.compare.sample_evidence import Case
from ragstone.data.types import CitedPart

_YES, _UNSURE = "entailment", "unsure"
_NEEDED = ("answer_citations", "claim_citations", "answer_claims_in_contexts", "answer_claims_in_all_contexts")


@dataclass(frozen=True)
class CitedClaim:
    """The citations of a claim: the ranks of the cited chunks, and whether they are right."""

    tone: Literal["good", "bad", "unsure", "silent"]
    # `cites chunk 2, but chunk 1 supports it`
    words: str
    ranks: tuple[int, ...]


def cited_claims(case: Case) -> list[CitedClaim]:
    """One entry per claim of the answer; none if citations were not read."""
    if not case.has(*_NEEDED):
        return []
    citations: Sequence[CitedPart] = case.evidence["answer_citations"]
    together = case.verdicts("answer_claims_in_all_contexts")
    rows = zip(case.matrix("answer_claims_in_contexts"), case.evidence["claim_citations"], together, strict=True)
    return [_describe(row, [citations[one] for one in cited], joint) for row, cited, joint in rows]


def _describe(row: Sequence[str], cited: Sequence[CitedPart], together: str) -> CitedClaim:
    if not cited:
        return CitedClaim("silent", "cites nothing", ())
    ranks = tuple(dict.fromkeys(chunk + 1 for one in cited for chunk in one.chunks))
    cites = f"cites {' and '.join(filter(None, [_chunks(ranks), _unknown(cited)]))}"
    right = [rank for rank in ranks if row[rank - 1] == _YES]
    if right:
        needless = [rank for rank in ranks if rank not in right and not _shares_citation(rank, right, cited)]
        return CitedClaim("good", f"{cites}{f', {_chunks(needless)} needlessly' if needless else ''}", ranks)
    if len(ranks) > 1 and together == _YES and _YES not in row:
        return CitedClaim("good", f"{cites}, which support it together", ranks)
    if others := [rank for rank, word in enumerate(row, 1) if word == _YES]:
        verb = "supports" if len(others) == 1 else "support"
        return CitedClaim("bad", f"{cites}, but {_chunks(others)} {verb} it", ranks)
    if any(row[rank - 1] == _UNSURE for rank in ranks):
        return CitedClaim("unsure", f"{cites}, which may support it", ranks)
    return CitedClaim("bad", f"{cites}; no chunk supports it", ranks)


def _shares_citation(rank: int, right: Sequence[int], cited: Sequence[CitedPart]) -> bool:
    """Whether a right chunk belongs to the same citation: several chunks may have the cited source."""
    return any(rank - 1 in one.chunks and any(other - 1 in one.chunks for other in right) for one in cited)


def citation_texts(case: Case) -> list[str]:
    """Each citation in words: the mark in the answer, and its chunks."""
    return [
        f"{one.name} ({_chunks([chunk + 1 for chunk in one.chunks]) or 'not retrieved'})"
        for one in case.evidence.get("answer_citations") or ()
    ]


def _unknown(cited: Sequence[CitedPart]) -> str:
    """The marks of citations that name nothing that was retrieved."""
    marks = list(dict.fromkeys(one.name[:40] for one in cited if not one.chunks))
    return f"{', '.join(marks)}, which was not retrieved" if marks else ""


def _chunks(ranks: Sequence[int]) -> str:
    if len(ranks) < 2:
        return f"chunk {ranks[0]}" if ranks else ""
    return f"chunks {', '.join(map(str, ranks[:-1]))} and {ranks[-1]}"
