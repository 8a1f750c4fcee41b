"""The conditions of a gate: what they say, how they are written, when an interval meets them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ragstone.errors import UnknownNameError, UsageError
from ragstone.stats.intervals import Interval

Kind = Literal["min", "max", "max-drop"]
Outcome = Literal["passes", "fails", "cannot tell"]


@dataclass(frozen=True)
class Check:
    """One condition: a metric's mean at least or at most a number, or no more than so much worse than the baseline."""

    kind: Kind
    metric: str
    limit: float

    def __str__(self) -> str:
        if self.kind == "max-drop":
            return f"{self.metric} drop ≤ {self.limit:g}"
        return f"{self.metric} {'≥' if self.kind == 'min' else '≤'} {self.limit:g}"


def decide(check: Check, interval: Interval) -> Outcome:
    """Passes if the whole interval is on the right side of the limit, fails if it is on the wrong one."""
    if check.kind == "max":
        return "passes" if interval.high <= check.limit else "fails" if interval.low > check.limit else "cannot tell"
    limit = -check.limit if check.kind == "max-drop" else check.limit
    return "passes" if interval.low >= limit else "fails" if interval.high < limit else "cannot tell"


def parse_checks(kind: Kind, texts: Iterable[str]) -> list[Check]:
    """`recall@5=0.8`; for max-drop also a bare number, for the headline metrics."""
    checks = []
    for text in texts:
        name, equals, number = text.rpartition("=")
        if not equals and kind == "max-drop":
            name = "*"
        if not name:
            raise UsageError(f"--{kind} {text}: write it as METRIC=VALUE, for instance --{kind} recall@5=0.8")
        checks.append(Check(kind, name.strip(), _limit(kind, text, number)))
    return checks


def _limit(kind: Kind, text: str, number: Any) -> float:
    try:
        limit = float(number)
    except (TypeError, ValueError):
        limit = math.nan
    if not math.isfinite(limit) or isinstance(number, bool):
        raise UsageError(f"--{kind} {text}: {number!r} is not a number")
    if kind == "max-drop" and limit < 0:
        raise UsageError(f"--max-drop {text}: a drop is 0 or more, got {limit:g}")
    return limit


def read_checks(table: Mapping[str, Any], source: str) -> list[Check]:
    """The [gate] table of ragstone.toml: min, max and max-drop as tables, max-drop also as one number."""
    known = ("min", "max", "max-drop", "against")
    for name in table:
        if name not in known:
            raise UnknownNameError(f"entry of [gate] in {source}", name, known, f"There are: {', '.join(known)}.")
    checks: list[Check] = []
    kinds: tuple[Kind, ...] = ("min", "max", "max-drop")
    for kind in kinds:
        given = table.get(kind, {})
        if kind == "max-drop" and not isinstance(given, Mapping):
            given = {"*": given}
        if not isinstance(given, Mapping):
            raise UsageError(f"{source}: [gate] {kind} must be a table of metrics and numbers, got {given!r}")
        checks += [Check(kind, name, _limit(kind, f"{name}={value}", value)) for name, value in given.items()]
    return checks
