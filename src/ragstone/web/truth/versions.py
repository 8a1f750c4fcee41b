"""The list of ground truths, and the page of one version: its filtered cases, its history and its exports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import urlencode

import numpy as np

from ragstone.errors import StorageError
from ragstone.truth.store import VersionInfo
from ragstone.views.phrases import one_line
from ragstone.web.library import Library
from ragstone.web.navigation import (
    ListPage,
    case_address,
    required_number,
    truth_address,
    version_address,
    whole_number,
)
from ragstone.web.truth.loaded_version import LOST, PROBLEMS, LoadedVersion, Mask
from ragstone.web.truth.store import STANDINGS, TruthLibrary

_PAGE_SIZE = 50
# A page that filters by a problem waits this long for the problems.
_PROBLEM_WAIT_S = 60.0
# The export formats: file ending and sample format.
EXPORTS = {
    "jsonl": "ragstone",
    "csv": "ragstone",
    "parquet": "ragstone",
    "ragchecker.json": "ragchecker",
    "cases.parquet": "",
}
_MAX_VERSIONS = 50


def truths_page(library: Library, _: Mapping[str, str]) -> dict[str, Any]:
    """Every ground truth under the root with its newest version."""
    truths, broken = [], []
    for name in library.truth.names():
        try:
            truths.append(_truth_row(library.truth, name))
        except StorageError as error:  # one broken folder must not hide the rest
            broken.append({"name": name, "why": str(error)})
    return {
        "page": "truths",
        "title": "Ground truth",
        "root": str(library.root),
        "truths": truths,
        "broken": broken,
        "runs": any(folder.manifest.exists() for folder in library.folders()[:1]),
    }


def describe_version(truths: TruthLibrary, info: VersionInfo) -> dict[str, Any]:
    """Return the page data that describes a version: number, author, note, time and counts."""
    return {
        "name": info.name,
        "number": info.number,
        "address": version_address(info.name, info.number),
        "created_at": info.created_at,
        "author": one_line(info.author, 80),
        "note": one_line(info.note, 300),
        "parent": info.parent,
        "cases": info.rows,
        "facts": dict(truths.counts(info.name, info.number)),
        "waiting": truths.waiting(info.name, info.number),
    }


def _truth_row(truths: TruthLibrary, name: str) -> dict[str, Any]:
    infos = truths.infos(name)
    return {
        "name": name,
        "address": truth_address(name),
        "versions": len(infos),
        "newest": describe_version(truths, infos[-1]),
        "queue": truth_address(name, "queue"),
    }


@dataclass(frozen=True)
class CaseFilter:
    """The filter and page of the list of cases. It is stored in the address."""

    q: str = ""
    standing: str = ""
    problem: str = ""
    page: int = 1

    @classmethod
    def read(cls, query: Mapping[str, str]) -> CaseFilter:
        """Read the filter from a query; invalid values are replaced by the defaults."""
        standing, problem = query.get("standing", ""), query.get("problem", "")
        return cls(
            query.get("q", "").strip()[:200],
            standing if standing in STANDINGS else "",
            problem if problem in PROBLEMS else "",
            max(1, whole_number(query.get("page")) or 1),
        )

    @property
    def query(self) -> dict[str, str]:
        """The filter as query parameters, without default values."""
        values = [(field, getattr(self, field.name)) for field in fields(self)]
        return {field.name: str(value) for field, value in values if value != field.default}

    @property
    def address(self) -> str:
        """The filter as a query string."""
        return f"?{urlencode(self.query)}" if self.query else ""


def load_version(library: Library, name: str, query: Mapping[str, str]) -> LoadedVersion:
    """Load the version that `?v=` names; by default the newest."""
    return library.truth.load(name, required_number(query["v"], "version") if query.get("v") else None)


def truth_page(library: Library, query: Mapping[str, str], name: str, number: str | None = None) -> dict[str, Any]:
    """One page of the cases of a version, and all versions."""
    truths = library.truth
    loaded = truths.load(name, None if number is None else required_number(number, "version"))
    infos = truths.infos(name)
    chosen = CaseFilter.read(query)
    problems, lost = truths.problems(loaded), truths.lost(loaded)
    matching = matching_rows(truths, loaded, chosen)
    page = ListPage.cut(matching, chosen.page, _PAGE_SIZE)
    chosen = replace(chosen, page=page.number)
    return {
        "page": "truth",
        "title": f"{name} v{loaded.info.number}",
        "truth": describe_truth(truths, loaded),
        "filter": chosen,
        "standings": list(STANDINGS),
        "problems": _problem_counts(problems or {}, lost),
        "waiting": lost is None if chosen.problem == LOST else problems is None,
        "total": len(loaded),
        "fitting": len(matching),
        "first": page.first,
        "last": page.last,
        "pages": page.pages,
        "links": page.links(lambda number: replace(chosen, page=number).address),
        "cases": _rows(loaded, page.items, lost, chosen),
        "versions": [_version(library, info) for info in reversed(infos[-_MAX_VERSIONS:])],
        "exports": [
            {"name": ending, "address": truth_address(name, "export", **{"v": loaded.info.number, "as": ending})}
            for ending in EXPORTS
        ],
        "older": max(0, len(infos) - _MAX_VERSIONS),
    }


def describe_truth(truths: TruthLibrary, loaded: LoadedVersion) -> dict[str, Any]:
    """Return the page data that every page about a version and its scripts need."""
    name, newest = loaded.info.name, truths.newest(loaded.info.name)
    return {
        **describe_version(truths, loaded.info),
        "newest": newest,
        "home": truth_address(name),
        "store": truths.mark,
        **{
            page: truth_address(name, page, v=None if loaded.info.number == newest else loaded.info.number)
            for page in ("queue", "rescore")
        },
    }


def matching_rows(truths: TruthLibrary, loaded: LoadedVersion, chosen: CaseFilter) -> Sequence[int]:
    """Return the rows that match a filter; lost citations are included as far as they are known."""
    rows: Sequence[int] = range(len(loaded))
    if chosen.problem == LOST:
        rows = sorted(truths.lost(loaded) or ())
    elif chosen.problem:
        known = truths.problems(loaded, _PROBLEM_WAIT_S) or {}
        rows = np.flatnonzero(known[chosen.problem]).tolist() if known else []
    if chosen.standing:
        mask = loaded.with_standing(chosen.standing)
        rows = [row for row in rows if mask[row]]
    words = chosen.q.casefold().split()
    return [row for row in rows if all(word in loaded.search_texts[row] for word in words)] if words else rows


def _problem_counts(problems: Mapping[str, Mask], lost: frozenset[int] | None) -> list[dict[str, Any]]:
    counts = {name: int(mask.sum()) for name, mask in problems.items()} | {LOST: len(lost or ())}
    return [
        {"name": name, "count": counts[name], "meaning": meaning}
        for name, meaning in PROBLEMS.items()
        if counts.get(name)
    ]


def _rows(
    loaded: LoadedVersion, rows: Sequence[int], lost: frozenset[int] | None, chosen: CaseFilter
) -> list[dict[str, Any]]:
    """Return one page of the list."""
    cases, problems = loaded.parse(rows, head=True), loaded.problems_at(rows)
    return [
        {
            "id": case.id,
            "shown_id": one_line(case.id, 60) or "(blank)",
            "question": one_line(case.question, 160),
            "answer": one_line(case.references[0], 100) if case.references else "",
            "answers": len(case.references),
            "facts": {standing: sum(fact.standing == standing for fact in case.facts) for standing in STANDINGS},
            "answerable": case.answerable,
            "provenance": case.provenance,
            "problems": [*known, *([LOST] if lost and row in lost else [])],
            "address": case_address(loaded.info.name, case.id, **replace(chosen, page=1).query),
        }
        for row, case, known in zip(rows, cases, problems, strict=True)
    ]


def _version(library: Library, info: VersionInfo) -> dict[str, Any]:
    ends = {"from": info.parent, "to": info.number}
    return {
        **describe_version(library.truth, info),
        "diff": truth_address(info.name, "diff", **ends) if info.parent else "",
        "sources": [
            one_line(str(one.get("path", one) if isinstance(one, dict) else one), 120) for one in info.lineage.sources
        ],
        "counts": info.lineage.counts,
    }


def newest_version(library: Library, _: Mapping[str, str], name: str) -> dict[str, Any]:
    """The number of the newest version, for the scripts of the editor."""
    return {"page": "newest", "newest": library.truth.newest(name)}


VIEWS = {"/truth": truths_page, "/truth/{name}/v{number}": truth_page, "/truth/{name}": truth_page}
JSON_VIEWS = {"/truth/{name}/newest": newest_version}
