"""One version of a ground truth: its cases, page by page, and how it came to be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import urlencode

from ragstone.report.plain import one_line
from ragstone.truth.cases import Case
from ragstone.web.errors import NotThereError
from ragstone.web.library import Library
from ragstone.web.truth.addresses import case_address, truth_address
from ragstone.web.truth.listing import about_version
from ragstone.web.truth.problems import LOST, PROBLEMS
from ragstone.web.truth.shelf import STANDINGS, Held, Shelf

SIZE = 50
# Who asks for a problem waits for it, within reason.
_PATIENCE_S = 60.0
# What a version can be downloaded as: the ending of the file, and the format of the samples in it.
EXPORTS = {
    "jsonl": "ragstone",
    "csv": "ragstone",
    "parquet": "ragstone",
    "ragchecker.json": "ragchecker",
    "cases.parquet": "",
}
_MOST_SHOWN_VERSIONS = 50


@dataclass(frozen=True)
class CaseFilter:
    """Which cases are shown; it lives in the address."""

    q: str = ""
    standing: str = ""
    problem: str = ""
    page: int = 1

    @classmethod
    def read(cls, query: Mapping[str, str]) -> CaseFilter:
        """From an address; what it cannot mean is left at its default."""
        standing, problem = query.get("standing", ""), query.get("problem", "")
        return cls(
            query.get("q", "").strip()[:200],
            standing if standing in STANDINGS else "",
            problem if problem in PROBLEMS else "",
            max(1, whole(query.get("page")) or 1),
        )

    @property
    def query(self) -> dict[str, str]:
        """The parts of an address; what is at its default is left out."""
        said = {field.name: getattr(self, field.name) for field in fields(self)}
        return {field.name: str(said[field.name]) for field in fields(self) if said[field.name] != field.default}

    @property
    def address(self) -> str:
        """The query of an address."""
        return f"?{urlencode(self.query)}" if self.query else ""


def whole(text: str | None) -> int | None:
    """A number in an address."""
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) < 10 else None


def read_version(text: str) -> int:
    """The number of a version in an address."""
    number = whole(text)
    if number is None:
        raise NotThereError(f"{text[:80]} is no number of a version; they are counted from 1")
    return number


def truth_page(library: Library, name: str, number: int | None, query: Mapping[str, str]) -> dict[str, Any]:
    """One page of the cases of a version, and all versions."""
    shelf = library.truth
    held, infos = shelf.held(name, number), shelf.infos(name)
    chosen = CaseFilter.read(query)
    problems, lost = shelf.problems(held), shelf.lost(held)
    fitting = fitting_rows(shelf, held, chosen)
    pages = max(1, -(-len(fitting) // SIZE))
    chosen = replace(chosen, page=min(chosen.page, pages))
    shown = fitting[(chosen.page - 1) * SIZE : chosen.page * SIZE]
    return {
        "page": "truth",
        "title": f"{name} v{held.info.number}",
        "truth": about_truth(shelf, held),
        "filter": chosen,
        "standings": list(STANDINGS),
        "problems": _problem_counts(problems or (), lost),
        "waiting": lost is None if chosen.problem == LOST else problems is None,
        "total": len(held),
        "fitting": len(fitting),
        "first": (chosen.page - 1) * SIZE + 1 if fitting else 0,
        "last": (chosen.page - 1) * SIZE + len(shown),
        "pages": pages,
        "links": _links(chosen, pages),
        "cases": [_row(held, row, lost, chosen) for row in shown],
        "versions": [_version(library, info) for info in reversed(infos[-_MOST_SHOWN_VERSIONS:])],
        "exports": [
            {"name": ending, "address": truth_address(name, "export", **{"v": held.info.number, "as": ending})}
            for ending in EXPORTS
        ],
        "older": max(0, len(infos) - _MOST_SHOWN_VERSIONS),
    }


def about_truth(shelf: Shelf, held: Held) -> dict[str, Any]:
    """What every page about a version of a ground truth says of it, and what its scripts go by."""
    name, newest = held.info.name, shelf.newest(held.info.name)
    return {
        **about_version(shelf, held.info),
        "newest": newest,
        "home": truth_address(name),
        "store": shelf.mark,
        **{
            page: truth_address(name, page, v=None if held.info.number == newest else held.info.number)
            for page in ("queue", "rescore")
        },
    }


def fitting_rows(shelf: Shelf, held: Held, chosen: CaseFilter) -> Sequence[int]:
    """The rows that fit a filter; of lost citations those that are known yet."""
    rows: Sequence[int] = range(len(held))
    if chosen.problem == LOST:
        rows = sorted(shelf.lost(held) or ())
    elif chosen.problem:
        found = shelf.problems(held, _PATIENCE_S) or ()
        rows = [row for row, problems in enumerate(found) if chosen.problem in problems]
    words = chosen.q.casefold().split()
    if not words and not chosen.standing:
        return rows
    return [row for row in rows if _fits(held.cases[row], chosen.standing, words)]


def _fits(case: Case, standing: str, words: Sequence[str]) -> bool:
    if standing and standing not in [case.standing, *(fact.standing for fact in case.facts)]:
        return False
    return not words or _has(case, words)


def _has(case: Case, words: Sequence[str]) -> bool:
    text = "\n".join([case.id, case.question, *case.references, *(fact.text for fact in case.facts)]).casefold()
    return all(word in text for word in words)


def _problem_counts(problems: Sequence[Sequence[str]], lost: frozenset[int] | None) -> list[dict[str, Any]]:
    counts = {name: sum(name in found for found in problems) for name in PROBLEMS} | {LOST: len(lost or ())}
    return [
        {"name": name, "count": counts[name], "meaning": meaning} for name, meaning in PROBLEMS.items() if counts[name]
    ]


def _row(held: Held, row: int, lost: frozenset[int] | None, chosen: CaseFilter) -> dict[str, Any]:
    case = held.at(row)
    return {
        "id": case.id,
        "shown_id": one_line(case.id, 60) or "(blank)",
        "question": one_line(case.question, 160),
        "answer": one_line(case.references[0], 100) if case.references else "",
        "answers": len(case.references),
        "facts": {standing: sum(fact.standing == standing for fact in case.facts) for standing in STANDINGS},
        "answerable": case.answerable,
        "provenance": case.provenance,
        "problems": [*held.problems_of(case), *([LOST] if lost and row in lost else [])],
        "address": case_address(held.info.name, case.id, **replace(chosen, page=1).query),
    }


def _version(library: Library, info: Any) -> dict[str, Any]:
    said = about_version(library.truth, info)
    said["diff"] = truth_address(info.name, "diff", **{"from": info.parent, "to": info.number}) if info.parent else ""
    said["sources"] = [one_line(str(source), 120) for source in info.lineage.sources]
    said["counts"] = info.lineage.counts
    return said


def _links(chosen: CaseFilter, pages: int) -> dict[str, str]:
    wanted = {"first": 1, "previous": chosen.page - 1, "next": chosen.page + 1, "last": pages}
    there = {name: page for name, page in wanted.items() if 1 <= page <= pages and page != chosen.page}
    return {name: replace(chosen, page=page).address or "?" for name, page in there.items()}
