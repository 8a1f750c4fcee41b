"""Conflicts of a merge: each is resolved by one of its sides, or by a value that the user writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ragstone.data.types import Chunk
from ragstone.errors import UsageError
from ragstone.text.word_diff import word_diff
from ragstone.truth.diff import Conflict, Merged
from ragstone.truth.model import Case, TruthFact
from ragstone.views.phrases import visible
from ragstone.web.navigation import case_address
from ragstone.web.truth.diff import to_text
from ragstone.web.truth.store import STANDINGS

_MAX_SHOWN = 8_000
MINE, THEIRS, WRITTEN = "mine", "theirs", "written"
_LABELS = {
    "facts": "a fact",
    "references": "the answers",
    "case": "the whole case",
    "answerable": "whether the documents contain the answer",
    "standing": "the status of the answers",
    "reference_contexts": "the reference contexts",
}
_ANSWERABLE = {"": "not specified", "true": "yes", "false": "no, the system should decline"}


@dataclass(frozen=True)
class Resolution:
    """The conflicts of a merge with the choices of a form."""

    merged: Merged
    form: Mapping[str, str]

    def describe(self, name: str) -> list[dict[str, Any]]:
        """Return the page data of each conflict: both sides, the choice, and the fields to write a value."""
        return [self._describe(name, number, conflict) for number, conflict in enumerate(self.merged.conflicts)]

    def cases(self) -> list[Case] | None:
        """Return the merged cases with the chosen or written value of each conflict; None if a choice is missing."""
        cases: dict[str, Case] = {case.id: case for case in self.merged.cases}
        for number, conflict in enumerate(self.merged.conflicts):
            choice = self.form.get(f"choice-{number}", "")
            inputs = [field["name"] for field in _inputs(f"written-{number}", conflict)]
            if choice not in (MINE, THEIRS) and not (choice == WRITTEN and inputs):
                return None
            if choice == WRITTEN:
                value = _written(conflict, [self.form.get(name, "").replace("\r\n", "\n") for name in inputs])
            else:
                value = conflict.ours if choice == MINE else conflict.theirs
            if conflict.field == "case" and value is None:
                cases.pop(conflict.case, None)
            elif conflict.field == "case":
                cases[conflict.case] = value
            elif conflict.case in cases:
                cases[conflict.case] = _with_value(cases[conflict.case], conflict, value)
        return list(cases.values())

    def _describe(self, name: str, number: int, conflict: Conflict) -> dict[str, Any]:
        sides = (conflict.base, conflict.ours, conflict.theirs)
        base, ours, theirs = (None if side is None else to_text(side)[:_MAX_SHOWN] for side in sides)
        inputs = _inputs(f"written-{number}", conflict)
        return {
            "number": number,
            "case": conflict.case,
            "address": case_address(name, conflict.case),
            "field": _LABELS.get(conflict.field, f"the {conflict.field}"),
            "base": base,
            "mine": ours,
            "theirs": theirs,
            "mine_diff": None if ours is None else word_diff(base or "", ours),
            "theirs_diff": None if theirs is None else word_diff(base or "", theirs),
            "choice": self.form.get(f"choice-{number}", ""),
            "inputs": [{**field, "value": self.form.get(field["name"], field["value"])} for field in inputs],
        }


def _with_value(case: Case, conflict: Conflict, value: Any) -> Case:
    if conflict.field != "facts":
        return replace(case, **{conflict.field: value})
    sides = [side for side in (conflict.base, conflict.ours, conflict.theirs) if side is not None]
    facts, chosen = case.facts, [] if value is None else [value]
    at = next((position for position, fact in enumerate(facts) if fact.text == sides[0].text), len(facts))
    return replace(case, facts=[*facts[:at], *chosen, *facts[at + 1 :]])


def _inputs(name: str, conflict: Conflict) -> Iterator[dict[str, Any]]:
    """Yield the fields in which the value of a conflict can be written, with our value; none for whole cases."""
    ours = conflict.theirs if conflict.ours is None else conflict.ours
    label = "Your own value"
    if conflict.field == "question":
        yield _text(f"{name}-0", label, ours)
    elif conflict.field == "facts":
        yield _text(f"{name}-0", label, ours.text)
        yield _select(f"{name}-1", "Status", {standing: standing for standing in STANDINGS}, ours.standing)
    elif conflict.field == "answerable":
        yield _select(f"{name}-0", label, _ANSWERABLE, "" if ours is None else str(ours).lower())
    elif conflict.field == "standing":
        yield _select(f"{name}-0", label, {standing: standing for standing in STANDINGS}, ours)
    elif conflict.field in ("references", "reference_contexts", "passages"):
        for at, entry in enumerate(_draft_list(conflict)):
            yield _text(f"{name}-{at}", f"{label}, entry {at + 1}", to_text(entry))


def _text(name: str, label: str, value: str) -> dict[str, Any]:
    return {"name": name, "label": label, "value": value, "options": []}


def _select(name: str, label: str, options: Mapping[str, str], value: str) -> dict[str, Any]:
    choices = [{"value": key, "words": words} for key, words in options.items()]
    return {"name": name, "label": label, "value": value, "options": choices}


def _draft_list(conflict: Conflict) -> list[Any]:
    """Return the entries to start from: what one side changed, ours if both did, and an empty answer to fill in."""
    base, ours, theirs = conflict.base or [], conflict.ours, conflict.theirs
    if len(base) == len(ours) == len(theirs):
        entries = [other if mine == old else mine for old, mine, other in zip(base, ours, theirs, strict=True)]
    else:
        kept = [entry for entry in ours if entry in theirs or entry not in base]
        entries = [*kept, *(entry for entry in theirs if entry not in base and entry not in ours)]
    return entries if conflict.field == "passages" else [*entries, ""]


def _written(conflict: Conflict, texts: Sequence[str]) -> Any:
    """Return the written value; entries that were not changed are kept as they are, blank ones are dropped."""
    if conflict.field == "question":
        return _trimmed(texts[0], [conflict.ours, conflict.theirs])
    if conflict.field == "facts":
        return _written_fact(conflict, *texts)
    if conflict.field == "answerable":
        return {"true": True, "false": False}.get(texts[0])
    if conflict.field == "standing":
        return _standing(texts[0])
    known: list[Any] = _draft_list(conflict)
    rewrite: Callable[[Any, str], Any] = _rewrite_passage if conflict.field == "passages" else _rewrite_text
    return [rewrite(entry, text) for entry, text in zip(known, texts, strict=True) if text.strip()]


def _written_fact(conflict: Conflict, text: str, standing: str) -> TruthFact | None:
    """Return our fact, or theirs if we removed it, with the written text and status. A new text is a manual fact."""
    fact: TruthFact = conflict.theirs if conflict.ours is None else conflict.ours
    if not text.strip():
        return None
    fact = replace(fact, standing=_standing(standing))
    if _trimmed(text, [fact.text]) == fact.text:
        return fact
    return replace(fact, text=text.strip(), provenance="manual", confidence=None)


def _rewrite_passage(passage: Chunk, text: str) -> Chunk:
    return replace(passage, text=_rewrite_text(passage.text, text))


def _rewrite_text(old: str, text: str) -> str:
    return _trimmed(text, [old])


def _trimmed(text: str, known: Sequence[str]) -> str:
    """Return a known text as it is stored, and a new text without blanks at its ends."""
    same = (old for old in known if text in (old, visible(old)))  # the page shows control characters as codes
    return next(same, text.strip())


def _standing(text: str) -> str:
    if text not in STANDINGS:
        raise UsageError(f"{text[:40]!r} is not a status: choose from {', '.join(STANDINGS)}")
    return text
