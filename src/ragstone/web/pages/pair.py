"""One sample in two runs: changes in the answer, the chunks, the facts that they contain and the scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starlette.datastructures import QueryParams

from ragstone.compare.comparison import Comparison
from ragstone.compare.explain import find_row
from ragstone.compare.sample_evidence import Case
from ragstone.data.types import Chunk
from ragstone.report.run import DIRECTION
from ragstone.report.text import one_line
from ragstone.web.errors import NotFoundError
from ragstone.web.library import Library
from ragstone.web.navigation import neighbours, required_number
from ragstone.web.pages.comparison import changed_samples
from ragstone.web.pages.run import describe_run
from ragstone.web.pages.sample import describe_sample, read_sample
from ragstone.web.run_index import RunIndex
from ragstone.web.sample_data import Limits, fact_list
from ragstone.web.word_diff import word_diff


def pair_page(library: Library, query: QueryParams, before: str, after: str, row: str) -> dict[str, Any]:
    """A sample by its row number in run B, next to the matching sample of run A."""
    old, new, number = library.run(before), library.run(after), required_number(row, "sample")
    comparison = library.comparison(old, new)
    head = {
        "page": "pair",
        "before": describe_run(old),
        "after": describe_run(new),
        "address": f"/compare/{before}/{after}",
        "title": f"sample {number}, {one_line(new.name, 40)} against {one_line(old.name, 40)}",
    }
    if comparison is None:
        return {**head, "ready": False}
    rows = (_matching_row(comparison, number), number)
    indexes = (library.index(old), library.index(new))
    samples = [read_sample(index, str(row)) for index, row in zip(indexes, rows, strict=True)]
    first, second = (case for _, case, _ in samples)
    limits = Limits.read(query)
    return {
        **head,
        "ready": True,
        "sides": [describe_sample(case, outcome, row, limits) for row, case, outcome in samples],
        "addresses": [f"/runs/{run.id}/samples/{row}" for run, row in zip((old, new), rows, strict=True)],
        "walk": _walk(library, comparison, number, str(query.get("show", ""))),
        "answer": word_diff(first.sample.answer or "", second.sample.answer or ""),
        "chunks": _chunks(first.sample.contexts or [], second.sample.contexts or [], limits),
        "facts": _facts(first, second, limits),
        "scores": _scores(indexes, rows),
        "cut": limits.cut,
    }


def _matching_row(comparison: Comparison, row: int) -> int:
    positions = (comparison.pairs.after == row - 1).nonzero()[0]
    if not len(positions):
        raise NotFoundError(f"sample {row} of {comparison.after.id} has no match in {comparison.before.id}")
    return int(comparison.pairs.before[positions[0]]) + 1


def _walk(library: Library, comparison: Comparison, row: int, order: str) -> dict[str, Any]:
    """Return the links to the previous and the next changed sample."""
    ids = library.index(comparison.after).ids
    rows = [find_row(ids, sample.id) + 1 for sample in changed_samples(comparison, order)]
    base = f"/compare/{comparison.before.id}/{comparison.after.id}"
    query = "?show=gains" if order == "gains" else ""
    at = rows.index(row) if row in rows else None
    links = neighbours(len(rows), at, lambda position: f"{base}/samples/{rows[position]}{query}")
    return {**links, "back": f"{base}{query}#changed", "query": query}


def _chunks(before: Sequence[Chunk], after: Sequence[Chunk], limits: Limits) -> list[dict[str, Any]]:
    """Return the chunks of run B in rank order with their ranks in A, then the chunks that only A has."""
    left = dict(enumerate(before, 1))
    listed = []
    for rank, chunk in enumerate(after, 1):
        old = next((position for position, other in left.items() if _same(other, chunk)), None)
        partner = left.pop(old) if old is not None else None
        kind = "new" if partner is None else "same" if partner.text == chunk.text else "changed"
        changes = word_diff(partner.text, chunk.text) if partner and kind == "changed" else None
        listed.append(_chunk(kind, chunk, old, rank, changes, limits))
    return [*listed, *(_chunk("gone", chunk, rank, None, None, limits) for rank, chunk in left.items())]


def _same(one: Chunk, other: Chunk) -> bool:
    return one.id == other.id if one.id and other.id else one.text == other.text


def _chunk(
    kind: str, chunk: Chunk, before: int | None, after: int | None, changes: Any, limits: Limits
) -> dict[str, Any]:
    return {
        "kind": kind,
        "id": chunk.id or "",
        "before": before,
        "after": after,
        "text": limits.shorten(chunk.text),
        "diff": changes,
    }


def _facts(before: Case, after: Case, limits: Limits) -> list[dict[str, Any]]:
    """Return each fact of run B with its ranks in both runs. A fact found in only one run was gained or lost."""
    old = {fact["text"]: fact["ranks"] for fact in fact_list(before, limits)}
    facts = []
    for fact in fact_list(after, limits):
        had, has = old.get(fact["text"]), fact["ranks"]
        known = had is not None and has is not None
        change = "" if not known or bool(had) == bool(has) else "gained" if has else "lost"
        facts.append({"number": fact["number"], "text": fact["text"], "before": had, "after": has, "change": change})
    return facts


def _scores(indexes: tuple[RunIndex, RunIndex], rows: tuple[int, int]) -> list[dict[str, Any]]:
    both = [metric for metric in indexes[1].metrics if metric["metric"] in indexes[0].scores]
    scores = []
    for metric in both:
        old, new = (index.value(metric["metric"], row - 1) for index, row in zip(indexes, rows, strict=True))
        change = None if old is None or new is None else new - old
        gain = (change or 0.0) * {"higher": 1, "lower": -1}.get(metric["better"], 0)
        scores.append(
            {
                "metric": metric["metric"],
                "arrow": DIRECTION[metric["better"]].strip(),
                "before": old,
                "after": new,
                "change": change,
                "tone": "good" if gain > 0 else "bad" if gain < 0 else "none",
            }
        )
    return scores


VIEWS = {"/compare/{before}/{after}/samples/{row}": pair_page}
