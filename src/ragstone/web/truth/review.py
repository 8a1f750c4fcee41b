"""Before saving: what the edits change, what others have saved meanwhile, and whose word counts where both did.

Nothing is lost on the way: edits stay in the browser until a version holds them, and a version is never overwritten.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ragstone.errors import TruthConflictError, UsageError
from ragstone.truth.cases import Case, TruthFact
from ragstone.truth.differences import count_changes, diff
from ragstone.truth.merging import Conflict, Merged, merge
from ragstone.truth.versions import Lineage
from ragstone.web.diffs import word_diff
from ragstone.web.library import Library
from ragstone.web.truth.addresses import case_address, truth_address, version_address
from ragstone.web.truth.changes import by_case, say
from ragstone.web.truth.edits import Edits, apply_edits, read_edits
from ragstone.web.truth.listing import about_version
from ragstone.web.truth.shelf import Held
from ragstone.web.truth.table import about_truth, read_version

MINE, THEIRS = "mine", "theirs"
_LONG = 8_000


def review_page(library: Library, name: str, form: Mapping[str, str], words: str = "") -> dict[str, Any]:
    """The edits as changes; where somebody has saved since they began, beside theirs."""
    shelf = library.truth
    base, edits = _read(library, name, form)
    newest = shelf.held(name)
    ours = apply_edits(base.cases, edits)
    mine, theirs = diff(base.cases, ours), diff(base.cases, newest.cases)
    merged = merge(base.cases, ours, newest.cases)
    # Choices were about the conflicts with the version that was newest then; with another they may be about something else.
    chosen = form if form.get("newest") == str(newest.info.number) else {}
    told, _ = by_case(name, mine, base.info.number, base.info.number)
    told_theirs, _ = by_case(name, theirs, base.info.number, newest.info.number)
    return {
        "page": "review",
        "title": f"{name}: review and save",
        "truth": about_truth(shelf, newest),
        "base": about_version(shelf, base.info),
        "newest": about_version(shelf, newest.info),
        "between": [about_version(shelf, info) for info in shelf.infos(name) if info.number > base.info.number],
        "words": words,
        "counts": count_changes(mine),
        "mine": told,
        "mine_in_all": len({change.case for change in mine}),
        "theirs": told_theirs,
        "theirs_in_all": len({change.case for change in theirs}),
        "conflicts": [_conflict(name, place, conflict, chosen) for place, conflict in enumerate(merged.conflicts)],
        "draft": {
            **{key: form.get(key, "") for key in ("v", "mark", "author", "note")},
            # In ASCII it comes back as it was, whatever pages do to text that could do harm.
            "edits": json.dumps(json.loads(form["edits"])),
        },
    }


def save(library: Library, name: str, form: Mapping[str, str]) -> dict[str, Any]:
    """A new version of the edits, merged with what others saved; the review again if more came or something is undecided."""
    base, edits = _read(library, name, form)
    author, note = form.get("author", "").strip()[:200], form.get("note", "").strip()[:2_000]
    if not author:
        return {**review_page(library, name, form, "Say who you are: a version names its author."), "status": 400}
    reviewed = read_version(form.get("newest", "") or str(base.info.number))
    newest = library.truth.held(name, reviewed)
    merged = merge(base.cases, apply_edits(base.cases, edits), newest.cases)
    choices = [form.get(f"choice-{place}", "") for place in range(len(merged.conflicts))]
    if any(choice not in (MINE, THEIRS) for choice in choices):
        return {
            **review_page(library, name, form, "Choose a side for every conflict below; then save again."),
            "status": 409,
        }
    cases = resolve(merged, choices)
    if cases == list(newest.cases):
        return {
            **review_page(library, name, form, "Nothing would change: the newest version says all this already."),
            "status": 400,
        }
    try:
        info = library.truth.save(name, cases, author, note, reviewed, _lineage(base, newest, merged, edits))
    except TruthConflictError as error:
        words = f"Version {error.newest} was saved in the meantime. Your edits are safe; look at both and save again."
        return {**review_page(library, name, form, words), "status": 409}
    return {
        "go": truth_address(name, saved=info.number, mark=form.get("mark", "")),
        "version": info.number,
        "address": version_address(name, info.number),
    }


def resolve(merged: Merged, choices: Sequence[str]) -> list[Case]:
    """The merged cases with the chosen side's word for each conflict."""
    cases: dict[str, Case] = {case.id: case for case in merged.cases}
    for conflict, choice in zip(merged.conflicts, choices, strict=True):
        value = conflict.ours if choice == MINE else conflict.theirs
        if conflict.field == "case" and value is None:
            cases.pop(conflict.case, None)
        elif conflict.field == "case":
            cases[conflict.case] = value
        elif conflict.case in cases:
            cases[conflict.case] = _decide(cases[conflict.case], conflict, value)
    return list(cases.values())


def _decide(case: Case, conflict: Conflict, value: Any) -> Case:
    if conflict.field != "facts":
        return replace(case, **{conflict.field: value})
    sides = [side for side in (conflict.base, conflict.ours, conflict.theirs) if side is not None]
    facts: list[TruthFact] = []
    decided = False
    for fact in case.facts:
        if fact.text != sides[0].text or decided:
            facts.append(fact)
            continue
        decided = True
        facts += [] if value is None else [value]
    return case.with_facts(facts if decided or value is None else [*facts, value])


def _read(library: Library, name: str, form: Mapping[str, str]) -> tuple[Held, Edits]:
    base = library.truth.held(name, read_version(form.get("v", "")))
    edits = read_edits(form.get("edits", ""))
    if not edits:
        raise UsageError("there is nothing to save: no case was edited")
    return base, edits


def _lineage(base: Held, newest: Held, merged: Merged, edits: Edits) -> Lineage:
    counts = {"edited": len(edits), "conflicts": len(merged.conflicts)}
    parents = (
        [base.info.reference]
        if base.info.number == newest.info.number
        else [base.info.reference, newest.info.reference]
    )
    return Lineage(sources=parents, tools={"editor": "ragstone view"}, counts=counts)


def _conflict(name: str, place: int, conflict: Conflict, form: Mapping[str, str]) -> dict[str, Any]:
    words = {"facts": "a fact", "references": "the answers", "case": "the whole case"}
    base, ours, theirs = (
        None if side is None else say(side)[:_LONG] for side in (conflict.base, conflict.ours, conflict.theirs)
    )
    return {
        "number": place,
        "case": conflict.case,
        "address": case_address(name, conflict.case),
        "field": words.get(conflict.field, f"the {conflict.field}"),
        "base": base,
        "mine": ours,
        "theirs": theirs,
        "mine_diff": None if ours is None else word_diff(base or "", ours),
        "theirs_diff": None if theirs is None else word_diff(base or "", theirs),
        "choice": form.get(f"choice-{place}", ""),
    }
