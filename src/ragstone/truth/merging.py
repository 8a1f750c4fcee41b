"""Two edits of one ground truth made into one: by case and field, facts one by one; what both changed is a conflict."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeVar

from ragstone.truth.cases import Case, TruthFact
from ragstone.truth.differences import FIELDS, key_facts

Key = TypeVar("Key", bound=Hashable)
# Fields that are merged entry by entry.
_MAPPINGS = ("relevance", "metadata")
_NOTHING: Any = object()


@dataclass(frozen=True)
class Conflict:
    """What both sides changed in different ways; None where a side has removed it."""

    case: str
    field: str
    base: Any
    ours: Any
    theirs: Any


@dataclass(frozen=True)
class Merged:
    """The cases of both, with the preferred side's word where there is a conflict; and the conflicts."""

    cases: list[Case]
    conflicts: list[Conflict]


def merge(
    base: Iterable[Case],
    ours: Iterable[Case],
    theirs: Iterable[Case],
    prefer: Literal["ours", "theirs"] = "ours",
) -> Merged:
    """A three-way merge by case id: what only one side changed is taken, what both changed differently is a conflict.

    A case that one side removed and the other changed stays, as a conflict: an edit is never lost without a word.
    """
    return _Merge(prefer).run(_by_id(base), _by_id(ours), _by_id(theirs))


class _Merge:
    def __init__(self, prefer: str) -> None:
        self._prefer = prefer
        self._conflicts: list[Conflict] = []

    def run(self, base: Mapping[str, Case], ours: Mapping[str, Case], theirs: Mapping[str, Case]) -> Merged:
        names = [*ours, *(name for name in theirs if name not in ours)]
        cases = [self._case(name, base.get(name), ours.get(name), theirs.get(name)) for name in names]
        return Merged([case for case in cases if case is not None], self._conflicts)

    def _case(self, name: str, base: Case | None, ours: Case | None, theirs: Case | None) -> Case | None:
        if ours is None or theirs is None:
            kept = ours or theirs
            if base is None or kept is None:
                return kept
            if kept == base:
                return None
            self._conflicts.append(Conflict(name, "case", base, ours, theirs))
            return kept
        base = base or Case(name, question="")
        values = {field: self._field(name, field, base, ours, theirs) for field in FIELDS}
        facts: dict[Any, TruthFact] = self._entries(
            name, "facts", *(key_facts(case.facts) for case in (base, ours, theirs))
        )
        return replace(ours, **values, facts=list(facts.values()))

    def _field(self, name: str, field: str, base: Case, ours: Case, theirs: Case) -> Any:
        sides = [getattr(case, field) for case in (base, ours, theirs)]
        if field in _MAPPINGS:
            return self._entries(name, field, *sides)
        return self._value(name, field, *sides)

    def _entries(
        self, name: str, field: str, base: Mapping[Key, Any], ours: Mapping[Key, Any], theirs: Mapping[Key, Any]
    ) -> dict[Key, Any]:
        """Entry by entry, in our order, then theirs."""
        found = {}
        for key in [*ours, *(key for key in theirs if key not in ours)]:
            sides = [side.get(key, _NOTHING) for side in (base, ours, theirs)]
            value = self._value(name, field, *sides)
            if value is not _NOTHING:
                found[key] = value
        return found

    def _value(self, name: str, field: str, base: Any, ours: Any, theirs: Any) -> Any:
        if theirs in (ours, base):
            return ours
        if ours == base:
            return theirs
        if isinstance(ours, TruthFact) and isinstance(theirs, TruthFact):
            return self._fact(name, base, ours, theirs)
        self._conflicts.append(
            Conflict(name, field, *(None if side is _NOTHING else side for side in (base, ours, theirs)))
        )
        if ours is _NOTHING or theirs is _NOTHING:  # what one side changed outlives its removal by the other
            return theirs if ours is _NOTHING else ours
        return ours if self._prefer == "ours" else theirs

    def _fact(self, name: str, base: Any, ours: TruthFact, theirs: TruthFact) -> TruthFact:
        """Two words about one text, part by part; one conflict, however many parts differ."""
        told = len(self._conflicts)
        parts = {
            part.name: self._value(name, part.name, *(getattr(side, part.name, None) for side in (base, ours, theirs)))
            for part in fields(TruthFact)
        }
        if len(self._conflicts) > told:
            self._conflicts[told:] = [Conflict(name, "facts", None if base is _NOTHING else base, ours, theirs)]
        return TruthFact(**parts)


def _by_id(cases: Iterable[Case]) -> dict[str, Case]:
    return {case.id: case for case in cases}
