"""The page of one sample: question, answer and reference, claims with verdicts, chunks, scores and judge replies."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from starlette.datastructures import QueryParams

from ragstone.analysis.cause_names import Outcome
from ragstone.analysis.causes import find_causes
from ragstone.analysis.diagnosis import with_reasons
from ragstone.analysis.explain import Cell, Working, find_row, work_out
from ragstone.analysis.sample_evidence import NEEDED, Case, read_cases_at
from ragstone.data.verdict import SIGNS
from ragstone.engine.metric_choice import pick_headlines
from ragstone.errors import UnknownNameError, UsageError
from ragstone.registry.expression import Metric, parse_metric
from ragstone.report.explain import evidence_json
from ragstone.report.html.run_page import describe_run
from ragstone.storage.run_info import MetricInfo
from ragstone.storage.runs import Run, read_batches, read_rows, read_table
from ragstone.storage.scores import OK, unless_nan
from ragstone.text.languages import foreign_language
from ragstone.views.judged_items import count_view
from ragstone.views.marks import Limits, Piece
from ragstone.views.phrases import counted, one_line
from ragstone.views.run import arrow_of, judge_failure, part_of
from ragstone.views.sample import ChunkView, ClaimView, SampleView, sample_view
from ragstone.views.system_strip import SampleUsage
from ragstone.web.evidence_links import EvidenceLinks
from ragstone.web.label_bar import label_parts
from ragstone.web.library import Library
from ragstone.web.navigation import NotFoundError, neighbours, required_number, whole_number
from ragstone.web.pages.chunk_images import with_images
from ragstone.web.pages.run import judgements_of, read_state
from ragstone.web.run_index import RunIndex
from ragstone.web.truth.rescore import cases_of

_STATES = ("ok", "skipped", "failed")
_MAX_INPUT = 400
_MAX_ID = 2_000
_MOST_TELLING = 8
# The parts of the view at the head of a page.
_HEAD = [
    *("id", "row", "question", "references", "unanswerable", "metadata", "other_answers", "why", "cause"),
    *("meaning", "part", "status", "wrong", "labelled", "undecided", "looked", "findings"),
]
_OF_THE_ANSWER = ("answer_claims_in_contexts", "answer_claims_in_reference", "reference_claims_in_answer")
_LANGUAGES = {
    "ar": "Arabic", "cs": "Czech", "da": "Danish", "de": "German", "el": "Greek", "en": "English", "es": "Spanish", "fi": "Finnish",
    "fr": "French", "he": "Hebrew", "hi": "Hindi", "id": "Indonesian", "it": "Italian", "ja": "Japanese", "ko": "Korean",
    "nl": "Dutch", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "sv": "Swedish", "th": "Thai",
    "tr": "Turkish", "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip


def sample_page(library: Library, query: QueryParams, run: str, row: str) -> dict[str, Any]:
    """A sample by its row number from 1; an id leads to its row. The query is that of the table from which it was opened."""
    index = library.index(library.run(run))
    if not 1 <= (whole_number(row) or 0) <= len(index.ids):
        return {"go": f"/runs/{index.run.id}/samples/{_row_of(index, row[:_MAX_ID]) + 1}"}
    at, case, outcome = read_sample(index, row, index.run.info.evidence)
    limits = Limits.read(query)
    view = sample_view(at, case, outcome, limits=limits, quality=unless_nan(index.quality[at - 1]))
    links = EvidenceLinks(case, outcome, limits.size)
    scores = explained_scores(index, at - 1, case)
    bar, steps, forms = label_parts(library, index.run, at, case, query, walk(library, index, at, query))
    return {
        "page": "sample",
        "title": f"{one_line(view.id, 60)} in {one_line(index.run.name, 60)}",
        "run": describe_run(index.run),
        "sample": describe_sample(view),
        "system": SampleUsage.of(library.usage(index.run), at - 1),
        "quality": view.quality,
        "share": f"/runs/{index.run.id}/samples/{at}",
        "walk": steps,
        "labelling": bar,
        "conversation": {"turns": view.turns, "standalone": view.standalone, "rewritten": view.rewritten},
        "conversation_address": _conversation(library, index.run, at, bool(view.turns)),
        "claims": [
            {
                "whose": group.whose,
                "other": group.other,
                "rows": [
                    {**_linked(row, group.whose, links), "targets": forms.get(f"{group.whose}-{row.number}", [])}
                    for row in group.rows
                ],
            }
            for group in view.claims
        ],
        "facts": [_linked(fact, "fact", links) for fact in view.facts],
        "judged": view.judged,
        "steps": view.steps,
        "chunks": _chunks(case, with_images(index.run, at, view.chunks, case), limits, links),
        "matrix": links.matrix(),
        "scores": scores,
        "not_computed": {name: str(reason) for name, reason in index.run.info.skipped.items()},
        "judge": _judge(index, case, scores),
        "local": index.run.info.uses_local_judge,
        "calls": _calls(index.run, case.sample.id, limits),
        "truths": cases_of(library, case.sample.id, case.sample.question, run),
        "raw": bool(query.get("raw")),
        "cut": limits.cut,
    }


def _row_of(index: RunIndex, name: str) -> int:
    """Return the row of a sample by its id, from 0. An id in an address may be anything."""
    try:
        return find_row(index.ids, name)
    except UnknownNameError as error:
        words = str(error).replace(name, one_line(name, 80), 1)
        raise NotFoundError(words, f"/runs/{index.run.id}#samples") from None


def _conversation(library: Library, run: Run, row: int, has_history: bool) -> str:
    """Return the address of the conversation of a row; empty if it has none."""
    has_turns = has_history or any(row - 1 in rows for rows in library.conversations(run).values())
    return f"/runs/{run.id}/conversations/{row}" if has_turns else ""


def read_sample(index: RunIndex, row: str, names: Collection[str] = NEEDED) -> tuple[int, Case, Outcome]:
    """Return the row number of a sample, its evidence (by default what causes need) and its causes of failure."""
    at = required_number(row, "sample")
    if not 1 <= at <= len(index.ids):
        raise NotFoundError(f"run {index.run.id} has no sample {at}; its samples are 1 to {len(index.ids):,}")
    case = read_cases_at(index.run, [at - 1], names)[at - 1]
    [outcome] = with_reasons(index.run, [find_causes(case)])
    return at, case, outcome


def describe_sample(view: SampleView) -> dict[str, Any]:
    """Return the texts of a sample and its main cause of failure as page data."""
    claims = {claim.number: claim for group in view.claims if group.whose == "answer" for claim in group.rows}
    answer = view.answer and [
        _answer_piece(piece, [claims[number] for number in piece.numbers]) for piece in view.answer
    ]
    return {"answer": answer, **{name: getattr(view, name) for name in _HEAD}}


def _answer_piece(piece: Piece, claims: Sequence[ClaimView]) -> dict[str, Any]:
    """Return a piece of the answer with the labels of its claims, and the chunks that support or contradict them."""
    labels = [_answer_label(claim) for claim in claims]
    return {
        **vars(piece),
        "says": sorted({rank for claim in claims for rank in claim.says}),
        "denies": sorted({rank for claim in claims for rank in claim.denies}),
        "keys": [label["key"] for label in labels],
        "labels": labels,
    }


def _answer_label(claim: ClaimView) -> dict[str, str]:
    words = "".join(
        f", {verb} by chunk {', '.join(map(str, ranks))}"
        for verb, ranks in (("supported", claim.says), ("contradicted", claim.denies))
        if ranks
    )
    turn = f", supported by earlier turn {claim.turn}" if claim.turn else ""
    key, text = f"answer-{claim.number}", f"{SIGNS[claim.tone]} A{claim.number}"
    return {"key": key, "text": text, "words": f"claim {claim.number}{words}{turn}"}


def walk(library: Library, index: RunIndex, row: int, query: QueryParams, page: str = "") -> dict[str, Any]:
    """Return links to the previous and next sample in table order, and to the other pages of this sample."""
    state = read_state(index, query).but(page=1)
    order, _ = index.select(state, judgements_of(library, index))
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


def _linked(row: Any, kind: str, links: EvidenceLinks) -> dict[str, Any]:
    """Return a claim or fact with the sentences of the chunks that are nearest to it."""
    key = f"{kind}-{row.number}"
    return {**vars(row), "key": key, "label": f"{kind[0].upper()}{row.number}", "quotes": links.quotes(key)}


def _chunks(
    case: Case, views: Sequence[ChunkView] | None, limits: Limits, links: EvidenceLinks
) -> list[dict[str, Any]] | None:
    """Return the chunks with the claims and facts that are linked to their sentences."""
    if views is None:
        return None
    chunks = []
    for chunk, given in zip(views, case.sample.contexts or (), strict=True):
        rest = limits.rest(given.text)
        evidence = [
            {"key": one.key, "label": one.label, "state": one.state, "tone": one.tone, "address": f"#{one.anchor}"}
            for one in links.in_chunk(chunk.rank)
        ]
        pieces = [*links.pieces(chunk.rank), *([{"text": rest, "numbers": []}] if rest else [])]
        chunks.append({**vars(chunk), "pieces": pieces, "evidence": evidence})
    return chunks


def explained_scores(index: RunIndex, row: int, case: Case) -> list[dict[str, Any]]:
    """Return the scores of a sample. Reasons are read from the file only if a score has no value."""
    incomplete = any(scores.states[row] != OK for scores in index.scores.values())
    reasons = _reasons(index, case.sample.id) if incomplete else {}
    # A quantile of the rows has the value of the mean in each row.
    metrics = [item for item in index.metrics if (known := _parse(item.metric)) is None or known.quantile is None]
    cells = [_cell(index, row, metric["metric"], reasons) for metric in metrics]
    workings = work_out([(cell, _parse(cell.metric)) for cell in cells], case)
    telling = _telling(index, metrics, row)
    listed = [
        _score(case, metric, working, index.mean(metric.metric))
        for metric, working in zip(metrics, workings, strict=True)
    ]
    return [{**score, "telling": score["metric"] in telling or score["status"] == "failed"} for score in listed]


def _telling(index: RunIndex, metrics: Sequence[MetricInfo], row: int) -> set[str]:
    """The headline scores that are furthest below the mean of the run, at most eight."""
    picked = pick_headlines([metric.metric for metric in metrics])
    behind = {
        metric.metric: (value - mean) * (-1.0 if metric.better == "lower" else 1.0)
        for metric in metrics
        if metric.metric in picked
        and (value := index.value(metric.metric, row)) is not None
        and (mean := index.mean(metric.metric)) is not None
    }
    return set(sorted(behind, key=behind.__getitem__)[:_MOST_TELLING])


def _cell(index: RunIndex, row: int, name: str, reasons: dict[str, str]) -> Cell:
    return Cell(name, index.value(name, row), _STATES[int(index.scores[name].states[row])], reasons.get(name))


def _bar(metric: MetricInfo, value: float | None, mean: float | None) -> dict[str, Any] | None:
    """A score and the mean of the run as places from 0 to 100 between the bounds; None without bounds or value."""
    low, high = metric.bounds
    if value is None or mean is None or low is None or high is None:
        return None
    value, mean = ((one - low) / (high - low) * 100 for one in (value, mean))
    worse = value > mean if metric.better == "lower" else value < mean
    tone = "silent" if metric.better == "none" else "bad" if worse else "good"
    return {"value": round(value, 1), "mean": round(min(mean, 99.0), 1), "tone": tone}


def _score(case: Case, metric: MetricInfo, working: Working, mean: float | None) -> dict[str, Any]:
    cell, signature = working.cell, metric.signature
    return {
        "metric": cell.metric,
        "part": part_of(metric),
        "mean": mean,
        "bar": _bar(metric, cell.value, mean),
        "arrow": arrow_of(metric.better),
        "value": cell.value,
        "status": cell.status,
        "reason": cell.reason or "",
        "judged": bool(signature.llms or signature.uses_local_judge or signature.trained_judge),
        "meaning": working.meaning,
        "formula": working.formula,
        "counts": [count_view(case, count, cell.metric) for count in working.counts],
        "inputs": {} if working.counts else {key: _input(value) for key, value in working.inputs.items()},
    }


def _parse(name: str) -> Metric | None:
    try:
        return parse_metric(name, stored=True)
    except UsageError:  # a metric of the user that is not defined here
        return None


def _input(value: Any) -> str:
    return one_line(json.dumps(evidence_json(value), ensure_ascii=False, default=str), _MAX_INPUT)


def _reasons(index: RunIndex, sample: str) -> dict[str, str]:
    reasons: dict[str, str] = {}
    wanted = pa.scalar(sample, pa.string())
    for batch in read_batches(index.run.folder.scores, ["sample_id", "metric", "reason"]):
        rows = batch.filter(pc.equal(batch["sample_id"], wanted))
        reasons |= {row["metric"]: row["reason"] or "" for row in rows.to_pylist()}
    return reasons


def _judge(index: RunIndex, case: Case, scores: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return what limits the verdicts: a judge that failed in this run or for this sample, and other languages."""
    failed = [score for score in scores if score["judged"] and score["status"] == "failed"]
    judged = sum(score["judged"] for score in scores)
    here = ""
    if failed and 2 * len(failed) >= judged:
        here = f"The judge failed for {len(failed)} of {counted(judged, 'score')} here. Reason: {failed[0]['reason']}"
    sample = case.sample
    # An answer that the judge did not read has no verdicts that may be wrong.
    answers = [sample.answer or ""] if any(map(case.has, _OF_THE_ANSWER)) else []
    texts = [*answers, *(sample.references or ()), " ".join(c.text for c in (sample.contexts or ())[:3])]
    reads = index.run.info.judge_languages
    found = (foreign_language(text, reads) for text in texts) if case.judged_locally else ()
    language = next(filter(None, found), "")
    names = [_LANGUAGES.get(name, name) for name in reads]
    skipped = next((one["reason"] for one in scores if one["judged"] and one["status"] == "skipped"), "")
    return {
        "failure": judge_failure(index.run) or here,
        "language": _LANGUAGES.get(language, f"not {' or '.join(names)}" if language else ""),
        "reads": names,
        "skipped": skipped if not case.claims("answer") and not case.claims("reference") else "",
        "local": case.judged_locally,
    }


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


# Ids may contain slashes.
VIEWS = {"/runs/{run}/samples/{row:path}": sample_page}
