"""The queue: what was proposed and waits for a person to accept or reject it, each with what it can be judged by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ragstone.report.plain import one_line
from ragstone.truth.cases import Case
from ragstone.web.library import Library
from ragstone.web.truth.addresses import case_address, truth_address
from ragstone.web.truth.checking import check_fact, passages_of
from ragstone.web.truth.shelf import Held
from ragstone.web.truth.table import about_truth, read_version, whole

SIZE = 20
_AROUND = 280
_LONG = 4_000
_MOST_SIGNS = 8
# What a decision about an answer is called among decisions about facts.
ANSWER = -1


def queue_page(library: Library, name: str, query: Mapping[str, str]) -> dict[str, Any]:
    """One page of the queue, in the order of the cases."""
    held = library.truth.held(name, read_version(query["v"]) if query.get("v") else None)
    waiting = [(row, fact) for row, case in enumerate(held.cases) for fact in _proposed(case)]
    pages = max(1, -(-len(waiting) // SIZE))
    page = min(pages, max(1, whole(query.get("page")) or 1))
    shown = waiting[(page - 1) * SIZE : page * SIZE]
    version = held.info.number if query.get("v") else None
    return {
        "page": "queue",
        "title": f"{name}: to review",
        "truth": about_truth(library.truth, held),
        "total": len(waiting),
        "answers": sum(fact == ANSWER for _, fact in waiting),
        "at": page,
        "pages": pages,
        "first": (page - 1) * SIZE + 1 if waiting else 0,
        "links": {
            word: truth_address(name, "queue", v=version, page=number)
            for word, number in (("previous", page - 1), ("next", page + 1))
            if 1 <= number <= pages
        },
        "items": [_item(held, row, fact, version) for row, fact in shown],
        # What the decisions are made in, by id: an edit holds all facts of its case.
        "cases": {held.cases[row].id: _editable(held.cases[row]) for row, _ in shown},
    }


def _proposed(case: Case) -> list[int]:
    answer = [ANSWER] if case.standing == "proposed" and case.references else []
    return answer + [place for place, fact in enumerate(case.facts) if fact.standing == "proposed"]


def _editable(case: Case) -> dict[str, Any]:
    return {"standing": case.standing, "facts": [asdict(fact) for fact in case.facts]}


def _item(held: Held, row: int, place: int, version: int | None) -> dict[str, Any]:
    case = held.cases[row]
    common = {
        "case": case.id,
        "shown_case": one_line(case.id, 60),
        "fact": place,
        "question": case.question[:_LONG],
        "answers": [text[:_LONG] for text in case.references],
        "address": case_address(held.info.name, case.id, version),
    }
    if place == ANSWER:
        return {
            **common,
            "kind": "answer",
            "text": "",
            "provenance": case.provenance,
            **_signs(case),
            "source": "",
            "check": None,
            "around": None,
        }
    fact = case.facts[place]
    passages = [passage.text for passage in passages_of(case)]
    check = check_fact(fact.kind, fact.text, passages)
    return {
        **common,
        "kind": fact.kind,
        "text": fact.text[:_LONG],
        "provenance": fact.provenance,
        "confidence": fact.confidence,
        "note": fact.note or "",
        "source": fact.source or "",
        "check": check,
        "around": _around(passages, check),
    }


def _signs(case: Case) -> dict[str, Any]:
    """What a harvest knows of an answer: how likely it is good, and by which signs."""
    probability, why = case.metadata.get("probability"), case.metadata.get("why")
    known = isinstance(probability, int | float) and 0 <= probability <= 1
    words = [one_line(str(word), 80) for word in why[:_MOST_SIGNS]] if isinstance(why, list) else []
    return {"confidence": probability if known else None, "note": "; ".join(words)}


def _around(passages: Sequence[str], check: Mapping[str, Any]) -> dict[str, Any] | None:
    """The place of a citation with the words around it."""
    if check["passage"] is None or check["verdict"] not in ("stands", "repaired"):
        return None
    text, start, end = passages[check["passage"]], check["start"], check["end"]
    return {
        "passage": check["passage"] + 1,
        "before": ("… " if start > _AROUND else "") + text[max(0, start - _AROUND) : start],
        "here": text[start:end][:_LONG],
        "after": text[end : end + _AROUND] + (" …" if len(text) > end + _AROUND else ""),
    }
