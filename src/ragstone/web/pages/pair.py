"""One sample in two runs: what changed in the answer, in the chunks, in the facts that they hold, in the scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragstone.compare.cases import Case
from ragstone.compare.comparison import Comparison
from ragstone.compare.explanation import find_row
from ragstone.data.types import Chunk
from ragstone.report.plain import one_line
from ragstone.report.terminal import DIRECTION
from ragstone.storage.runs import Run
from ragstone.web.diffs import word_diff
from ragstone.web.errors import NotThereError
from ragstone.web.evidence import Limits, fact_list
from ragstone.web.index import RunIndex
from ragstone.web.library import Library
from ragstone.web.pages.comparing import in_order
from ragstone.web.pages.run import about
from ragstone.web.pages.sample import describe, read_sample


def pair_page(library: Library, before: Run, after: Run, row: int, query: Mapping[str, str]) -> dict[str, Any]:
    """A sample by its row number in the second run, beside its partner in the first."""
    found = library.comparison(before, after)
    names = {
        "page": "pair",
        "before": about(before),
        "after": about(after),
        "address": f"/compare/{before.id}/{after.id}",
        "title": f"sample {row}, {one_line(after.name, 40)} against {one_line(before.name, 40)}",
    }
    if found is None:
        return {**names, "ready": False}
    rows = (_partner(found, row), row)
    indexes = (library.index(before), library.index(after))
    read = [read_sample(index, place) for index, place in zip(indexes, rows, strict=True)]
    first, second = (case for case, _ in read)
    limits = Limits.read(query)
    sides = [describe(case, outcome, place, limits) for (case, outcome), place in zip(read, rows, strict=True)]
    return {
        **names,
        "ready": True,
        "sides": sides,
        "addresses": [f"/runs/{run.id}/samples/{place}" for run, place in zip((before, after), rows, strict=True)],
        "walk": _walk(library, found, row, str(query.get("show", ""))),
        "answer": word_diff(first.sample.answer or "", second.sample.answer or ""),
        "chunks": _chunks(first.sample.contexts or [], second.sample.contexts or [], limits),
        "facts": _facts(first, second, limits),
        "scores": _scores(indexes, rows),
        "cut": limits.cut,
    }


def _partner(found: Comparison, row: int) -> int:
    places = (found.pairs.after == row - 1).nonzero()[0]
    if not len(places):
        raise NotThereError(f"sample {row} of {found.after.id} has no partner in {found.before.id}")
    return int(found.pairs.before[places[0]]) + 1


def _walk(library: Library, found: Comparison, row: int, order: str) -> dict[str, Any]:
    """The neighbours among the samples that changed."""
    ids = library.index(found.after).ids
    rows = [find_row(ids, sample.id) + 1 for sample in in_order(found, order)]
    at = rows.index(row) if row in rows else None
    base = f"/compare/{found.before.id}/{found.after.id}"
    mark = "?show=gains" if order == "gains" else ""

    def address(place: int | None) -> str:
        return "" if place is None or not 0 <= place < len(rows) else f"{base}/samples/{rows[place]}{mark}"

    return {
        "place": None if at is None else at + 1,
        "of": len(rows),
        "previous": address(None if at is None else at - 1),
        "next": address(None if at is None else at + 1),
        "back": f"{base}{mark}#changed",
        "query": mark,
    }


def _chunks(before: Sequence[Chunk], after: Sequence[Chunk], limits: Limits) -> list[dict[str, Any]]:
    """The chunks of both, by their ranks in the second; then those that only the first has."""
    left = dict(enumerate(before, 1))
    listed = []
    for rank, chunk in enumerate(after, 1):
        old = next((place for place, other in left.items() if _same(other, chunk)), None)
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
    """Each fact of the second run with where it stands in both; what is only in one was gained or lost."""
    old = {fact["text"]: fact["ranks"] for fact in fact_list(before, limits)}
    found = []
    for fact in fact_list(after, limits):
        had, has = old.get(fact["text"]), fact["ranks"]
        known = had is not None and has is not None
        change = "" if not known or bool(had) == bool(has) else "gained" if has else "lost"
        found.append({"number": fact["number"], "text": fact["text"], "before": had, "after": has, "change": change})
    return found


def _scores(indexes: tuple[RunIndex, RunIndex], rows: tuple[int, int]) -> list[dict[str, Any]]:
    both = [metric for metric in indexes[1].metrics if metric["metric"] in indexes[0].scores]
    found = []
    for metric in both:
        old, new = (index.value(metric["metric"], row - 1) for index, row in zip(indexes, rows, strict=True))
        change = None if old is None or new is None else new - old
        gain = (
            0.0 if change is None or metric["better"] == "none" else -change if metric["better"] == "lower" else change
        )
        found.append(
            {
                "metric": metric["metric"],
                "arrow": DIRECTION[metric["better"]].strip(),
                "before": old,
                "after": new,
                "change": change,
                "tone": "good" if gain > 0 else "bad" if gain < 0 else "none",
            }
        )
    return found
