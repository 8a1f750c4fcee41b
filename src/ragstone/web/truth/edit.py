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
from ragstone.truth.diff import Merged, count_changes, diff, merge
from ragstone.truth.model import Case, Standing, TruthFact
from ragstone.truth.review import CITATION, Choice, choose, citable_passages, find_lost
from ragstone.truth.store import Lineage
from ragstone.views.phrases import one_line
from ragstone.web.library import Library
from ragstone.web.navigation import case_address, required_number, truth_address, version_address
from ragstone.web.truth.conflicts import Resolution
from ragstone.web.truth.diff import describe_changes
from ragstone.web.truth.loaded_version import LoadedVersion
from ragstone.web.truth.versions import describe_truth, describe_version

_MAX_CHARACTERS = 2_000_000
_MAX_SHOWN = 8_000
_MAX_CHECKED, _MAX_LOST = 2_000, 50


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


class PassageEdit(BaseModel):
    """The corrected text of a passage; an empty text removes it. `at` is its position on the page of the case."""

    model_config = ConfigDict(extra="forbid", strict=True)

    at: int = Field(ge=0)
    text: str = Field(max_length=_MAX_CHARACTERS)


class CaseEdit(BaseModel):
    """The changed fields of a case; fields that are not set are unchanged."""

    model_config = ConfigDict(extra="forbid", strict=True)

    question: str = Field(default="", max_length=_MAX_CHARACTERS)
    references: list[str] = []
    facts: list[FactEdit] = []
    # Only the passages that were corrected.
    passages: list[PassageEdit] = []
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
        return replace(correct_passages(case, self.passages), **changes)


def correct_passages(case: Case, edits: Sequence[PassageEdit]) -> Case:
    """Return a case with corrected passages. Reference contexts with the same text are corrected, too."""
    shown = citable_passages(case)
    if unknown := [edit.at for edit in edits if edit.at >= len(shown)]:
        raise UsageError(f"case {case.id[:200]} has no passage {unknown[0] + 1}")
    texts = {edit.at: _trimmed(edit.text, [shown[edit.at].text]) for edit in edits}
    new = {shown[at].text: text for at, text in texts.items()}
    passages = [replace(passage, text=texts.get(at, passage.text)) for at, passage in enumerate(case.passages)]
    return replace(
        case,
        passages=[passage for at, passage in enumerate(passages) if passage.text or at not in texts],
        reference_contexts=[new.get(text, text) for text in case.reference_contexts if new.get(text, text) or not text],
    )


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
    resolution = Resolution(merged, chosen)
    lost = _lost_citations(name, resolution.cases() or merged.cases, base, edits)
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
        "lost": lost[:_MAX_LOST],
        "lost_in_all": len(lost),
        "conflicts": resolution.describe(name),
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
    cases = Resolution(merged, form).cases()
    if cases is None:
        return again(409, "Choose a side or write a value for every conflict below, then save again.")
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


def _lost_citations(name: str, cases: Sequence[Case], base: LoadedVersion, edits: Edits) -> list[dict[str, Any]]:
    """Return the accepted citations of the edited cases that are not in the passages of their case."""
    edited = {case.id: case for case in cases if case.id in edits}
    accepted = choose(edited.values(), Choice(kinds=[CITATION], standing="accepted"))
    lost = find_lost(edited.values(), accepted[:_MAX_CHECKED])
    return [
        {
            "case": one_line(item.case, 60),
            "question": one_line(edited[item.case].question, 160),
            "fact": item.position + 1,
            "text": item.text[:_MAX_SHOWN],
            "verdict": check.verdict,
            "why": check.why or "",
            "address": _draft_address(name, item.case, base, edits) + f"#fact-{item.position + 1}",
        }
        for item, check in lost.items()
    ]


def _draft_address(name: str, case: str, base: LoadedVersion, edits: Edits) -> str:
    """Return the address at which a case of the draft is edited."""
    return truth_address(name, "new", id=case) if edits[case].added else case_address(name, case, base.info.number)


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


CHANGES = {"/truth/{name}/review": review_page, "/truth/{name}/save": save}
