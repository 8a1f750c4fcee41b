"""Whether an answer declines, by what is stored."""

from __future__ import annotations

from ragstone.compare.cases import Case
from ragstone.text.refusals import find_refusal


def declines(case: Case) -> bool:
    """The answer's phrases decline or, where a judge finds that it evades, it makes no claim that is right or founded."""
    words = case.evidence.get("declining_words")
    if words is None and case.sample.answer:
        words = find_refusal(case.sample.answer)
    if words:
        return True
    return bool(case.evidence.get("noncommittal")) and not _has_substance(case)


def _has_substance(case: Case) -> bool:
    right = case.verdicts("answer_claims_in_reference")
    founded = case.matrix("answer_claims_in_contexts")
    return "entailment" in right or any("entailment" in row for row in founded)
