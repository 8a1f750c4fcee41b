"""One case in the editor: what can be changed, the texts that citations are taken from, and whether they stand there."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from ragstone.data.types import Chunk
from ragstone.errors import UsageError
from ragstone.report.plain import one_line
from ragstone.truth.cases import Case
from ragstone.web.evidence import Limits
from ragstone.web.library import Library
from ragstone.web.truth.addresses import case_address, truth_address
from ragstone.web.truth.beside import chunks_of, runs_beside
from ragstone.web.truth.checking import CITATION, check_fact, excuse_absence, passages_of
from ragstone.web.truth.shelf import Held
from ragstone.web.truth.table import CaseFilter, about_truth, fitting_rows, read_version

KINDS = (CITATION, "statement")
_MOST_CHECKED = 500
NO_RUN = "none"


def case_page(library: Library, name: str, query: Mapping[str, str]) -> dict[str, Any]:
    """A case of the newest version, or of the one that a draft began from."""
    held = _held(library, name, query)
    case = held.case(query.get("id", ""))
    return {**_page(library, held, case, query), "walk": _walk(library, held, case, query), "new": False}


def new_case_page(library: Library, name: str, query: Mapping[str, str]) -> dict[str, Any]:
    """A case that is only in the draft of a browser, or is about to be."""
    held = _held(library, name, query)
    wanted = query.get("id", "").strip()[:200] or _free_id(held)
    if wanted in held.rows:
        return {"go": case_address(name, wanted)}
    return {**_page(library, held, Case(wanted, question=""), query), "walk": None, "new": True}


def check_page(library: Library, name: str, form: Mapping[str, str]) -> dict[str, Any]:
    """Whether some citations stand in the texts beside a case; asked by the editor as one types."""
    held = _held(library, name, form)
    wanted = form.get("id", "")
    case = held.case(wanted) if wanted in held.rows else Case(wanted, question="")
    try:
        texts = json.loads(form.get("texts", "[]"))
    except ValueError:
        texts = None
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise UsageError("`texts` is no JSON list of texts")
    found = _texts(library, case, form, _runs(library, name, case, form))
    return {"page": "check", "checks": _checks([(CITATION, text) for text in texts], found)}


def _held(library: Library, name: str, query: Mapping[str, str]) -> Held:
    return library.truth.held(name, read_version(query["v"]) if query.get("v") else None)


def _page(library: Library, held: Held, case: Case, query: Mapping[str, str]) -> dict[str, Any]:
    runs = _runs(library, held.info.name, case, query)
    texts = _texts(library, case, query, runs)
    limits = Limits.read(query)
    name = held.info.name
    return {
        "page": "case",
        "title": f"{one_line(case.id, 60)} in {name}",
        "truth": about_truth(library.truth, held),
        "case": {
            "id": case.id,
            "question": case.question,
            "references": list(case.references),
            "standing": case.standing,
            "facts": [asdict(fact) for fact in case.facts],
            "answerable": case.answerable,
            "provenance": case.provenance,
            "weight": case.weight,
            "documents": list(case.documents),
            "metadata": {str(key): one_line(str(value), 120) for key, value in case.metadata.items()},
        },
        "checks": _checks([(fact.kind, fact.text) for fact in case.facts], texts),
        "texts": [{**text, "text": limits.shorten(text["text"])} for text in texts],
        "cut": limits.cut,
        "runs": runs,
        "run": _chosen(query, runs),
        "kinds": list(KINDS),
        "addresses": {
            "here": case_address(name, case.id, held.info.number),
            "check": truth_address(name, "check.json"),
            "at": truth_address(name, "new" if case.id not in held.rows else "case", id=case.id),
        },
    }


def _texts(
    library: Library, case: Case, query: Mapping[str, str], runs: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """What citations can be taken from: the passages of the case, then what a run retrieved."""
    found = [_text("passage", place, chunk) for place, chunk in enumerate(passages_of(case), 1)]
    chosen = _chosen(query, runs)
    if chosen:
        chunks = chunks_of(library, chosen["id"], chosen["row"] - 1)
        found += [_text("chunk", rank, chunk) for rank, chunk in enumerate(chunks, 1)]
    return found


def _checks(facts: Sequence[tuple[str, str]], texts: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    passages, names = [text["text"] for text in texts], [f"{text['kind']} {text['number']}" for text in texts]
    found = [check_fact(kind, text, passages, names) for kind, text in facts[:_MOST_CHECKED]]
    has_own = any(text["kind"] == "passage" for text in texts)
    return found if has_own else [excuse_absence(check) for check in found]


def _runs(library: Library, name: str, case: Case, query: Mapping[str, str]) -> list[dict[str, Any]]:
    wanted = query.get("run", "")
    return runs_beside(library, name, case.id, "" if wanted == NO_RUN else wanted)


def _chosen(query: Mapping[str, str], runs: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The run that was asked for, else the newest; none where that was asked for."""
    wanted = query.get("run", "")
    if wanted == NO_RUN:
        return None
    return next((run for run in runs if run["id"] == wanted), runs[0] if runs else None)


def _text(kind: str, place: int, chunk: Chunk) -> dict[str, Any]:
    return {"kind": kind, "number": place, "id": chunk.id or "", "source": chunk.source or "", "text": chunk.text}


def _walk(library: Library, held: Held, case: Case, query: Mapping[str, str]) -> dict[str, Any]:
    """The neighbours in the list that the case was opened from."""
    chosen = replace(CaseFilter.read(query), page=1)
    rows = fitting_rows(library.truth, held, chosen)
    here = held.rows[case.id]
    at = rows.index(here) if here in rows else None
    version = held.info.number if query.get("v") else None

    def address(place: int | None) -> str:
        if place is None or not 0 <= place < len(rows):
            return ""
        return case_address(held.info.name, held.at(rows[place]).id, version, **chosen.query)

    return {
        "place": None if at is None else at + 1,
        "of": len(rows),
        "previous": address(None if at is None else at - 1),
        "next": address(None if at is None else at + 1),
        "back": f"{truth_address(held.info.name)}{chosen.address}",
        "query": "",
    }


def _free_id(held: Held) -> str:
    number = len(held) + 1
    while f"case-{number}" in held.rows:
        number += 1
    return f"case-{number}"
