"""The editor page of one case: its fields, the texts that can be cited, and the checks of its citations."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ragstone.analysis.sample_evidence import read_cases_at
from ragstone.data.types import Chunk
from ragstone.errors import UsageError
from ragstone.truth.model import Case
from ragstone.truth.review import CITATION, citable_passages
from ragstone.views.marks import Limits
from ragstone.views.phrases import one_line
from ragstone.web.library import Library
from ragstone.web.navigation import NotFoundError, case_address, neighbours, truth_address
from ragstone.web.truth.loaded_version import NOT_CHECKED, LoadedVersion, check_fact
from ragstone.web.truth.rescore import newest_runs
from ragstone.web.truth.store import QuestionIndex
from ragstone.web.truth.versions import CaseFilter, describe_truth, load_version, matching_rows

_KINDS = (CITATION, "statement")
_MAX_CHECKED = 500
_NO_RUN = "none"


def case_page(library: Library, query: Mapping[str, str], name: str) -> dict[str, Any]:
    """A case of the newest version, or of the version on which a draft is based."""
    loaded = load_version(library, name, query)
    case = loaded.case(query.get("id", ""))
    return {**_page(library, loaded, case, query), "walk": _walk(library, loaded, case, query), "new": False}


def new_case_page(library: Library, query: Mapping[str, str], name: str) -> dict[str, Any]:
    """A new case that exists only in the draft of the browser."""
    loaded = load_version(library, name, query)
    wanted = query.get("id", "").strip()[:200] or _free_id(loaded)
    if wanted in loaded.rows:
        return {"go": case_address(name, wanted)}
    return {**_page(library, loaded, Case(wanted, question=""), query), "walk": None, "new": True}


def check_citations(library: Library, form: Mapping[str, str], name: str) -> dict[str, Any]:
    """Check citations against the texts of a case, as they are in the draft. The editor calls it while the user types."""
    loaded = load_version(library, name, form)
    wanted = form.get("id", "")
    case = loaded.case(wanted) if wanted in loaded.rows else Case(wanted, question="")
    texts = _read_list(form, "texts", lambda item: isinstance(item, str))
    passages = _read_list(form, "passages", _is_passage_edit)
    sources = _texts(library, case, form, _runs(library, name, case, form))
    for edit in passages:
        if edit["at"] < len(citable_passages(case)):
            sources[edit["at"]]["text"] = edit["text"]
    return {"page": "check", "checks": _checks([(CITATION, text) for text in texts], sources)}


def _read_list(form: Mapping[str, str], name: str, is_valid: Callable[[Any], bool]) -> list[Any]:
    try:
        items = json.loads(form.get(name, "[]"))
    except (ValueError, RecursionError):
        items = None
    if not isinstance(items, list) or not all(map(is_valid, items)):
        raise UsageError(f"`{name}` is not a valid JSON list")
    return items


def _is_passage_edit(item: Any) -> bool:
    return (
        isinstance(item, dict)
        and isinstance(item.get("text"), str)
        and isinstance(item.get("at"), int)
        and item["at"] >= 0
    )


def _page(library: Library, loaded: LoadedVersion, case: Case, query: Mapping[str, str]) -> dict[str, Any]:
    runs = _runs(library, loaded.info.name, case, query)
    texts = _texts(library, case, query, runs)
    limits = Limits.read(query)
    name = loaded.info.name
    return {
        "page": "case",
        "title": f"{one_line(case.id, 60)} in {name}",
        "truth": describe_truth(library.truth, loaded),
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
        # A text that is not shown in full cannot be corrected.
        "texts": [
            {**text, "text": limits.shorten(text["text"]), "whole": not limits.rest(text["text"])} for text in texts
        ],
        "cut": limits.cut,
        "runs": runs,
        "run": _chosen(query, runs),
        "kinds": list(_KINDS),
        "addresses": {
            "here": case_address(name, case.id, loaded.info.number),
            "check": truth_address(name, "check.json"),
            "at": truth_address(name, "new" if case.id not in loaded.rows else "case", id=case.id),
        },
    }


def _texts(
    library: Library, case: Case, query: Mapping[str, str], runs: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the texts that can be cited: the passages of the case, then the chunks that a run retrieved."""
    texts = [_text("passage", number, chunk) for number, chunk in enumerate(citable_passages(case), 1)]
    if chosen := _chosen(query, runs):
        row = chosen["row"] - 1
        chunks = read_cases_at(library.run(chosen["id"]), [row])[row].sample.contexts or ()
        texts += [_text("chunk", rank, chunk) for rank, chunk in enumerate(chunks, 1)]
    return texts


def _checks(facts: Sequence[tuple[str, str]], texts: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    passages, names = [text["text"] for text in texts], [f"{text['kind']} {text['number']}" for text in texts]
    checks = [check_fact(kind, text, passages, names) for kind, text in facts[:_MAX_CHECKED]]
    has_passages = any(text["kind"] == "passage" for text in texts)
    return checks if has_passages else [_excuse_absence(check) for check in checks]


def _excuse_absence(check: dict[str, Any]) -> dict[str, Any]:
    """Drop the verdict `absent` if the case has no passages: a citation need not be in the retrieved chunks."""
    if check["verdict"] != "absent":
        return check
    return {**NOT_CHECKED, "why": "the case has no passages to search, and no retrieved chunk contains it"}


def _runs(library: Library, name: str, case: Case, query: Mapping[str, str]) -> list[dict[str, Any]]:
    wanted = query.get("run", "")
    return runs_of(library, name, case.id, "" if wanted == _NO_RUN else wanted)


def _chosen(query: Mapping[str, str], runs: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the requested run, otherwise the newest; None if the request is for no run."""
    wanted = query.get("run", "")
    if wanted == _NO_RUN:
        return None
    return next((run for run in runs if run["id"] == wanted), runs[0] if runs else None)


def _text(kind: str, number: int, chunk: Chunk) -> dict[str, Any]:
    return {"kind": kind, "number": number, "id": chunk.id or "", "source": chunk.source or "", "text": chunk.text}


def _walk(library: Library, loaded: LoadedVersion, case: Case, query: Mapping[str, str]) -> dict[str, Any]:
    """Return the links to the previous and next case in the list from which the case was opened."""
    chosen = replace(CaseFilter.read(query), page=1)
    rows = matching_rows(library.truth, loaded, chosen)
    here = loaded.rows[case.id]
    at = rows.index(here) if here in rows else None
    version = loaded.info.number if query.get("v") else None

    def address(position: int) -> str:
        return case_address(loaded.info.name, loaded.ids[rows[position]], version, **chosen.query)

    links = neighbours(len(rows), at, address)
    return {**links, "back": f"{truth_address(loaded.info.name)}{chosen.address}", "query": ""}


def _free_id(loaded: LoadedVersion) -> str:
    number = len(loaded) + 1
    while f"case-{number}" in loaded.rows:
        number += 1
    return f"case-{number}"


VIEWS = {"/truth/{name}/case": case_page, "/truth/{name}/new": new_case_page}
CHANGES = {"/truth/{name}/check": check_citations}


def runs_of(library: Library, truth: str, case: str, wanted: str = "") -> list[dict[str, Any]]:
    """Return the newest runs that asked the question of a case, and the wanted run even if it is older."""
    matching = []
    runs = newest_runs(library)
    if wanted and wanted not in [run.id for run in runs]:
        with suppress(NotFoundError):
            runs.append(library.run(wanted))
    asked = library.truth.asked(truth)
    for run in runs:
        row = _row_in(library.asked(run), asked, case)
        if row is not None:
            address = f"/runs/{run.id}/samples/{row + 1}"
            matching.append({"id": run.id, "name": one_line(run.name, 60), "row": row + 1, "address": address})
    return matching


def _row_in(table: pa.Table, asked: QuestionIndex, case: str) -> int | None:
    keys = asked.by_id.get(case, ())
    row = int(pc.index(table["id"], case).as_py())
    if row >= 0 and table["question_key"][row].as_py() in keys:
        return row
    rows = (int(pc.index(table["question_key"], key).as_py()) for key in keys if key)
    return next((row for row in rows if row >= 0), None)
