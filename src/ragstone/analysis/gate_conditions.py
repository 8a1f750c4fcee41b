"""Conditions of a gate, from the command line or ragstone.toml: limits of scores and of changes; and their outcomes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from ragstone.analysis.differences import LEAST_PAIRS
from ragstone.errors import UnknownNameError, UsageError
from ragstone.stats.intervals import Interval
from ragstone.stats.power import rows_needed

Kind = Literal["min", "max", "max-drop", "max-rise", "max-worse", "max-new-failures"]
KINDS: tuple[Kind, ...] = get_args(Kind)
GateOutcome = Literal["passes", "fails", "cannot tell"]
MOST_ROWS = 1_000_000
_MOST_USEFUL = 10_000
# What "cannot tell" counts as.
Inconclusive = Literal["fail", "pass"]
# A rise is the drop of a metric that should be low.
COUNTS = ("max-worse", "max-new-failures")
_CHANGES = ("max-drop", "max-rise", *COUNTS)
NO_CONDITION = (
    "a gate needs a condition: --min METRIC=VALUE, --max METRIC=VALUE, or --against RUN, also with --max-new-failures N, "
    "--max-drop X, --max-rise METRIC=X or --max-worse METRIC=COUNT"
)
# Units of limits, as factors to the unit of the metric, and the metrics that have it: seconds and US dollars.
_UNITS = {"s": 1.0, "ms": 1e-3, "usd": 1.0, "": 1.0}
_OF_UNIT = {**dict.fromkeys(("s", "ms"), ("latency", "first_token")), "usd": ("cost",)}
_LIMIT = re.compile(r"\s*\$?\s*([-+]?[\d.]+(?:e[-+]?\d+)?)\s*(%|[a-z]*)\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Check:
    """One condition: a minimum or maximum of a score, the largest change for the worse, or the most rows that get worse.

    The condition on newly failing rows has no metric.
    """

    kind: Kind
    metric: str
    limit: float
    # The limit is a share of the baseline's score.
    relative: bool = False
    # Without a limit: fails only if the loss is significant, as in `compare`, or if more rows fail newly than are fixed.
    is_test: bool = False
    # An acceptance criterion in the words of the user.
    words: str = ""

    @property
    def is_change(self) -> bool:
        """Whether the condition compares with a baseline."""
        return self.kind in _CHANGES

    @property
    def is_count(self) -> bool:
        """Whether it counts rows. A count is not an estimate: it has no interval and no share in the correction."""
        return self.kind in COUNTS

    def __str__(self) -> str:
        if self.words:
            return self.words
        limit = f"{100 * self.limit:g} %" if self.relative else f"{self.limit:g}"
        if self.is_test:
            return f"{self.metric} not worse" if self.metric else "newly failing rows ≤ fixed rows"
        if self.kind == "max-worse":
            return f"samples worse in {self.metric} ≤ {limit}"
        if self.kind == "max-new-failures":
            return f"newly failing rows ≤ {limit}"
        if self.is_change:
            return f"{self.metric} {self.kind.removeprefix('max-')} ≤ {limit}"
        return f"{self.metric} {'≥' if self.kind == 'min' else '≤'} {limit}"


# The conditions of a gate with a baseline and without a limit.
NOT_WORSE = (Check("max-new-failures", "", 0.0, is_test=True), Check("max-drop", "*", 0.0, is_test=True))


@dataclass(frozen=True)
class Checked:
    """The outcome of a condition: its value and interval, a mean or the difference to the baseline as in `compare`."""

    check: Check
    outcome: GateOutcome
    why: str
    value: float | None = None
    interval: Interval | None = None
    rows: int = 0
    failed: int = 0
    # Samples that have a value in the baseline and none now, but did not fail.
    lost: int = 0
    # In a sequential gate: the number of rows after which it was decided.
    decided_after: int | None = None
    # For drops of metrics that should be low: a positive difference is worse.
    lower_is_better: bool = False
    # The judge's own mean or difference, if the value is the estimated human score.
    raw: float | None = None
    # The ids of the newly failing rows, and of those that are perhaps wrong now: they pass, but need a look.
    failing: tuple[str, ...] = ()
    perhaps_wrong: tuple[str, ...] = ()

    @property
    def gain(self) -> float | None:
        """The difference to the baseline, positive for an improvement."""
        return -self.value if self.lower_is_better and self.value is not None else self.value

    @property
    def condition(self) -> str:
        """The condition in words: a drop is a rise if lower is better."""
        return str(self.check).replace(" drop ", " rise ") if self.lower_is_better else str(self.check)


def decide(check: Check, interval: Interval) -> GateOutcome:
    """Passes if the whole interval meets the limit, fails if none of it does."""
    if check.kind == "max":
        return "passes" if interval.high <= check.limit else "fails" if interval.low > check.limit else "cannot tell"
    limit = -check.limit if check.is_change else check.limit
    return "passes" if interval.low >= limit else "fails" if interval.high < limit else "cannot tell"


def parse_inconclusive(option: str, value: str) -> Inconclusive:
    """The meaning of "cannot tell" for the exit code; another word is a UsageError."""
    if value not in ("fail", "pass"):
        raise UsageError(f"{option} must be pass or fail, got {value!r}")
    return "pass" if value == "pass" else "fail"


def parse_checks(kind: Kind, texts: Iterable[str]) -> list[Check]:
    """Parse `recall@5=0.8` or `latency_p95=200ms`; for max-drop also a plain number, for the headline metrics.

    A change may be a share of the baseline's score: `latency_p95=10%`. The limit of newly failing rows is a plain number.
    """
    if kind == "max-new-failures":
        return [_make_check(kind, "", f"--{kind} {text}", text) for text in texts]
    checks = []
    for text in texts:
        name, equals, number = text.rpartition("=")
        if not equals and kind == "max-drop":
            name = "*"
        if not name:
            example = {"max-rise": "latency_p95=0.2s", "max-worse": "recall@5=0"}.get(kind, "recall@5=0.8")
            form = "METRIC=COUNT" if kind == "max-worse" else "METRIC=VALUE"
            raise UsageError(f"--{kind} {text}: write it as {form}, for instance --{kind} {example}")
        checks.append(_make_check(kind, name.strip(), f"--{kind} {text}", number))
    return checks


def _make_check(kind: Kind, name: str, where: str, number: Any) -> Check:
    match = _LIMIT.fullmatch(str(number)) if not isinstance(number, bool) else None
    try:
        limit = float(match[1]) if match else math.nan
    except ValueError:
        limit = math.nan
    unit = match[2].lower() if match else ""
    if not math.isfinite(limit):
        raise UsageError(f"{where}: {number!r} is not a number")
    if unit not in ("%", *_UNITS):
        raise UsageError(f"{where}: the unit '{unit}' is not known; use s, ms, usd or %")
    measured = name.removeprefix("system.").startswith(_OF_UNIT.get(unit, ""))
    if not measured and "metadata." not in name:
        raise UsageError(f"{where}: {name} is not measured in {unit}")
    if kind in COUNTS and (unit or limit < 0 or limit != int(limit)):
        raise UsageError(f"{where}: the number of {'samples' if name else 'rows'} is a whole number, 0 or more")
    change = kind in _CHANGES
    if unit == "%" and (not change or name == "*"):
        raise UsageError(f"{where}: only a drop or rise can be a percentage, a share of the baseline")
    if change and limit < 0:
        word = kind.removeprefix("max-")
        raise UsageError(f"{where}: a {word} is 0 or more, got {limit:g}")
    return Check(kind, name, limit / 100 if unit == "%" else limit * _UNITS[unit], relative=unit == "%")


def read_checks(table: Mapping[str, Any], source: str | None) -> list[Check]:
    """The [gate] table of ragstone.toml: limits as tables by metric, max-drop also as one number, max-new-failures only so.

    `source` is the file; None for the arguments of a Python function.
    """
    known = (*KINDS, "against")
    for name in table:
        if name not in known:
            raise UnknownNameError(f"entry of [gate] in {source}", name, known, f"Choose from: {', '.join(known)}.")
    checks: list[Check] = []
    for kind in KINDS:
        limits = table.get(kind, {})
        if kind == "max-drop" and not isinstance(limits, Mapping):
            limits = {"*": limits}
        if kind == "max-new-failures" and kind in table:
            limits = {"": limits}
        where = kind.replace("-", "_") if source is None else f"{source}: [gate] {kind}"
        if not isinstance(limits, Mapping):
            form = "mapping" if source is None else "table"
            raise UsageError(f"{where} must be a {form} of metrics and numbers, got {limits!r}")
        checks += [
            _make_check(kind, name, f"{where} {'' if name in ('', '*') else f'{name}='}{value}", value)
            for name, value in limits.items()
        ]
    return checks


def refuse(
    check: Check, value: float | None, rows: int, failed: int, most: float, lost: int = 0, units: int | None = None
) -> Checked | None:
    """`cannot tell` if too many cells failed or were lost, or too few rows or units are left; otherwise None."""
    found = Checked(check, "cannot tell", "", value, None, rows, failed, lost)
    every = rows + failed + lost
    if failed > most * every:
        return replace(found, why=f"{failed} of {every} cells failed; the others may not be representative")
    if failed + lost > most * every:
        gone = f"{lost} of {every} samples have a value in the baseline and none now, as if an answer becomes a refusal"
        return replace(found, why=f"{gone}: the others alone cannot pass")
    if rows < LEAST_PAIRS:
        return replace(found, why=f"{rows} row{'s' if rows != 1 else ''} with a value: too few to decide")
    if units is not None and units < LEAST_PAIRS:
        return replace(found, why=f"{rows} rows of {units} conversations or groups: too few to decide")
    return None


def more_rows(deviation: float, distance: float, rows: int, needed: int | None = None) -> str:
    """The approximate number of rows that would decide, if the value does not change."""
    if needed is None:
        needed = rows_needed(deviation, distance) if distance > 1e-3 * deviation else MOST_ROWS
    if needed > _MOST_USEFUL:
        return f"{rows} rows are too few; more rows would hardly decide it: the value is at the limit"
    return f"{rows} rows are too few; about {max(needed, rows + 1):,} would decide"
