"""The review queue: proposed facts, answers and unanswerable questions that a person accepts or rejects, with the text around each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ragstone.report.html.marked_text import excerpt
from ragstone.truth.model import Case
from ragstone.truth.review import ANSWER, citable_passages
from ragstone.views.phrases import one_line
from ragstone.web.library import Library
from ragstone.web.navigation import ListPage, case_address, truth_address, whole_number
from ragstone.web.truth.loaded_version import check_fact
from ragstone.web.truth.versions import describe_truth, load_version

_PAGE_SIZE = 20
_CONTEXT = 280
_MAX_TEXT = 4_000
_MAX_REASONS = 8
_MAX_DOCUMENTS = 8


def queue_page(library: Library, query: Mapping[str, str], name: str) -> dict[str, Any]:
    """One page of the queue, in the order of the cases."""
    loaded = load_version(library, name, query)
    waiting = loaded.proposed()
    page = ListPage.cut(waiting, whole_number(query.get("page")), _PAGE_SIZE)
    version = loaded.info.number if query.get("v") else None
    answers, unanswerable = sum(fact == ANSWER for _, fact in waiting), loaded.count_unanswerable()
    rows = sorted({row for row, _ in page.items})
    cases = dict(zip(rows, loaded.parse(rows), strict=True))
    return {
        "page": "queue",
        "title": f"{name}: to review",
        "truth": describe_truth(library.truth, loaded),
        "total": len(waiting),
        "answers": answers - unanswerable,
        "unanswerable": unanswerable,
        "at": page.number,
        "pages": page.pages,
        "first": page.first,
        "links": page.links(lambda number: truth_address(name, "queue", v=version, page=number)),
        "items": [_item(name, cases[row], fact, version) for row, fact in page.items],
        # The editable fields by case id: an edit contains all facts of its case.
        "cases": {
            case.id: {"standing": case.standing, "facts": [asdict(fact) for fact in case.facts]}
            for case in cases.values()
        },
    }


def _item(name: str, case: Case, position: int, version: int | None) -> dict[str, Any]:
    common = {
        "case": case.id,
        "shown_case": one_line(case.id, 60),
        "fact": position,
        "question": case.question[:_MAX_TEXT],
        "answers": [text[:_MAX_TEXT] for text in case.references],
        "documents": [one_line(name, 80) for name in case.documents[:_MAX_DOCUMENTS]],
        "address": case_address(name, case.id, version),
    }
    if position == ANSWER:
        answer = {
            "kind": "answer" if case.references else "unanswerable",
            "provenance": case.provenance,
            **_harvest_evidence(case),
        }
        return {**common, **answer, "text": "", "source": "", "check": None, "around": None}
    fact = case.facts[position]
    passages = [passage.text for passage in citable_passages(case)]
    check = check_fact(fact.kind, fact.text, passages)
    return {
        **common,
        "kind": fact.kind,
        "text": fact.text[:_MAX_TEXT],
        "provenance": fact.provenance,
        "confidence": fact.confidence,
        "importance": fact.importance,
        "note": fact.note or "",
        "source": fact.source or "",
        "check": check,
        "around": _around(passages, check),
    }


def _harvest_evidence(case: Case) -> dict[str, Any]:
    """Return the probability that a harvested answer is right, and the reasons."""
    probability, why = case.metadata.get("probability"), case.metadata.get("why")
    known = isinstance(probability, int | float) and 0 <= probability <= 1
    reasons = [one_line(str(reason), 80) for reason in why[:_MAX_REASONS]] if isinstance(why, list) else []
    return {"confidence": probability if known else None, "note": "; ".join(reasons)}


def _around(passages: Sequence[str], check: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a citation with the text around it."""
    if check["passage"] is None or check["verdict"] not in ("stands", "repaired"):
        return None
    text, start, end = passages[check["passage"]], check["start"], check["end"]
    return {"passage": check["passage"] + 1, **excerpt(text, start, end, _CONTEXT)}


VIEWS = {"/truth/{name}/queue": queue_page}
