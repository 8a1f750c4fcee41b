"""Cases, facts and their changes as words on one line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def describe_counts(counts: Mapping[str, int]) -> str:
    """Counts of changes in words, without those that are zero."""
    cases = [f"{counts[kind]:,} {kind}" for kind in ("added", "removed", "changed") if counts[kind]]
    facts = [f"{counts[f'facts_{kind}']:,} {kind}" for kind in ("gained", "lost", "changed") if counts[f"facts_{kind}"]]
    said = [f"cases: {', '.join(cases)}" if cases else "", f"facts: {', '.join(facts)}" if facts else ""]
    return "; ".join(filter(None, said)) or "nothing"


def is_told(value: Any) -> bool:
    """Whether there is anything to show."""
    return value is not None and value not in ([], {})


def words(value: Any) -> str:
    """A value on one line."""
    from ragstone.truth.cases import Case, TruthFact

    if isinstance(value, Case):
        return f"{value.question}  [{' / '.join(value.references)}]"
    if isinstance(value, TruthFact):
        told = [value.standing, value.provenance, *filter(None, [value.source, value.note])]
        return f"{value.text}  [{', '.join(told)}]"
    if isinstance(value, list):
        return " / ".join(getattr(item, "text", None) or str(item) for item in value)
    return str(value)
