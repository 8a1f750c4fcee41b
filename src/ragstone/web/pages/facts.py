"""The fact page of a sample: where each fact of the ground truth was found, or the nearest miss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rapidfuzz import fuzz
from starlette.datastructures import QueryParams

from ragstone.analysis.fact_causes import trace_facts
from ragstone.analysis.sample_evidence import Case
from ragstone.report.html.marked_text import excerpt
from ragstone.report.html.run_page import describe_run
from ragstone.text.word_diff import word_diff
from ragstone.views.marks import Limits
from ragstone.views.phrases import one_line
from ragstone.views.sample import sample_view
from ragstone.web.library import Library
from ragstone.web.pages.chunk_images import with_images
from ragstone.web.pages.sample import describe_sample, read_sample, walk
from ragstone.web.truth.rescore import cases_of

_CONTEXT = 160
_MAX_DIFF = 4_000

_MAX_CHARACTERS = 20_000
_MAX_WANTED = 1_000
# Below this similarity a passage is not a near miss.
MIN_SIMILARITY = 50.0


def facts_page(library: Library, query: QueryParams, run: str, row: str) -> dict[str, Any]:
    """The facts of a sample and its chunks."""
    index = library.index(library.run(run))
    number, case, outcome = read_sample(index, row)
    limits = Limits.read(query)
    view = sample_view(number, case, outcome, limits=limits)
    missing = {finding.number: finding for finding in trace_facts(case, None)} if case.has("fact_ranks") else {}
    facts = []
    for fact in view.facts:
        finding = missing.get(fact.number)
        facts.append(
            {
                **vars(fact),
                "why": finding.why if finding else "",
                "cause": finding.cause.name if finding else "",
                "places": _places(case, fact.number),
                "miss": _miss(case, fact.number) if fact.ranks == [] else None,
            }
        )
    return {
        "page": "facts",
        "title": f"facts of {one_line(case.sample.id, 60)}",
        "run": describe_run(index.run),
        "sample": describe_sample(view),
        "walk": walk(library, index, number, query, "/facts"),
        "facts": facts,
        "found": sum(bool(fact.ranks) for fact in view.facts),
        "chunks": with_images(index.run, number, view.chunks, case),
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


@dataclass(frozen=True)
class NearMiss:
    """The most similar passage: index of the text, start, end, and similarity from 0 to 100."""

    text: int
    start: int
    end: int
    similarity: float


def nearest_miss(wanted: str, texts: Sequence[str]) -> NearMiss | None:
    """Return the passage most similar to a text; None if no passage reaches the minimum similarity."""
    short = wanted[:_MAX_WANTED].casefold()
    best: NearMiss | None = None
    for position, text in enumerate(texts):
        beginning = text[:_MAX_CHARACTERS]
        # Lower case may be longer (İ). Then offsets would be wrong, so the original case is used.
        low = beginning.lower() if len(beginning.lower()) == len(beginning) else beginning
        cutoff = best.similarity if best else MIN_SIMILARITY
        match = fuzz.partial_ratio_alignment(short, low, score_cutoff=cutoff) if short and low else None
        if match is None or (best and match.score <= best.similarity):
            continue
        # A text shorter than the wanted one is compared with a part of it. Then the passage is the whole text.
        start, end = (match.dest_start, match.dest_end) if len(low) >= len(short) else (0, len(low))
        best = NearMiss(position, *_whole_words(text, start, end), float(match.score))
    return best


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    while start > 0 and text[start - 1].isalnum() and text[start].isalnum():
        start -= 1
    while 0 < end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        end += 1
    return start, end
