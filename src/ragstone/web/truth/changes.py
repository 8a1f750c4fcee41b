"""Differences between two states of a ground truth as page data: by case, word by word."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from itertools import groupby
from typing import Any

from ragstone.data.types import Chunk
from ragstone.report.plain import one_line
from ragstone.truth.cases import Case, TruthFact
from ragstone.truth.differences import Change, count_changes, diff
from ragstone.web.diffs import word_diff
from ragstone.web.errors import NotThereError
from ragstone.web.library import Library
from ragstone.web.truth.addresses import case_address, truth_address
from ragstone.web.truth.listing import about_version
from ragstone.web.truth.table import about_truth, whole

SIZE = 50
_LONG = 8_000


def diff_page(library: Library, name: str, query: Mapping[str, str]) -> dict[str, Any]:
    """Two versions side by side; without their numbers the newest and the one it was made from."""
    shelf = library.truth
    newer = shelf.held(name, whole(query.get("to")))
    earlier = whole(query.get("from")) or newer.info.parent
    if earlier is None:
        raise NotThereError(f"version {newer.info.number} of {name} is the first: there is nothing to compare it with")
    older = shelf.held(name, earlier)
    changes = diff(older.cases, newer.cases)
    page = max(1, whole(query.get("page")) or 1)
    told, pages = by_case(name, changes, older.info.number, newer.info.number, page)
    ends = {"from": older.info.number, "to": newer.info.number}
    return {
        "page": "truthdiff",
        "title": f"{name}: v{older.info.number} to v{newer.info.number}",
        "truth": about_truth(shelf, newer),
        "older": about_version(shelf, older.info),
        "newer": about_version(shelf, newer.info),
        "numbers": shelf.numbers(name),
        "counts": count_changes(changes),
        "changes": told,
        "at": min(page, pages),
        "pages": pages,
        "links": {
            word: truth_address(name, "diff", **ends, page=number)
            for word, number in (("previous", page - 1), ("next", page + 1))
            if 1 <= number <= pages
        },
        "turned": truth_address(name, "diff", **{"from": newer.info.number, "to": older.info.number}),
    }


def by_case(
    name: str, changes: Sequence[Change], older: int | None, newer: int | None, page: int = 1
) -> tuple[list[dict[str, Any]], int]:
    """One page of the cases that changed, each with all its changes; and how many pages there are."""
    groups = [list(found) for _, found in groupby(changes, key=lambda change: change.case)]
    pages = max(1, -(-len(groups) // SIZE))
    page = min(page, pages)
    return [_case(name, group, older, newer) for group in groups[(page - 1) * SIZE : page * SIZE]], pages


def _case(name: str, changes: Sequence[Change], older: int | None, newer: int | None) -> dict[str, Any]:
    first = changes[0]
    return {
        "id": one_line(first.case, 60),
        "question": one_line(first.question, 200),
        "kind": first.kind,
        "address": case_address(name, first.case, older if first.kind == "removed" else newer),
        "changes": [
            told
            for change in changes
            if change.field
            for told in tell_change(change.field, change.before, change.after)
        ],
    }


def tell_change(field: str, before: Any, after: Any) -> Iterable[dict[str, Any]]:
    """A change of a field, as a diff of words; lists are told entry by entry."""
    if field == "facts":
        yield _fact(before, after)
        return
    if field == "question":
        yield {"what": "question", "kind": "changed", "diff": word_diff(before[:_LONG], after[:_LONG])}
        return
    if isinstance(before, list) and isinstance(after, list):
        yield from _lists(field, [say(item) for item in before], [say(item) for item in after])
        return
    yield {
        "what": _WORDS.get(field, field),
        "kind": "changed",
        "diff": word_diff(say(before)[:_LONG], say(after)[:_LONG]),
    }


_WORDS = {
    "references": "answer",
    "standing": "standing of the answers",
    "reference_contexts": "reference context",
    "passages": "passage",
    "documents": "document",
}


def _lists(field: str, before: Sequence[str], after: Sequence[str]) -> Iterable[dict[str, Any]]:
    """Entries that came, went, or changed in their place."""
    gone = [text for text in before if text not in after]
    new = [text for text in after if text not in before]
    what = _WORDS.get(field, field)
    if not gone and not new:
        yield {"what": what, "kind": "order", "diff": word_diff("", " · ".join(one_line(text, 60) for text in after))}
    for old, text in zip(gone, new, strict=False):
        yield {"what": what, "kind": "changed", "diff": word_diff(old[:_LONG], text[:_LONG])}
    for old in gone[len(new) :]:
        yield {"what": what, "kind": "lost", "diff": word_diff(old[:_LONG], "")}
    for text in new[len(gone) :]:
        yield {"what": what, "kind": "gained", "diff": word_diff("", text[:_LONG])}


def _fact(before: TruthFact | None, after: TruthFact | None) -> dict[str, Any]:
    if before is None or after is None:
        kept = before or after
        text = kept.text[:_LONG] if kept else ""
        kind = "gained" if before is None else "lost"
        pieces = word_diff("", text) if before is None else word_diff(text, "")
        return {
            "what": f"{kept.kind if kept else ''} fact",
            "kind": kind,
            "diff": pieces,
            "notes": [kept.standing] if kept else [],
        }
    notes = [
        f"{item.name}: {say(old)} → {say(new)}"
        for item in fields(TruthFact)
        if (old := getattr(before, item.name)) != (new := getattr(after, item.name))
    ]
    return {
        "what": "fact",
        "kind": "changed",
        "diff": word_diff(after.text[:_LONG], after.text[:_LONG]),
        "notes": notes,
    }


def say(value: Any) -> str:
    """A value in words."""
    if value is None:
        return "not known"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Chunk):
        return value.text
    if isinstance(value, TruthFact):
        return f"{value.text} ({value.standing})"
    if isinstance(value, Case):
        return "\n".join([value.question, *value.references, *(f"• {say(fact)}" for fact in value.facts)])
    if isinstance(value, list):
        return "\n".join(say(item) for item in value)
    return str(value)
