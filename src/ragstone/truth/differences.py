"""What changed between two versions of ground truth: cases that came and went, fields, facts gained and lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from ragstone.truth.cases import Case, TruthFact

Kind = Literal["added", "removed", "changed"]
FIELDS = tuple(field.name for field in fields(Case) if field.name not in ("id", "facts"))


@dataclass(frozen=True)
class Change:
    """One difference: a case that is new or gone, or a field of it with what it was and is.

    Facts are told one by one: a gained fact has no `before`, a lost one no `after`.
    """

    kind: Kind
    case: str
    question: str
    field: str | None = None
    before: Any = None
    after: Any = None


def diff(old: Iterable[Case], new: Iterable[Case]) -> list[Change]:
    """The changes from the old cases to the new: removed, then changed and added in the order of the new."""
    before, after = {case.id: case for case in old}, {case.id: case for case in new}
    changes = [Change("removed", case.id, case.question) for case in before.values() if case.id not in after]
    for case in after.values():
        earlier = before.get(case.id)
        changes += [Change("added", case.id, case.question)] if earlier is None else _changes_of(earlier, case)
    return changes


def count_changes(changes: Sequence[Change]) -> dict[str, int]:
    """How many cases were added, removed and changed, and how many facts were gained, lost and changed."""
    kinds = ("added", "removed", "changed")
    counts = {kind: len({change.case for change in changes if change.kind == kind}) for kind in kinds}
    return counts | {f"facts_{word}": number for word, number in _count_facts(changes).items()}


def key_facts(facts: Iterable[TruthFact]) -> dict[tuple[str, int], TruthFact]:
    """Facts by their text; the second of the same text is another fact."""
    seen: Counter[str] = Counter()
    found = {}
    for fact in facts:
        seen[fact.text] += 1
        found[fact.text, seen[fact.text]] = fact
    return found


def _changes_of(old: Case, new: Case) -> list[Change]:
    changes = [
        Change("changed", new.id, new.question, name, before, after)
        for name in FIELDS
        if (before := getattr(old, name)) != (after := getattr(new, name))
    ]
    before, after = key_facts(old.facts), key_facts(new.facts)
    keys = [*(key for key in before if key not in after), *after]
    return changes + [
        Change("changed", new.id, new.question, "facts", before.get(key), after.get(key))
        for key in keys
        if before.get(key) != after.get(key)
    ]


def _count_facts(changes: Sequence[Change]) -> Mapping[str, int]:
    counts = {"gained": 0, "lost": 0, "changed": 0}
    for change in changes:
        if change.field == "facts":
            counts["gained" if change.before is None else "lost" if change.after is None else "changed"] += 1
    return counts
