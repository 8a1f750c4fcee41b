"""Nuggets, checklists, claims in a corpus, and the judge's reasons for one sample, item by item."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ragstone.compare.sample_evidence import Case
from ragstone.data.types import ScoredVerdict

_LABELS = {
    "support": ("✓", "in the answer", "good"),
    "partial_support": ("◐", "partly in the answer", "unsure"),
    "not_support": ("·", "not in the answer", "bad"),
    "yes": ("✓", "yes", "good"),
    "no": ("✗", "no", "bad"),
    "not_applicable": ("–", "not applicable", "silent"),
    "entailment": ("✓", "supported", "good"),
    "contradiction": ("✗", "contradicted", "bad"),
    "unsure": ("?", "unsure", "unsure"),
    "neutral": ("·", "not mentioned", "silent"),
}
_CHECKS, _GRADE = "_checks", "_grade"
# Verdicts on claims that may have reasons: whose claims, and by what they are checked.
_REASONED = {
    "answer_claims_in_reference": ("answer", "the reference"),
    "reference_claims_in_answer": ("reference", "the answer"),
    "answer_claims_in_all_contexts": ("answer", "the chunks"),
    "reference_claims_in_all_contexts": ("reference", "the chunks"),
}


def judged_groups(case: Case) -> list[dict[str, Any]]:
    """Groups of judged items, each with a title and rows: number, text, note, sign, words, tone, reason."""
    groups = [_nuggets(case), *_checklists(case), _corpus(case), *_claim_reasons(case), _grades(case)]
    return [group for group in groups if group["rows"]]


def _nuggets(case: Case) -> dict[str, Any]:
    labels, facts = case.verdicts("nugget_support"), case.sample.facts or []
    rows = [
        _row(number, fact.text, label, fact.importance or "vital")
        for number, (fact, label) in enumerate(zip(facts, labels, strict=False), start=1)
    ]
    return {"key": "nuggets", "title": "Nuggets in the answer", "rows": rows}


def _checklists(case: Case) -> Iterator[dict[str, Any]]:
    for name, checks in case.evidence.items():
        if name.endswith(_CHECKS) and isinstance(checks, list):
            listed = name.removesuffix(_CHECKS)
            rows = [
                _row(number, check["item"], check["verdict"], reason=check.get("reason"))
                for number, check in enumerate(checks, start=1)
            ]
            title = "Checklist" if listed == "own" else f"Checklist {listed}"
            yield {"key": f"checklist-{listed}", "title": title, "rows": rows}


def _claim_reasons(case: Case) -> Iterator[dict[str, Any]]:
    for name, (whose, by) in _REASONED.items():
        pairs = zip(case.claims(whose), case.verdicts(name), strict=False)
        rows = [
            _row(number, claim.text, verdict, reason=verdict.reason)
            for number, (claim, verdict) in enumerate(pairs, start=1)
            if isinstance(verdict, ScoredVerdict) and verdict.reason
        ]
        title = f"Reasons: claims of the {whose} by {by}"
        yield {"key": f"reasons-{name}", "title": title, "rows": rows}


def _corpus(case: Case) -> dict[str, Any]:
    """The claims of the answer with the corpus passage that is nearest to each."""
    verdicts, passages = case.verdicts("answer_claims_in_corpus"), case.evidence.get("corpus_passages") or []
    rows = []
    for number, (claim, verdict) in enumerate(zip(case.claims("answer"), verdicts, strict=False), start=1):
        found = passages[number - 1] if number <= len(passages) else []
        text = f"nearest passage: {found[0]['text']}" if found else ""
        rows.append(_row(number, claim.text, verdict, reason=text))
    return {"key": "corpus", "title": "Claims of the answer in the corpus", "rows": rows}


def _grades(case: Case) -> dict[str, Any]:
    """Grades with the reasons that the judge wrote before them."""
    grades = [(name, value) for name, value in case.evidence.items() if _GRADE in name and isinstance(value, Mapping)]
    rows: list[dict[str, Any]] = []
    for name, grade in grades:
        if reasoning := grade.get("reasoning"):
            words = f"{grade['value']:g} on {grade['lowest']:g} to {grade['highest']:g}"
            text = name.replace(_GRADE, "").replace("_", " ")
            rows.append(
                {
                    "number": len(rows) + 1,
                    "text": text,
                    "note": "",
                    "sign": "",
                    "words": words,
                    "tone": "silent",
                    "reason": reasoning,
                }
            )
    return {"key": "grades", "title": "Reasons of grades", "rows": rows}


def _row(number: int, text: str, verdict: str, note: str = "", reason: str | None = None) -> dict[str, Any]:
    sign, words, tone = _LABELS.get(str(verdict), ("", str(verdict), "silent"))
    likely = verdict.supported if isinstance(verdict, ScoredVerdict) else None
    return {
        "number": number,
        "text": text,
        "note": note,
        "sign": sign,
        "words": words if likely is None else f"{words} {likely:.2f}",
        "tone": tone,
        "reason": reason or "",
    }
