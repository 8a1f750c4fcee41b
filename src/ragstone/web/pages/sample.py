"""The page of one sample: question, answer and reference, claims with verdicts, chunks, scores and judge replies."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pyarrow.compute as pc
from starlette.datastructures import QueryParams

from ragstone.compare.cause_names import PROBABLE, Outcome, how_sure
from ragstone.compare.cause_texts import HOW_SURE
from ragstone.compare.causes import find_causes
from ragstone.compare.earlier_turns import earlier_turns, standalone_question, turn_behind
from ragstone.compare.sample_evidence import NEEDED, Case, read_cases_at
from ragstone.compare.unjudged import with_reasons
from ragstone.data.types import Sample
from ragstone.data.usage import OTHER_ANSWERS
from ragstone.report.html.sample_data import Piece, chunks_behind, claim_groups, finding_rows, mark_answer
from ragstone.report.judge_failure import judge_failure
from ragstone.report.judged_items import judged_groups
from ragstone.report.text import counted, one_line
from ragstone.storage.runs import Run, read_rows, read_table
from ragstone.storage.scores import unless_nan
from ragstone.text.languages import foreign_language
from ragstone.text.verbatim import plain_text
from ragstone.web.errors import NotFoundError
from ragstone.web.evidence_links import EvidenceLinks
from ragstone.web.library import Library
from ragstone.web.markdown_html import is_markdown
from ragstone.web.navigation import neighbours, required_number
from ragstone.web.pages.run import causes_of, describe_run, read_state
from ragstone.web.run_index import RunIndex
from ragstone.web.sample_data import Limits, chunk_list, fact_list
from ragstone.web.sample_scores import explained_scores
from ragstone.web.sample_steps import step_list
from ragstone.web.truth.related_runs import cases_of

# Splitting a text into sentences is slow. Longer answers are shown without marks.
_MAX_MARKED = 200_000
_MAX_TEASER = 160
# Longer earlier turns of a conversation are folded.
_MAX_TURN = 600
_OF_THE_ANSWER = ("answer_claims_in_contexts", "answer_claims_in_reference", "reference_claims_in_answer")
_SIGNS = {"entailment": "✓", "contradiction": "✗", "unsure": "?"}
_LANGUAGES = {
    "ar": "Arabic", "cs": "Czech", "da": "Danish", "de": "German", "el": "Greek", "en": "English", "es": "Spanish", "fi": "Finnish",
    "fr": "French", "he": "Hebrew", "hi": "Hindi", "id": "Indonesian", "it": "Italian", "ja": "Japanese", "ko": "Korean",
    "nl": "Dutch", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "sv": "Swedish", "th": "Thai",
    "tr": "Turkish", "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip


def sample_page(library: Library, query: QueryParams, run: str, row: str) -> dict[str, Any]:
    """A sample by its row number from 1. The query is that of the table from which it was opened."""
    index = library.index(library.run(run))
    at, case, outcome = read_sample(index, row, index.run.info.evidence)
    limits = Limits.read(query)
    links = EvidenceLinks(case, outcome, limits.size)
    scores = explained_scores(index, at - 1, case)
    texts = [case.sample.answer or "", *(case.sample.references or ()), *(c.text for c in case.sample.contexts or ())]
    return {
        "page": "sample",
        "title": f"{one_line(case.sample.id, 60)} in {one_line(index.run.name, 60)}",
        "run": describe_run(index.run),
        "sample": describe_sample(case, outcome, at, limits),
        "quality": unless_nan(index.quality[at - 1]),
        "walk": walk(library, index, at, query),
        "conversation": _conversation(case, limits),
        "claims": _claims(case, links),
        "facts": [_linked(fact, "fact", links) for fact in fact_list(case, limits)],
        "judged": _judged(case, limits),
        "steps": step_list(case, limits),
        "chunks": _chunks(case, outcome, limits, links),
        "matrix": links.matrix(),
        "scores": scores,
        "not_computed": {name: str(reason) for name, reason in index.run.info.skipped.items()},
        "judge": _judge(index, case, scores),
        "local": index.run.info.uses_local_judge,
        "calls": _calls(index.run, case.sample.id, limits),
        "truths": cases_of(library, case.sample.id, case.sample.question, run),
        "markdown": any(map(is_markdown, texts)),
        "raw": bool(query.get("raw")),
        "cut": limits.cut,
    }


def read_sample(index: RunIndex, row: str, names: Collection[str] = NEEDED) -> tuple[int, Case, Outcome]:
    """Return the row number of a sample, its evidence (by default what causes need) and its causes of failure."""
    at = required_number(row, "sample")
    if not 1 <= at <= len(index.ids):
        raise NotFoundError(f"run {index.run.id} has no sample {at}; its samples are 1 to {len(index.ids):,}")
    case = read_cases_at(index.run, [at - 1], names)[at - 1]
    [outcome] = with_reasons(index.run, [find_causes(case)])
    return at, case, outcome


def describe_sample(case: Case, outcome: Outcome, row: int, limits: Limits) -> dict[str, Any]:
    """Return the texts of a sample and its main cause of failure as page data."""
    sample = case.sample
    likely = outcome.probability(outcome.cause.name) if outcome.cause else None
    return {
        "id": sample.id,
        "row": row,
        "question": limits.shorten(sample.question or ""),
        "answer": None if sample.answer is None else _answer(case, limits),
        "references": [limits.shorten(text) for text in sample.references or ()],
        "unanswerable": sample.answerable is False,
        "metadata": {
            name: one_line(str(value), 200)
            for name, value in sample.metadata.items()
            if name != OTHER_ANSWERS and value not in (None, "")
        },
        "other_answers": [limits.shorten(text) for text in _other_answers(sample)],
        "cause": outcome.cause.name if outcome.cause else "",
        "meaning": outcome.cause.meaning if outcome.cause else "",
        "part": (outcome.cause.part or "") if outcome.cause else "",
        "sure": "" if likely is None else how_sure(likely),
        "possible": likely is not None and likely < PROBABLE,
        "how_sure": HOW_SURE if any(one.probability is not None for one in outcome.findings) else "",
        "undecided": outcome.undecided,
        "looked": bool(outcome.seen_by or outcome.findings),
        "findings": finding_rows(outcome),
    }


def _conversation(case: Case, limits: Limits) -> dict[str, Any]:
    """Return the earlier turns (long ones folded), and the question as the judge and the system completed it."""
    turns = [
        {
            "number": turn.number,
            "role": turn.role,
            "text": limits.shorten(turn.text),
            "chunks": turn.chunks,
            "claims": list(turn.claims),
            "folded": len(turn.text) > _MAX_TURN,
            "teaser": one_line(plain_text(turn.text[: 4 * _MAX_TEASER]), _MAX_TEASER),
        }
        for turn in earlier_turns(case)
    ]
    standalone = limits.shorten(standalone_question(case) or "")
    return {"turns": turns, "standalone": standalone, "rewritten": limits.shorten(case.sample.rewritten_question or "")}


def _other_answers(sample: Sample) -> list[str]:
    others = sample.metadata.get(OTHER_ANSWERS)
    return [str(text) for text in others] if isinstance(others, list) else []


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
    return [_answer_piece(case, piece) for piece in pieces]


def _answer_piece(case: Case, piece: Piece) -> dict[str, Any]:
    labels = [_answer_label(case, number) for number in piece.numbers]
    # A sentence is not called supported if the judge is unsure about one of its claims.
    unsure = piece.tone in ("", "good") and any(label["text"].startswith("?") for label in labels)
    return {
        "text": piece.text,
        "tone": "unsure" if unsure else piece.tone,
        "numbers": list(piece.numbers),
        **chunks_behind(case, piece.numbers),
        "keys": [label["key"] for label in labels],
        "labels": labels,
    }


def _answer_label(case: Case, number: int) -> dict[str, str]:
    """Return the sign of a claim by its own verdict: that of the reference, otherwise the clearest one of chunks and turns."""
    rows = case.matrix("answer_claims_in_contexts")
    row = rows[number - 1] if number <= len(rows) else []
    earlier = case.verdicts("answer_claims_in_history")[number - 1 : number]
    verdicts = case.verdicts("answer_claims_in_reference")[number - 1 : number] or [*row, *earlier]
    chunks = chunks_behind(case, [number])
    words = "".join(
        f", {verb} by chunk {', '.join(map(str, chunks[name]))}"
        for name, verb in (("says", "supported"), ("denies", "contradicted"))
        if chunks[name]
    )
    if turn := turn_behind(case, number):
        words += f", supported by earlier turn {turn}"
    sign = next((sign for word, sign in _SIGNS.items() if word in verdicts), "·")
    return {"key": f"answer-{number}", "text": f"{sign} A{number}", "words": f"claim {number}{words}"}


def _claims(case: Case, links: EvidenceLinks) -> list[dict[str, Any]]:
    """Return the claims with their verdicts and the sentences of the chunks that are nearest to them."""
    groups = claim_groups(case)
    for group in groups:
        group["rows"] = [_linked(claim, group["whose"], links) for claim in group["rows"]]
    return groups


def _judged(case: Case, limits: Limits) -> list[dict[str, Any]]:
    """Return nuggets, checklists and reasons, with long texts shortened."""
    groups = judged_groups(case)
    for row in (row for group in groups for row in group["rows"]):
        row |= {name: limits.shorten(row[name]) for name in ("text", "reason")}
    return groups


def _linked(row: dict[str, Any], kind: str, links: EvidenceLinks) -> dict[str, Any]:
    key = f"{kind}-{row['number']}"
    parts = [link.rank for link in links.of(key) if link.state == "part"]
    return {
        **row,
        "key": key,
        "label": f"{kind[0].upper()}{row['number']}",
        "quotes": links.quotes(key),
        "parts": parts,
    }


def _chunks(case: Case, outcome: Outcome, limits: Limits, links: EvidenceLinks) -> list[dict[str, Any]] | None:
    """Return the chunks in rank order. A chunk without evidence is folded, if chunks were checked."""
    chunks = chunk_list(case, outcome, limits)
    checked = bool(links.all) or bool(case.sample.relevance)
    for chunk, given in zip(chunks or (), case.sample.contexts or (), strict=True):
        found = links.in_chunk(chunk["rank"])
        rest = limits.rest(given.text)
        chunk["pieces"] = [*links.pieces(chunk["rank"]), *([{"text": rest, "numbers": []}] if rest else [])]
        chunk["evidence"] = [
            {"key": one.key, "label": one.label, "state": one.state, "tone": one.tone, "address": f"#{one.anchor}"}
            for one in found
        ]
        needed = bool(chunk["relevance"]) and chunk["relevance"].tone == "good"
        chunk["graded"] = bool(case.sample.relevance)
        chunk["folded"] = checked and not found and not needed
        chunk["teaser"] = one_line(plain_text(given.text[: 4 * _MAX_TEASER]), _MAX_TEASER)
    return chunks


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


VIEWS = {"/runs/{run}/samples/{row}": sample_page}
