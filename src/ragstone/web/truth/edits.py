"""The edits that a browser has kept, read with care and applied to the version that they began from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ragstone.errors import UsageError
from ragstone.truth.cases import Case, Standing, TruthFact

_MOST_CHARACTERS = 2_000_000


class FactEdit(BaseModel):
    """A fact as the editor sends it."""

    model_config = ConfigDict(extra="forbid", strict=True)

    text: str = Field(max_length=_MOST_CHARACTERS)
    kind: str = Field(default="citation", min_length=1, max_length=100)
    source: str | None = None
    # Whatever a version says already can be saved again.
    provenance: str = Field(default="manual", min_length=1, max_length=100)
    standing: Standing = "accepted"
    confidence: float | None = Field(default=None, allow_inf_nan=False)
    note: str | None = None


class CaseEdit(BaseModel):
    """What was changed in a case: only the fields that are there were."""

    model_config = ConfigDict(extra="forbid", strict=True)

    question: str = Field(default="", max_length=_MOST_CHARACTERS)
    references: list[str] = []
    facts: list[FactEdit] = []
    answerable: bool | None = None
    standing: Standing = "accepted"
    added: bool = False
    removed: bool = False

    def apply(self, case: Case) -> Case:
        """The case with what was changed. What was written is trimmed, what was there stays as it is; blanks are left out."""
        changes: dict[str, Any] = {}
        if "question" in self.model_fields_set:
            changes["question"] = _trimmed(self.question, [case.question])
        if "references" in self.model_fields_set:
            changes["references"] = [_trimmed(text, case.references) for text in self.references if text.strip()]
        if "facts" in self.model_fields_set:
            known = [fact.text for fact in case.facts]
            said = [fact.model_dump() for fact in self.facts if fact.text.strip()]
            changes["facts"] = [TruthFact(**{**fact, "text": _trimmed(fact["text"], known)}) for fact in said]
        changes |= {name: getattr(self, name) for name in ("answerable", "standing") if name in self.model_fields_set}
        return replace(case, **changes)


def _trimmed(text: str, known: Sequence[str]) -> str:
    return text if text in known else text.strip()


Edits = Mapping[str, CaseEdit]


def read_edits(text: str) -> Edits:
    """From the JSON of a draft; whatever is not an edit is refused with its place."""
    try:
        said = json.loads(text)
        text.encode()
        json.dumps(said, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise UsageError("the edits hold half a character (a lone surrogate); remove it and save again") from None
    except (ValueError, RecursionError):
        raise UsageError("the edits cannot be read: they are not JSON") from None
    if not isinstance(said, dict) or not all(said):
        raise UsageError("the edits cannot be read: they are no object of cases by id")
    return {name: _edit(name, value) for name, value in said.items()}


def apply_edits(cases: Sequence[Case], edits: Edits) -> list[Case]:
    """The cases after the edits, the new ones last."""
    known = {case.id for case in cases}
    for name, edit in edits.items():
        if (name in known) == edit.added:
            wrong = (
                "is there already, choose another id"
                if edit.added
                else "is not in the version that the edits began from"
            )
            raise UsageError(f"case {name[:200]} {wrong}")
    kept = [_changed(case, edits.get(case.id)) for case in cases]
    new = [edit.apply(Case(name, question="")) for name, edit in edits.items() if edit.added and not edit.removed]
    return [*(case for case in kept if case is not None), *new]


def _changed(case: Case, edit: CaseEdit | None) -> Case | None:
    if edit is None:
        return case
    return None if edit.removed else edit.apply(case)


def _edit(name: str, value: Any) -> CaseEdit:
    try:
        return CaseEdit.model_validate(value)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, problem["loc"]))
        raise UsageError(f"case {name[:200]}: {place}: {problem['msg']}") from None
