"""Reviews and saves the edits of a browser: validated, applied to their base version, merged with newer versions.

No edit is lost: edits stay in the browser until a version contains them, and versions are never overwritten.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ragstone.errors import TruthConflictError, UsageError
from ragstone.truth.diff import Conflict, Merged, count_changes, diff, merge
from ragstone.truth.model import Case, Standing, TruthFact
from ragstone.truth.store import Lineage
from ragstone.web.library import Library
from ragstone.web.navigation import case_address, required_number, truth_address, version_address
from ragstone.web.truth.diff import describe_changes, to_text
from ragstone.web.truth.store import LoadedVersion
from ragstone.web.truth.versions import describe_truth, describe_version
from ragstone.web.word_diff import word_diff

_MAX_CHARACTERS = 2_000_000
_MAX_SHOWN = 8_000
_MINE, _THEIRS = "mine", "theirs"


class FactEdit(BaseModel):
    """A fact as the editor sends it."""

    model_config = ConfigDict(extra="forbid", strict=True)

    text: str = Field(max_length=_MAX_CHARACTERS)
    kind: str = Field(default="citation", min_length=1, max_length=100)
    source: str | None = None
    # Not restricted to our own values: any stored provenance can be saved again.
    provenance: str = Field(default="manual", min_length=1, max_length=100)
    standing: Standing = "accepted"
    confidence: float | None = Field(default=None, allow_inf_nan=False)
    note: str | None = None
    importance: Literal["vital", "okay"] | None = None


class CaseEdit(BaseModel):
    """The changed fields of a case; fields that are not set are unchanged."""

    model_config = ConfigDict(extra="forbid", strict=True)

    question: str = Field(default="", max_length=_MAX_CHARACTERS)
    references: list[str] = []
    facts: list[FactEdit] = []
    answerable: bool | None = None
    standing: Standing = "accepted"
    added: bool = False
    removed: bool = False

    def apply(self, case: Case) -> Case:
        """Return the changed case. New texts are trimmed, existing texts are kept, blank ones are dropped."""
        changes: dict[str, Any] = {}
        if "question" in self.model_fields_set:
            changes["question"] = _trimmed(self.question, [case.question])
        if "references" in self.model_fields_set:
            changes["references"] = [_trimmed(text, case.references) for text in self.references if text.strip()]
        if "facts" in self.model_fields_set:
            known = [fact.text for fact in case.facts]
            facts = [fact.model_dump() for fact in self.facts if fact.text.strip()]
            changes["facts"] = [TruthFact(**{**fact, "text": _trimmed(fact["text"], known)}) for fact in facts]
        changes |= {name: getattr(self, name) for name in ("answerable", "standing") if name in self.model_fields_set}
        return replace(case, **changes)


def _trimmed(text: str, known: Sequence[str]) -> str:
    return text if text in known else text.strip()


Edits = Mapping[str, CaseEdit]


def read_edits(text: str) -> Edits:
    """Parse the JSON of a draft; an invalid edit raises UsageError with its position."""
    try:
        edits = json.loads(text)
        text.encode()
        json.dumps(edits, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise UsageError("the edits contain half a character (a lone surrogate); remove it and save again") from None
    except (ValueError, RecursionError):
        raise UsageError("the edits cannot be read: they are not JSON") from None
    if not isinstance(edits, dict) or not all(edits):
        raise UsageError("the edits cannot be read: they are not an object of cases by id")
    return {name: _edit(name, value) for name, value in edits.items()}


def apply_edits(cases: Sequence[Case], edits: Edits) -> list[Case]:
    """Return the edited cases, new cases last."""
    known = {case.id for case in cases}
    for name, edit in edits.items():
        if (name in known) == edit.added:
            known_id, missing = "already exists, choose another id", "is not in the base version of the edits"
            raise UsageError(f"case {name[:200]} {known_id if edit.added else missing}")
    unchanged = CaseEdit()
    kept = [(case, edits.get(case.id, unchanged)) for case in cases]
    new = [(Case(name, question=""), edit) for name, edit in edits.items() if edit.added]
    return [edit.apply(case) for case, edit in (*kept, *new) if not edit.removed]


def _edit(name: str, value: Any) -> CaseEdit:
    try:
        return CaseEdit.model_validate(value)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        position = ".".join(map(str, problem["loc"]))
        raise UsageError(f"case {name[:200]}: {position}: {problem['msg']}") from None


def review_page(library: Library, form: Mapping[str, str], name: str, **more: Any) -> dict[str, Any]:
    """The edits as changes, with the changes that others have saved since the base version and the conflicts."""
    truths = library.truth
    base, edits = _read(library, name, form)
    newest = truths.load(name)
    ours = apply_edits(base.cases, edits)
    mine, theirs = diff(base.cases, ours), diff(base.cases, newest.cases)
    merged = merge(base.cases, ours, newest.cases)
    # Choices are valid only for conflicts with the version that was the newest at that time.
    chosen = form if form.get("newest") == str(newest.info.number) else {}
    base_number, newest_number = base.info.number, newest.info.number
    return {
        "page": "review",
        "title": f"{name}: review and save",
        "truth": describe_truth(truths, newest),
        "base": describe_version(truths, base.info),
        "newest": describe_version(truths, newest.info),
        "between": [describe_version(truths, info) for info in truths.infos(name) if info.number > base_number],
        "words": "",
        "counts": count_changes(mine),
        "mine": describe_changes(name, mine, base_number, base_number).items,
        "mine_in_all": len({change.case for change in mine}),
        "theirs": describe_changes(name, theirs, base_number, newest_number).items,
        "theirs_in_all": len({change.case for change in theirs}),
        "conflicts": [_conflict(name, number, conflict, chosen) for number, conflict in enumerate(merged.conflicts)],
        "draft": {
            **{key: form.get(key, "") for key in ("v", "mark", "author", "note")},
            # ASCII only, so that making control characters visible does not change the edits.
            "edits": json.dumps(json.loads(form["edits"])),
        },
        **more,
    }


def save(library: Library, form: Mapping[str, str], name: str) -> dict[str, Any]:
    """Save the merged edits as a new version; show the review again if a conflict is open or a newer version exists."""

    def again(status: int, words: str) -> dict[str, Any]:
        return review_page(library, form, name, status=status, words=words)

    base, edits = _read(library, name, form)
    author, note = form.get("author", "").strip()[:200], form.get("note", "").strip()[:2_000]
    if not author:
        return again(400, "Enter an author: every version records one.")
    reviewed = required_number(form.get("newest", "") or str(base.info.number), "version")
    newest = library.truth.load(name, reviewed)
    merged = merge(base.cases, apply_edits(base.cases, edits), newest.cases)
    choices = [form.get(f"choice-{number}", "") for number in range(len(merged.conflicts))]
    if any(choice not in (_MINE, _THEIRS) for choice in choices):
        return again(409, "Choose a side for every conflict below, then save again.")
    cases = resolve(merged, choices)
    if cases == list(newest.cases):
        return again(400, "Nothing would change: the newest version already contains these edits.")
    try:
        info = library.truth.save(name, cases, author, note, reviewed, _lineage(base, newest, merged, edits))
    except TruthConflictError as error:
        words = f"Version {error.newest} was saved in the meantime. Your edits are kept: review both and save again."
        return again(409, words)
    return {
        "go": truth_address(name, saved=info.number, mark=form.get("mark", "")),
        "version": info.number,
        "address": version_address(name, info.number),
    }


def resolve(merged: Merged, choices: Sequence[str]) -> list[Case]:
    """Return the merged cases with the chosen side of each conflict."""
    cases: dict[str, Case] = {case.id: case for case in merged.cases}
    for conflict, choice in zip(merged.conflicts, choices, strict=True):
        value = conflict.ours if choice == _MINE else conflict.theirs
        if conflict.field == "case" and value is None:
            cases.pop(conflict.case, None)
        elif conflict.field == "case":
            cases[conflict.case] = value
        elif conflict.case in cases:
            cases[conflict.case] = _with_choice(cases[conflict.case], conflict, value)
    return list(cases.values())


def _with_choice(case: Case, conflict: Conflict, value: Any) -> Case:
    if conflict.field != "facts":
        return replace(case, **{conflict.field: value})
    sides = [side for side in (conflict.base, conflict.ours, conflict.theirs) if side is not None]
    facts, chosen = case.facts, [] if value is None else [value]
    at = next((position for position, fact in enumerate(facts) if fact.text == sides[0].text), len(facts))
    return case.with_facts([*facts[:at], *chosen, *facts[at + 1 :]])


def _read(library: Library, name: str, form: Mapping[str, str]) -> tuple[LoadedVersion, Edits]:
    base = library.truth.load(name, required_number(form.get("v", ""), "version"))
    edits = read_edits(form.get("edits", ""))
    if not edits:
        raise UsageError("there is nothing to save: no case was edited")
    return base, edits


def _lineage(base: LoadedVersion, newest: LoadedVersion, merged: Merged, edits: Edits) -> Lineage:
    counts = {"edited": len(edits), "conflicts": len(merged.conflicts)}
    parents = list(dict.fromkeys([base.info.reference, newest.info.reference]))
    return Lineage(sources=parents, tools={"editor": "ragstone view"}, counts=counts)


def _conflict(name: str, number: int, conflict: Conflict, form: Mapping[str, str]) -> dict[str, Any]:
    labels = {"facts": "a fact", "references": "the answers", "case": "the whole case"}
    base, ours, theirs = (
        None if side is None else to_text(side)[:_MAX_SHOWN] for side in (conflict.base, conflict.ours, conflict.theirs)
    )
    return {
        "number": number,
        "case": conflict.case,
        "address": case_address(name, conflict.case),
        "field": labels.get(conflict.field, f"the {conflict.field}"),
        "base": base,
        "mine": ours,
        "theirs": theirs,
        "mine_diff": None if ours is None else word_diff(base or "", ours),
        "theirs_diff": None if theirs is None else word_diff(base or "", theirs),
        "choice": form.get(f"choice-{number}", ""),
    }


CHANGES = {"/truth/{name}/review": review_page, "/truth/{name}/save": save}
