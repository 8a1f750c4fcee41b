"""One sample in two runs: changes in the answer, the claims, the chunks, the facts that they contain and the scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import numpy as np
from starlette.datastructures import QueryParams

from ragstone.analysis.alignment import align
from ragstone.analysis.cause_names import Outcome
from ragstone.analysis.comparison import Comparison
from ragstone.analysis.sample_evidence import Case
from ragstone.data.types import Chunk
from ragstone.report.html.marked_text import overlay
from ragstone.report.html.run_page import describe_run
from ragstone.storage.runs import Run
from ragstone.text.word_diff import is_readable, word_diff
from ragstone.views.marks import Limits, mark_facts
from ragstone.views.phrases import one_line
from ragstone.views.run import arrow_of, headline_metrics
from ragstone.views.sample import ClaimView, SampleView, chunk_marks, holds_what_is_needed, sample_view
from ragstone.web.library import Library
from ragstone.web.navigation import NotFoundError, neighbours, required_number
from ragstone.web.pages.comparison import read_pairs
from ragstone.web.pages.sample import describe_sample, read_sample
from ragstone.web.run_index import RunIndex

# Chunks that only one run retrieved come first.
_ORDER = {"gone": 0, "new": 0, "changed": 1, "same": 2}
# Further runs in addition to A and B.
_MAX_OTHERS = 6
Ranks = tuple[int | None, int | None]
Examined = tuple[Case, Outcome]


def pair_page(library: Library, query: QueryParams, before: str, after: str, row: str) -> dict[str, Any]:
    """A sample by its row number in run B, next to the matching sample of run A."""
    old, new, number = library.run(before), library.run(after), required_number(row, "sample")
    comparison = library.comparison(old, new)
    head = {
        "page": "pair",
        "before": describe_run(old),
        "after": describe_run(new),
        "address": f"/compare/{before}/{after}",
        "title": f"sample {number}, {one_line(old.name, 40)} → {one_line(new.name, 40)}",
    }
    if comparison is None:
        return {**head, "ready": False, "steps": library.comparison_steps(old, new)}
    rows = (_matching_row(comparison, number), number)
    indexes = (library.index(old), library.index(new))
    samples = [read_sample(index, str(row)) for index, row in zip(indexes, rows, strict=True)]
    first, second = (case for _, case, _ in samples)
    limits = Limits.read(query)
    views = [sample_view(at, case, outcome, limits=limits) for at, case, outcome in samples]
    return {
        **head,
        "ready": True,
        "sides": [describe_sample(view) for view in views],
        "addresses": [f"/runs/{run.id}/samples/{row}" for run, row in zip((old, new), rows, strict=True)],
        "walk": _walk(library, comparison, number, query),
        **_answers(first, second, limits),
        "claims": _claims(views),
        "chunks": _chunks(samples[0][1:], samples[1][1:], limits),
        "facts": _facts(*views),
        "scores": _scores(indexes, rows),
        "others": [_other(library, new, samples, run, limits) for run in query.getlist("with")[:_MAX_OTHERS]],
        "cut": limits.cut,
    }


def _other(
    library: Library, new: Run, samples: Sequence[tuple[int, Case, Outcome]], name: str, limits: Limits
) -> dict[str, Any]:
    """Return the same sample in a further run, compared with the answer of A; without a side if the run does not have it."""
    run = library.run(name)
    pairs = align(run, new)
    [*rows] = pairs.before[pairs.after == samples[1][0] - 1].tolist()
    if not rows:
        return {**describe_run(run), "side": None}
    at, case, outcome = read_sample(library.index(run), str(rows[0] + 1))
    return {
        **describe_run(run),
        "side": describe_sample(sample_view(at, case, outcome, limits=limits)),
        "sample": f"/runs/{run.id}/samples/{at}",
        "text": _answers(samples[0][1], case, limits)["texts"][1],
    }


def _matching_row(comparison: Comparison, row: int) -> int:
    positions = (comparison.pairs.after == row - 1).nonzero()[0]
    if not len(positions):
        raise NotFoundError(f"sample {row} of {comparison.after.id} has no match in {comparison.before.id}")
    return int(comparison.pairs.before[positions[0]]) + 1


def _walk(library: Library, comparison: Comparison, row: int, query: QueryParams) -> dict[str, Any]:
    """Return the links to the previous and the next pair of the table from which this one was opened."""
    pairs, state, causes = read_pairs(library, comparison, query)
    state = state.but(page=1)
    rows = comparison.pairs.after[pairs.order(state, causes)]
    positions = np.flatnonzero(rows == row - 1)
    base = f"/compare/{comparison.before.id}/{comparison.after.id}"
    at = int(positions[0]) if len(positions) else None
    more = urlencode([("with", run) for run in query.getlist("with")[:_MAX_OTHERS]])
    kept = state.address if not more else f"{state.address}&{more}" if state.address else f"?{more}"
    links = neighbours(len(rows), at, lambda position: f"{base}/samples/{int(rows[position]) + 1}{kept}")
    return {**links, "back": f"{base}{state.address}#pairs", "query": kept}


def _answers(before: Case, after: Case, limits: Limits) -> dict[str, Any]:
    """Return both answers, and their word diff; `alike` says whether the diff is readable."""
    texts = [case.sample.answer for case in (before, after)]
    old, new = (limits.shorten(text or "") for text in texts)
    changes = word_diff(old, new)
    alike = None not in texts and is_readable(changes)
    shown = [
        None if text is None else overlay([(limits.shorten(text), ())], changes, kind, alike)
        for text, kind in zip(texts, ("gone", "new"), strict=True)
    ]
    return {"answer": changes, "alike": alike, "texts": shown}


def _claims(views: Sequence[SampleView]) -> dict[str, Any]:
    """Return the claims of each answer, and the claims of the reference with the verdicts of both runs."""
    sides = [{group.whose: group.rows for group in view.claims} for view in views]
    old, new = ({claim.text: claim for claim in side.get("reference", ())} for side in sides)
    reference: list[dict[str, Any]] = [
        {"number": number, "text": text, "before": old.get(text), "after": new.get(text)}
        for number, text in enumerate(dict.fromkeys([*new, *old]), 1)
    ]
    for claim in reference:
        claim["changed"] = _verdict(claim["before"]) != _verdict(claim["after"])
    reference.sort(key=lambda claim: not claim["changed"])
    return {"answer": [side.get("answer", ()) for side in sides], "reference": reference}


def _verdict(claim: ClaimView | None) -> tuple[Any, ...]:
    return () if claim is None else (claim.said and claim.said.tone, bool(claim.says), bool(claim.denies))


def _chunks(before: Examined, after: Examined, limits: Limits) -> list[dict[str, Any]]:
    """Return the chunks of both runs: those of only one run, then changed texts, then the others.

    In each group, chunks with evidence come first.
    """
    left = dict(enumerate(before[0].sample.contexts or (), 1))
    ranks: list[Ranks] = []
    for rank, chunk in enumerate(after[0].sample.contexts or (), 1):
        partner = next((position for position, other in left.items() if _same(other, chunk)), None)
        left.pop(partner or 0, None)
        ranks.append((partner, rank))
    numbers = _fact_numbers(before[0], after[0])
    chunks = [_chunk((before, after), both, numbers, limits) for both in [*ranks, *((rank, None) for rank in left)]]
    return sorted(chunks, key=lambda chunk: (_ORDER[chunk["kind"]], not chunk["facts"], not chunk["evidence"]))


def _same(one: Chunk, other: Chunk) -> bool:
    return one.id == other.id if one.id and other.id else one.text == other.text


def _fact_numbers(before: Case, after: Case) -> tuple[dict[int, int], dict[int, int]]:
    """Return the number on the page for each fact number of A and B: that of the fact with the same text in B."""
    shown = {fact.text: number for number, fact in enumerate(after.sample.facts or (), 1)}
    old = {number: shown[fact.text] for number, fact in enumerate(before.sample.facts or (), 1) if fact.text in shown}
    return old, {number: number for number in shown.values()}


def _chunk(
    sides: tuple[Examined, Examined], ranks: Ranks, numbers: tuple[Mapping[int, int], Mapping[int, int]], limits: Limits
) -> dict[str, Any]:
    """Return a chunk with its rank, text and marks in A and B; None if the run did not retrieve it."""
    old, new = (
        (case.sample.contexts or [])[rank - 1] if rank else None for (case, _), rank in zip(sides, ranks, strict=True)
    )
    kind = "gone" if new is None else "new" if old is None else "same" if old.text == new.text else "changed"
    changes = word_diff(old.text, new.text) if old and new and kind == "changed" else []
    alike = is_readable(changes)
    pieces = [
        overlay(_marked(case, rank, known, limits), changes, word, alike) if rank else None
        for (case, _), rank, known, word in zip(sides, ranks, numbers, ("gone", "new"), strict=True)
    ]
    marks = [list(chunk_marks(*side, rank)) if rank else None for side, rank in zip(sides, ranks, strict=True)]
    checked = [holds_what_is_needed(case, rank) for (case, _), rank in zip(sides, ranks, strict=True) if rank]
    shown = new or old or Chunk("")
    return {
        "kind": kind,
        "id": shown.id or "",
        "source": shown.source or "",
        "label": shown.label,
        "before": ranks[0],
        "after": ranks[1],
        "facts": sorted({number for side in pieces for piece in side or () for number in piece["numbers"]}),
        # None if the chunks were not checked for evidence.
        "evidence": True if any(marks) else None if None in checked else False,
        "alike": alike,
        "marks": marks,
        "pieces": pieces,
    }


def _marked(case: Case, rank: int, numbers: Mapping[int, int], limits: Limits) -> list[tuple[str, Sequence[int]]]:
    """Return the text of a chunk in parts with the numbers of their facts."""
    text = (case.sample.contexts or [])[rank - 1].shown
    matches = [match for match in case.evidence.get("fact_matches") or () if match.chunk == rank - 1]
    parts: list[tuple[str, Sequence[int]]] = [
        (piece.text, [numbers[number] for number in piece.numbers if number in numbers])
        for piece in mark_facts(text, matches, limits.size)
    ]
    return [*parts, (rest, ())] if (rest := limits.rest(text)) else parts


def _facts(before: SampleView, after: SampleView) -> list[dict[str, Any]]:
    """Return each fact of run B with its ranks in both runs, changed facts first.

    A fact found in only one run was gained or lost.
    """
    old = {fact.text: fact.ranks for fact in before.facts}
    facts = []
    for fact in after.facts:
        had, has = old.get(fact.text), fact.ranks
        known = had is not None and has is not None
        change = "" if not known or bool(had) == bool(has) else "gained" if has else "lost"
        facts.append({"number": fact.number, "text": fact.text, "before": had, "after": has, "change": change})
    return sorted(facts, key=lambda fact: ("lost", "gained", "").index(str(fact["change"])))


def _scores(indexes: tuple[RunIndex, RunIndex], rows: tuple[int, int]) -> list[dict[str, Any]]:
    """Return the scores of both runs: changed headline metrics, then the largest changes; metrics without direction last."""
    scores = []
    for metric in (metric for metric in indexes[1].metrics if metric["metric"] in indexes[0].scores):
        old, new = (index.value(metric["metric"], row - 1) for index, row in zip(indexes, rows, strict=True))
        change = None if old is None or new is None else new - old
        gain = (change or 0.0) * {"higher": 1, "lower": -1}.get(metric["better"], 0)
        scores.append(
            {
                "metric": metric["metric"],
                "arrow": arrow_of(metric["better"]),
                "before": old,
                "after": new,
                "change": change,
                "changed": old != new,
                "tone": "good" if gain > 0 else "bad" if gain < 0 else "none",
            }
        )
    first = {metric.metric for metric in headline_metrics(indexes[1].metrics)}
    return sorted(
        scores,
        key=lambda score: (
            not score["changed"],
            score["metric"] not in first,
            score["tone"] == "none",
            -abs(score["change"] or 0.0),
        ),
    )


VIEWS = {"/compare/{before}/{after}/samples/{row}": pair_page}
