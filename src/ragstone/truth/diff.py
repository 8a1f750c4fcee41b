"""Compares two versions of ground truth, and merges two edits of one version."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeVar

from ragstone.truth.model import Case, TruthFact

Kind = Literal["added", "removed", "changed"]
Key = TypeVar("Key", bound=Hashable)
FIELDS = tuple(field.name for field in fields(Case) if field.name not in ("id", "facts"))
# Fields that are merged per entry.
_MAPPINGS = ("relevance", "metadata")
_NOTHING: Any = object()


@dataclass(frozen=True)
class Change:
    """One difference: a case that was added or removed, or a field with its old and new value.

    Each fact is a change of its own: an added fact has no `before`, a removed one no `after`.
    """

    kind: Kind
    case: str
    question: str
    field: str | None = None
    before: Any = None
    after: Any = None


def diff(old: Iterable[Case], new: Iterable[Case]) -> list[Change]:
    """The changes from the old to the new cases: removed ones first, then the others in the new order."""
    before, after = {case.id: case for case in old}, {case.id: case for case in new}
    changes = [Change("removed", case.id, case.question) for case in before.values() if case.id not in after]
    for case in after.values():
        earlier = before.get(case.id)
        changes += [Change("added", case.id, case.question)] if earlier is None else _changes_of(earlier, case)
    return changes


def count_changes(changes: Sequence[Change]) -> dict[str, int]:
    """The number of cases added, removed and changed, and of facts gained, lost and changed."""
    kinds = ("added", "removed", "changed")
    counts = {kind: len({change.case for change in changes if change.kind == kind}) for kind in kinds}
    counts |= {"facts_gained": 0, "facts_lost": 0, "facts_changed": 0}
    for change in changes:
        if change.field == "facts":
            counts[f"facts_{'gained' if change.before is None else 'lost' if change.after is None else 'changed'}"] += 1
    return counts


def _key_facts(facts: Iterable[TruthFact]) -> dict[tuple[str, int], TruthFact]:
    """Facts by text and occurrence; a second fact with the same text is a separate fact."""
    seen: Counter[str] = Counter()
    keyed = {}
    for fact in facts:
        seen[fact.text] += 1
        keyed[fact.text, seen[fact.text]] = fact
    return keyed


def _changes_of(old: Case, new: Case) -> list[Change]:
    changes = [
        Change("changed", new.id, new.question, name, before, after)
        for name in FIELDS
        if (before := getattr(old, name)) != (after := getattr(new, name))
    ]
    before, after = _key_facts(old.facts), _key_facts(new.facts)
    keys = [*(key for key in before if key not in after), *after]
    return changes + [
        Change("changed", new.id, new.question, "facts", before.get(key), after.get(key))
        for key in keys
        if before.get(key) != after.get(key)
    ]


@dataclass(frozen=True)
class Conflict:
    """A value that both sides changed differently; None if a side removed it."""

    case: str
    field: str
    base: Any
    ours: Any
    theirs: Any


@dataclass(frozen=True)
class Merged:
    """The merged cases, with the preferred side's value in a conflict; and the conflicts."""

    cases: list[Case]
    conflicts: list[Conflict]


def merge(
    base: Iterable[Case], ours: Iterable[Case], theirs: Iterable[Case], prefer: Literal["ours", "theirs"] = "ours"
) -> Merged:
    """Three-way merge by case id: a change on one side is taken, different changes on both sides are a conflict.

    A case that one side removed and the other changed stays, as a conflict, so that no edit is lost silently.
    """
    sides = ({case.id: case for case in cases} for cases in (base, ours, theirs))
    return _Merge(prefer).run(*sides)


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
        sides = (_key_facts(case.facts) for case in (base, ours, theirs))
        facts: dict[Any, TruthFact] = self._entries(name, "facts", *sides)
        return replace(ours, **values, facts=list(facts.values()))

    def _field(self, name: str, field: str, base: Case, ours: Case, theirs: Case) -> Any:
        sides = [getattr(case, field) for case in (base, ours, theirs)]
        return (self._entries if field in _MAPPINGS else self._value)(name, field, *sides)

    def _entries(
        self, name: str, field: str, base: Mapping[Key, Any], ours: Mapping[Key, Any], theirs: Mapping[Key, Any]
    ) -> dict[Key, Any]:
        """Merges per entry, in our order, then theirs."""
        entries = {}
        for key in [*ours, *(key for key in theirs if key not in ours)]:
            sides = [side.get(key, _NOTHING) for side in (base, ours, theirs)]
            value = self._value(name, field, *sides)
            if value is not _NOTHING:
                entries[key] = value
        return entries

    def _value(self, name: str, field: str, base: Any, ours: Any, theirs: Any) -> Any:
        if theirs in (ours, base):
            return ours
        if ours == base:
            return theirs
        if isinstance(ours, TruthFact) and isinstance(theirs, TruthFact):
            return self._fact(name, base, ours, theirs)
        sides = (None if side is _NOTHING else side for side in (base, ours, theirs))
        self._conflicts.append(Conflict(name, field, *sides))
        if ours is _NOTHING or theirs is _NOTHING:  # a change on one side wins over a removal on the other
            return theirs if ours is _NOTHING else ours
        return ours if self._prefer == "ours" else theirs

    def _fact(self, name: str, base: Any, ours: TruthFact, theirs: TruthFact) -> TruthFact:
        """Merges the parts of one fact; several different parts make one conflict."""
        earlier = len(self._conflicts)
        parts = {
            part.name: self._value(name, part.name, *(getattr(side, part.name, None) for side in (base, ours, theirs)))
            for part in fields(TruthFact)
        }
        if len(self._conflicts) > earlier:
            self._conflicts[earlier:] = [Conflict(name, "facts", None if base is _NOTHING else base, ours, theirs)]
        return TruthFact(**parts)
