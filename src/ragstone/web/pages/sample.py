"""One sample: what was asked, answered and expected, its claims with verdicts, its chunks, its scores, the judge's words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ragstone.compare.cases import Case, is_local, read_cases_at
from ragstone.compare.causes import find_causes
from ragstone.compare.findings import Outcome
from ragstone.report.html.evidence import claim_groups, finding_rows
from ragstone.report.plain import one_line
from ragstone.storage.runs import Run
from ragstone.web.errors import NotThereError
from ragstone.web.evidence import Limits, answer_pieces, chunk_list, fact_list
from ragstone.web.index import RunIndex, number
from ragstone.web.library import Library
from ragstone.web.pages.run import about, causes_of, read_state
from ragstone.web.spoken import calls_of, cells_of
from ragstone.web.truth.beside import cases_of


def sample_page(
    library: Library, run: Run, row: int, query: Mapping[str, str], columns: Sequence[str]
) -> dict[str, Any]:
    """A sample by its row number from 1; the query is that of the table it was opened from."""
    index = library.index(run)
    case, outcome = read_sample(index, row)
    limits = Limits.read(query)
    return {
        "page": "sample",
        "title": f"{one_line(case.sample.id, 60)} in {one_line(run.name, 60)}",
        "run": about(run),
        "sample": describe(case, outcome, row, limits),
        "quality": number(index.quality[row - 1]),
        "walk": walk(library, index, row, query, columns),
        "claims": claim_groups(case),
        "facts": fact_list(case, limits),
        "chunks": chunk_list(case, outcome, limits),
        "scores": cells_of(index, row - 1, case.sample.id),
        "local": any(map(is_local, run.info["metrics"])),
        "calls": calls_of(run, case.sample.id, limits),
        "truths": cases_of(library, case.sample.id, case.sample.question, run.id),
        "cut": limits.cut,
    }


def read_sample(index: RunIndex, row: int) -> tuple[Case, Outcome]:
    """A sample with its evidence and its cause."""
    if not 1 <= row <= len(index.ids):
        raise NotThereError(f"run {index.run.id} has no sample {row}: it has {len(index.ids):,}, counted from 1")
    case = read_cases_at(index.run, [row - 1])[row - 1]
    return case, find_causes(case)


def describe(case: Case, outcome: Outcome, row: int, limits: Limits) -> dict[str, Any]:
    """Texts and cause of a sample."""
    sample = case.sample
    return {
        "id": sample.id,
        "row": row,
        "question": limits.shorten(sample.question or ""),
        "answer": None if sample.answer is None else answer_pieces(case, limits),
        "references": [limits.shorten(text) for text in sample.references or ()],
        "unanswerable": sample.answerable is False,
        "metadata": {name: one_line(str(value), 200) for name, value in sample.metadata.items()},
        "cause": outcome.cause.name if outcome.cause else "",
        "meaning": outcome.cause.meaning if outcome.cause else "",
        "part": (outcome.cause.part or "") if outcome.cause else "",
        "undecided": outcome.undecided,
        "looked": bool(outcome.seen_by or outcome.findings),
        "findings": finding_rows(outcome),
    }


def walk(
    library: Library, index: RunIndex, row: int, query: Mapping[str, str], columns: Sequence[str], page: str = ""
) -> dict[str, Any]:
    """The neighbours of a sample in the order of the table, on the same page of theirs."""
    state = read_state(index, query, columns).but(page=1)
    order = index.order(state, causes_of(library.insight(index.run)))
    places = np.flatnonzero(order == row - 1)
    at = int(places[0]) if len(places) else None
    base = f"/runs/{index.run.id}"

    def address(place: int | None) -> str:
        if place is None or not 0 <= place < len(order):
            return ""
        return f"{base}/samples/{int(order[place]) + 1}{page}{state.address}"

    return {
        "place": None if at is None else at + 1,
        "of": len(order),
        "previous": address(None if at is None else at - 1),
        "next": address(None if at is None else at + 1),
        "back": f"{base}{state.address}#samples",
        "sample": f"{base}/samples/{row}{state.address}",
        "facts": f"{base}/samples/{row}/facts{state.address}",
        "query": state.address,
    }
