"""The page of one sample: question, answer and reference, claims with verdicts, chunks, scores and judge replies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from starlette.datastructures import QueryParams

from ragstone.compare.cause_names import Outcome
from ragstone.compare.causes import find_causes
from ragstone.compare.sample_evidence import Case, read_cases_at
from ragstone.report.html.sample_data import Piece, chunks_behind, claim_groups, finding_rows, mark_answer
from ragstone.report.run import DIRECTION
from ragstone.report.text import one_line
from ragstone.storage.runs import Run, read_batches, read_rows, read_table
from ragstone.storage.scores import OK, unless_nan
from ragstone.web.errors import NotFoundError
from ragstone.web.library import Library
from ragstone.web.navigation import neighbours, required_number
from ragstone.web.pages.run import causes_of, describe_run, read_state
from ragstone.web.run_index import RunIndex
from ragstone.web.sample_data import Limits, chunk_list, fact_list
from ragstone.web.truth.related_runs import cases_of

_STATES = ("ok", "skipped", "failed")
# Splitting a text into sentences is slow. Longer answers are shown without marks.
_MAX_MARKED = 200_000


def sample_page(library: Library, query: QueryParams, run: str, row: str) -> dict[str, Any]:
    """A sample by its row number from 1. The query is that of the table from which it was opened."""
    index = library.index(library.run(run))
    at, case, outcome = read_sample(index, row)
    limits = Limits.read(query)
    return {
        "page": "sample",
        "title": f"{one_line(case.sample.id, 60)} in {one_line(index.run.name, 60)}",
        "run": describe_run(index.run),
        "sample": describe_sample(case, outcome, at, limits),
        "quality": unless_nan(index.quality[at - 1]),
        "walk": walk(library, index, at, query),
        "claims": claim_groups(case),
        "facts": fact_list(case, limits),
        "chunks": chunk_list(case, outcome, limits),
        "scores": _scores(index, at - 1, case.sample.id),
        "local": index.run.info.uses_local_judge,
        "calls": _calls(index.run, case.sample.id, limits),
        "truths": cases_of(library, case.sample.id, case.sample.question, run),
        "cut": limits.cut,
    }


def read_sample(index: RunIndex, row: str) -> tuple[int, Case, Outcome]:
    """Return the row number of a sample, its evidence and its causes of failure."""
    at = required_number(row, "sample")
    if not 1 <= at <= len(index.ids):
        raise NotFoundError(f"run {index.run.id} has no sample {at}; its samples are 1 to {len(index.ids):,}")
    case = read_cases_at(index.run, [at - 1])[at - 1]
    return at, case, find_causes(case)


def describe_sample(case: Case, outcome: Outcome, row: int, limits: Limits) -> dict[str, Any]:
    """Return the texts of a sample and its main cause of failure as page data."""
    sample = case.sample
    return {
        "id": sample.id,
        "row": row,
        "question": limits.shorten(sample.question or ""),
        "answer": None if sample.answer is None else _answer(case, limits),
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


def walk(library: Library, index: RunIndex, row: int, query: QueryParams, page: str = "") -> dict[str, Any]:
    """Return links to the previous and next sample in table order, and to the other pages of this sample."""
    state = read_state(index, query).but(page=1)
    order = index.order(state, causes_of(library.insight(index.run)))
    positions = np.flatnonzero(order == row - 1)
    at = int(positions[0]) if len(positions) else None
    base = f"/runs/{index.run.id}"
    links = neighbours(len(order), at, lambda i: f"{base}/samples/{int(order[i]) + 1}{page}{state.address}")
    return {
        **links,
        "back": f"{base}{state.address}#samples",
        "sample": f"{base}/samples/{row}{state.address}",
        "facts": f"{base}/samples/{row}/facts{state.address}",
        "query": state.address,
    }


def _answer(case: Case, limits: Limits) -> list[dict[str, Any]]:
    """Return the answer with claims marked by verdict, and the chunks that support or contradict each claim."""
    text = limits.shorten(case.sample.answer or "")
    pieces = mark_answer(case, text) if case.claims("answer") and len(text) <= _MAX_MARKED else [Piece(text)]
    return [
        {"text": piece.text, "tone": piece.tone, "numbers": list(piece.numbers), **chunks_behind(case, piece.numbers)}
        for piece in pieces
    ]


def _scores(index: RunIndex, row: int, sample: str) -> list[dict[str, Any]]:
    """Return the scores of a sample. Reasons are read from the file only if a score has no value."""
    reasons = _reasons(index, sample) if any(scores.states[row] != OK for scores in index.scores.values()) else {}
    return [
        {
            "metric": metric["metric"],
            "arrow": DIRECTION[metric["better"]].strip(),
            "value": index.value(metric["metric"], row),
            "status": _STATES[int(index.scores[metric["metric"]].states[row])],
            "reason": reasons.get(metric["metric"], ""),
        }
        for metric in index.metrics
    ]


def _reasons(index: RunIndex, sample: str) -> dict[str, str]:
    reasons: dict[str, str] = {}
    wanted = pa.scalar(sample, pa.string())
    for batch in read_batches(index.run.folder.scores, ["sample_id", "metric", "reason"]):
        rows = batch.filter(pc.equal(batch["sample_id"], wanted))
        reasons |= {row["metric"]: row["reason"] or "" for row in rows.to_pylist()}
    return reasons


def _calls(run: Run, sample: str, limits: Limits) -> list[dict[str, Any]]:
    """Return the model calls about a sample with the prompts that the run stores and the replies."""
    totals = run.info["totals"]
    if not totals.get("calls") and not totals.get("cached_calls"):
        return []
    ids = read_table(run.folder.calls, ["sample_id"])["sample_id"]
    rows = np.flatnonzero(pc.equal(ids, sample).to_numpy())
    prompts = run.info.get("prompts") or {}
    calls = [part.to_pylist()[0] for _, part in read_rows(run.folder.calls, rows.tolist())]
    return [
        {
            "evidence": call["evidence"],
            "prompt": call["prompt"],
            "asked": limits.shorten(str(prompts.get(call["prompt"], {}).get("text", ""))),
            "model": call["model"],
            "cached": call["cached"],
            "latency_s": call["latency_s"],
            "tokens": [call["input_tokens"], call["output_tokens"]],
            "reply": limits.shorten(call["reply"] or ""),
            "error": call["error"] or "",
        }
        for call in calls
    ]


VIEWS = {"/runs/{run}/samples/{row}": sample_page}
