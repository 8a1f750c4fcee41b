"""Fact matching: each fact of the ground truth with its own colour, where it was found, or what came nearest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragstone.compare.cases import Case
from ragstone.compare.fact_causes import trace_facts
from ragstone.report.plain import one_line
from ragstone.storage.runs import Run
from ragstone.web.diffs import nearest_miss, word_diff
from ragstone.web.evidence import Limits, chunk_list, fact_list
from ragstone.web.library import Library
from ragstone.web.pages.run import about
from ragstone.web.pages.sample import describe, read_sample, walk
from ragstone.web.truth.beside import cases_of

_AROUND = 160


def facts_page(
    library: Library, run: Run, row: int, query: Mapping[str, str], columns: Sequence[str]
) -> dict[str, Any]:
    """The facts of a sample and its chunks."""
    index = library.index(run)
    case, outcome = read_sample(index, row)
    limits = Limits.read(query)
    facts = fact_list(case, limits)
    missing = {finding.number: finding for finding in trace_facts(case, None)} if case.has("fact_ranks") else {}
    for fact in facts:
        finding = missing.get(fact["number"])
        fact["why"] = finding.why if finding else ""
        fact["cause"] = finding.cause.name if finding else ""
        fact["places"] = _places(case, fact["number"])
        fact["miss"] = _miss(case, fact["number"]) if fact["ranks"] == [] else None
    return {
        "page": "facts",
        "title": f"facts of {one_line(case.sample.id, 60)}",
        "run": about(run),
        "sample": describe(case, outcome, row, limits),
        "walk": walk(library, index, row, query, columns, "/facts"),
        "facts": facts,
        "found": sum(bool(fact["ranks"]) for fact in facts),
        "chunks": chunk_list(case, outcome, limits),
        "truths": cases_of(library, case.sample.id, case.sample.question, run.id),
        "cut": limits.cut,
    }


def _places(case: Case, fact: int) -> list[dict[str, Any]]:
    """Where a fact stands, with the words around it."""
    found = []
    for match in case.evidence.get("fact_matches") or ():
        if match.fact + 1 == fact and match.chunk < len(case.sample.contexts or ()):
            text = (case.sample.contexts or [])[match.chunk].text
            found.append(
                {
                    "rank": match.chunk + 1,
                    "start": match.start,
                    "end": match.end,
                    **_around(text, match.start, match.end),
                }
            )
    return found


def _around(text: str, start: int, end: int) -> dict[str, str]:
    before, after = text[max(0, start - _AROUND) : start], text[end : end + _AROUND]
    return {
        "before": ("… " if start > _AROUND else "") + before,
        "here": text[start:end][:4_000],
        "after": after + (" …" if len(text) > end + _AROUND else ""),
    }


def _miss(case: Case, fact: int) -> dict[str, Any] | None:
    """The nearest miss of a fact that no chunk has, as changes of the fact."""
    wanted = (case.sample.facts or [])[fact - 1].text
    texts = [chunk.text for chunk in case.sample.contexts or ()]
    near = nearest_miss(wanted, texts)
    if near is None:
        return None
    text = texts[near.text]
    return {
        "rank": near.text + 1,
        "alike": near.alike / 100,
        "start": near.start,
        "end": near.end,
        **_around(text, near.start, near.end),
        "diff": word_diff(wanted[:4_000], text[near.start : near.end][:4_000]),
    }
