"""The differences between two versions of a ground truth: per case, as word diffs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from itertools import groupby
from typing import Any

from ragstone.data.types import Chunk
from ragstone.text.word_diff import DiffPiece, word_diff
from ragstone.truth.diff import Change, count_changes, diff
from ragstone.truth.model import Case, TruthFact
from ragstone.views.phrases import one_line
from ragstone.web.library import Library
from ragstone.web.navigation import ListPage, NotFoundError, case_address, truth_address, whole_number
from ragstone.web.truth.versions import describe_truth, describe_version

_PAGE_SIZE = 50
_MAX_TEXT = 8_000
# Characters of long texts that are kept next to a change, and of long texts that are new or gone.
_KEPT = 80
_KEPT_CHANGED = 400
_FIELD_LABELS = {
    "references": "answer",
    "standing": "status of the answers",
    "reference_contexts": "reference context",
    "passages": "passage",
    "documents": "document",
}


def diff_page(library: Library, query: Mapping[str, str], name: str) -> dict[str, Any]:
    """The changes between two versions; by default between the newest version and its parent."""
    truths = library.truth
    newer = truths.load(name, whole_number(query.get("to")))
    earlier = whole_number(query.get("from")) or newer.info.parent
    if earlier is None:
        raise NotFoundError(
            f"version {newer.info.number} of {name} is the first version and has no earlier version to compare with"
        )
    older = truths.load(name, earlier)
    changes = diff(older.cases, newer.cases)
    page = describe_changes(name, changes, older.info.number, newer.info.number, whole_number(query.get("page")))
    entries = [entry for case in page.items for entry in case["changes"]]
    folded = False
    for entry in entries if not query.get("full") else ():
        short = [_fold(piece, at, len(entry["diff"])) for at, piece in enumerate(entry["diff"])]
        folded |= short != entry["diff"]
        entry["diff"] = short
    ends = {"from": older.info.number, "to": newer.info.number}
    return {
        "page": "truthdiff",
        "title": f"{name}: v{older.info.number} to v{newer.info.number}",
        "truth": describe_truth(truths, newer),
        "older": describe_version(truths, older.info),
        "newer": describe_version(truths, newer.info),
        "numbers": truths.numbers(name),
        "counts": count_changes(changes),
        "changes": page.items,
        "folded": truth_address(name, "diff", **ends, page=page.number, full=1) if folded else "",
        "at": page.number,
        "pages": page.pages,
        "links": page.links(lambda number: truth_address(name, "diff", **ends, page=number)),
        "turned": truth_address(name, "diff", **{"from": newer.info.number, "to": older.info.number}),
    }


def _fold(piece: DiffPiece, at: int, count: int) -> DiffPiece:
    """Return a piece without its middle if it is long; of unchanged text, only the words next to a change are kept."""
    changed = piece.kind != "same"
    head = _KEPT_CHANGED if changed else _KEPT if at else 0
    tail = _KEPT if changed or at < count - 1 else 0
    if len(piece.text) <= head + tail + 2 * _KEPT:
        return piece
    return replace(piece, text=f"{piece.text[:head]} […] {piece.text[len(piece.text) - tail :]}")


def describe_changes(
    name: str, changes: Sequence[Change], older: int, newer: int, page: int | None = None
) -> ListPage[dict[str, Any]]:
    """Return one page of the changed cases, each with all its changes."""
    groups = [list(group) for _, group in groupby(changes, key=lambda change: change.case)]
    return ListPage.cut(groups, page, _PAGE_SIZE).map(lambda group: _case(name, group, older, newer))


def _case(name: str, changes: Sequence[Change], older: int, newer: int) -> dict[str, Any]:
    first = changes[0]
    return {
        "id": one_line(first.case, 60),
        "question": one_line(first.question, 200),
        "kind": first.kind,
        "address": case_address(name, first.case, older if first.kind == "removed" else newer),
        "changes": [
            entry
            for change in changes
            if change.field
            for entry in _field_changes(change.field, change.before, change.after)
        ],
    }


def _field_changes(field: str, before: Any, after: Any) -> Iterable[dict[str, Any]]:
    """Yield the changes of a field as word diffs, one per entry for lists."""
    label = _FIELD_LABELS.get(field, field)
    if field == "facts":
        yield _fact(before, after)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _list_changes(label, [to_text(item) for item in before], [to_text(item) for item in after])
    else:
        yield _entry(label, "changed", to_text(before), to_text(after))


def _entry(label: str, kind: str, before: str, after: str) -> dict[str, Any]:
    return {"what": label, "kind": kind, "diff": word_diff(before[:_MAX_TEXT], after[:_MAX_TEXT])}


def _list_changes(label: str, before: Sequence[str], after: Sequence[str]) -> Iterable[dict[str, Any]]:
    """Yield the entries that were added, removed or changed."""
    gone = [text for text in before if text not in after]
    new = [text for text in after if text not in before]
    if not gone and not new:
        yield _entry(label, "order", "", " · ".join(one_line(text, 60) for text in after))
    yield from (_entry(label, "changed", old, text) for old, text in zip(gone, new, strict=False))
    yield from (_entry(label, "lost", old, "") for old in gone[len(new) :])
    yield from (_entry(label, "gained", "", text) for text in new[len(gone) :])


def _fact(before: TruthFact | None, after: TruthFact | None) -> dict[str, Any]:
    if before is None and after is not None:
        return {**_entry(f"{after.kind} fact", "gained", "", after.text), "notes": [after.standing]}
    if before is not None and after is None:
        return {**_entry(f"{before.kind} fact", "lost", before.text, ""), "notes": [before.standing]}
    text = after.text if after else ""
    notes = [
        f"{item.name}: {to_text(old)} → {to_text(new)}"
        for item in fields(TruthFact)
        if (old := getattr(before, item.name)) != (new := getattr(after, item.name))
    ]
    return {**_entry("fact", "changed", text, text), "notes": notes}


def to_text(value: Any) -> str:
    """Return a field value as text."""
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Chunk):
        return value.text
    if isinstance(value, TruthFact):
        return f"{value.text} ({value.standing})"
    if isinstance(value, Case):
        return "\n".join([value.question, *value.references, *(f"• {to_text(fact)}" for fact in value.facts)])
    if isinstance(value, list):
        return "\n".join(to_text(item) for item in value)
    return str(value)


VIEWS = {"/truth/{name}/diff": diff_page}
