"""The fact page of a sample: where each fact of the ground truth was found, or the nearest miss."""

from __future__ import annotations

from typing import Any

from starlette.datastructures import QueryParams

from ragstone.compare.fact_causes import trace_facts
from ragstone.compare.sample_evidence import Case
from ragstone.report.text import one_line
from ragstone.web.library import Library
from ragstone.web.pages.run import describe_run
from ragstone.web.pages.sample import describe_sample, read_sample, walk
from ragstone.web.sample_data import Limits, chunk_list, excerpt, fact_list
from ragstone.web.truth.related_runs import cases_of
from ragstone.web.word_diff import nearest_miss, word_diff

_CONTEXT = 160
_MAX_DIFF = 4_000


def facts_page(library: Library, query: QueryParams, run: str, row: str) -> dict[str, Any]:
    """The facts of a sample and its chunks."""
    index = library.index(library.run(run))
    number, case, outcome = read_sample(index, row)
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
        "run": describe_run(index.run),
        "sample": describe_sample(case, outcome, number, limits),
        "walk": walk(library, index, number, query, "/facts"),
        "facts": facts,
        "found": sum(bool(fact["ranks"]) for fact in facts),
        "chunks": chunk_list(case, outcome, limits),
        "truths": cases_of(library, case.sample.id, case.sample.question, run),
        "cut": limits.cut,
    }


def _places(case: Case, fact: int) -> list[dict[str, Any]]:
    """Return the matches of a fact in the chunks with the text around them."""
    chunks = case.sample.contexts or []
    return [
        _place(chunks[match.chunk].text, match.chunk, match.start, match.end)
        for match in case.evidence.get("fact_matches") or ()
        if match.fact + 1 == fact and match.chunk < len(chunks)
    ]


def _place(text: str, chunk: int, start: int, end: int) -> dict[str, Any]:
    return {"rank": chunk + 1, "start": start, "end": end, **excerpt(text, start, end, _CONTEXT)}


def _miss(case: Case, fact: int) -> dict[str, Any] | None:
    """Return the passage most similar to a fact that no chunk contains, as a diff from the fact."""
    wanted = (case.sample.facts or [])[fact - 1].text
    texts = [chunk.text for chunk in case.sample.contexts or ()]
    near = nearest_miss(wanted, texts)
    if near is None:
        return None
    text = texts[near.text]
    return {
        **_place(text, near.text, near.start, near.end),
        "alike": near.similarity / 100,
        "diff": word_diff(wanted[:_MAX_DIFF], text[near.start : near.end][:_MAX_DIFF]),
    }


VIEWS = {"/runs/{run}/samples/{row}/facts": facts_page}
