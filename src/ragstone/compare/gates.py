"""Gates: may this run pass? Decided by intervals, so that luck neither opens nor shuts them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ragstone.compare.comparison import compare_runs
from ragstone.compare.conditions import Check, Outcome, decide
from ragstone.compare.corpus import is_of_all_rows
from ragstone.compare.differences import EQUAL, LEAST_PAIRS, Difference, Settings
from ragstone.engine.chosen import choose_metrics, find_metric
from ragstone.engine.headlines import pick_headlines
from ragstone.errors import UnknownNameError, UsageError
from ragstone.stats.bootstrap import bootstrap_means
from ragstone.stats.intervals import Interval, mean_interval
from ragstone.stats.power import rows_needed
from ragstone.storage.labels import read_labels
from ragstone.storage.runs import Run
from ragstone.storage.scores import Scores, read_scores

# Where more cells failed than this, what is left need not be like the whole.
MOST_FAILED = 0.05
_MOST_ROWS = 1_000_000


@dataclass(frozen=True)
class Checked:
    """A condition and how it stands: the value that counts (a mean, or the gain over the baseline) and its interval."""

    check: Check
    outcome: Outcome
    why: str
    value: float | None = None
    interval: Interval | None = None
    rows: int = 0
    failed: int = 0
    # In a sequential gate: after how many rows it was decided.
    decided_after: int | None = None


@dataclass(frozen=True)
class Gate:
    """All conditions of a gate on a run."""

    run: str
    path: str
    baseline: str | None
    checks: tuple[Checked, ...]
    sequential: bool = False
    finished: bool = True
    # The metrics that a drop without a name might have been for and is not: no headlines.
    left_out: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """It fails if any condition fails, passes if all pass."""
        outcomes = {item.outcome for item in self.checks}
        return "fails" if "fails" in outcomes else "cannot tell" if "cannot tell" in outcomes else "passes"

    @property
    def exit_code(self) -> int:
        """What the command returns."""
        return {"passes": 0, "fails": 3, "cannot tell": 4}[self.outcome]


def check_gate(
    run: Run,
    checks: Sequence[Check],
    against: Run | None = None,
    settings: Settings | None = None,
    most_failed: float = MOST_FAILED,
) -> Gate:
    """Hold a finished run to conditions."""
    settings = settings or Settings()
    bare = any(check.metric == "*" for check in checks)
    checks = spell(checks, run, against)
    absolute = [check.metric for check in checks if check.kind != "max-drop"]
    scores = read_scores(run, absolute)
    clusters = read_labels(run, settings.cluster) if settings.cluster and absolute else None
    drops = [check.metric for check in checks if check.kind == "max-drop"]
    compared = compare_runs(against, run, drops, settings=settings) if against and drops else None
    found = []
    for check in checks:
        if check.metric in run.info["skipped"]:
            found.append(Checked(check, "cannot tell", f"not computed: {run.info['skipped'][check.metric]}"))
        elif check.kind != "max-drop":
            found.append(_check_mean(check, run, scores[check.metric], clusters, settings, most_failed))
        elif compared and (what := compared.refused.get(check.metric)):
            found.append(Checked(check, "cannot tell", f"it was made in different ways: {what}"))
        elif compared:
            found.append(_check_drop(check, compared[check.metric], most_failed))
    others = [name for name in _shares(run, against)[1] if name not in drops] if against and bare else []
    return Gate(run.name, run.path, against.name if against else None, tuple(found), left_out=tuple(others))


def spell(checks: Sequence[Check], run: Run, against: Run | None) -> list[Check]:
    """The conditions with metrics as the run writes them; `*`: the headlines from 0 to 1 with a better direction."""
    if not checks:
        raise UsageError(
            "a gate needs a condition: --min METRIC=VALUE, --max METRIC=VALUE, or --against RUN --max-drop X"
        )
    if against is None and any(check.kind == "max-drop" for check in checks):
        raise UsageError("--max-drop needs --against RUN: what the run must not fall behind")
    if against is not None and all(check.kind != "max-drop" for check in checks):
        raise UsageError("--against needs --max-drop X: by how much the run may be worse")
    named = {check.metric for check in checks if check.kind == "max-drop"}
    spelled: list[Check] = []
    for check in checks:
        if check.metric != "*":
            spelled.append(Check(check.kind, known_name(check.metric, run), check.limit))
        elif against is not None:
            spelled += [Check(check.kind, name, check.limit) for name in _shares(run, against)[0] if name not in named]
    if not spelled:  # a gate without conditions would pass
        raise UsageError(
            "the two runs share no metric from 0 to 1 with values; `ragstone compare` shows what they have. "
            "Name a metric: --max-drop METRIC=VALUE"
        )
    for check in spelled:
        if check.kind == "max-drop" and _better(check.metric, run) == "none":
            raise UsageError(f"{check.metric} has no better direction, so it cannot drop; use --min and --max")
    return spelled


def _shares(run: Run, against: Run) -> tuple[list[str], list[str]]:
    """The metrics that one number for all is for, and those that it might be for but is not: the more, the less passes."""
    # What the baseline never measured cannot drop; what it did and the run lost must not pass unseen.
    measured = {row.metric for row in against.summary() if row.n_ok or row.n_failed}
    # One number cannot suit metrics of other scales.
    names = [
        metric["metric"]
        for metric in choose_metrics([run, against], ())
        if metric["better"] != "none" and metric["bounds"] == [0.0, 1.0] and metric["metric"] in measured
    ]
    picked = pick_headlines(names)
    return [name for name in names if name in picked], [name for name in names if name not in picked]


def known_name(name: str, run: Run) -> str:
    """A metric as the run writes it."""
    known = [metric["metric"] for metric in run.info["metrics"]]
    metric = find_metric(name)
    spelled = str(metric) if metric and name not in known else name
    if spelled not in known and spelled not in run.info["skipped"]:
        raise UnknownNameError("metric of this run", name, known, f"It has: {', '.join(known)}.")
    return spelled


def too_many_failed(check: Check, rows: int, failed: int, most: float, value: float | None = None) -> Checked | None:
    """No verdict where too many cells failed, or too few rows are left."""
    if failed > most * (rows + failed):
        why = f"{failed} of {rows + failed} cells failed; the rest need not be like the whole"
        return Checked(check, "cannot tell", why, value, None, rows, failed)
    if rows < LEAST_PAIRS:
        why = f"{rows} row{'s' if rows != 1 else ''} with a value, too few to tell"
        return Checked(check, "cannot tell", why, value, None, rows, failed)
    return None


def _better(name: str, run: Run) -> str:
    return next((str(metric["better"]) for metric in run.info["metrics"] if metric["metric"] == name), "higher")


def _check_mean(
    check: Check, run: Run, scores: Scores, clusters: np.ndarray | None, settings: Settings, most_failed: float
) -> Checked:
    summary = run.summary()[check.metric]
    values = scores.values[~np.isnan(scores.values)]
    if refused := too_many_failed(check, len(values), summary.n_failed, most_failed, summary.mean):
        return refused
    interval: Interval | None
    if is_of_all_rows(check.metric, run, scores):
        low, high = summary.ci_low, summary.ci_high
        interval = Interval(low, high) if low is not None and high is not None else None
    elif clusters is not None:
        found = bootstrap_means(scores.values, settings.level, clusters=clusters, resamples=settings.resamples)
        interval = found[0]
    else:
        interval = mean_interval(values, settings.level, _bounds(check.metric, run))
    if interval is None:
        return Checked(check, "cannot tell", "it has no interval", summary.mean, None, len(values), summary.n_failed)
    outcome = decide(check, interval)
    why = ""
    if outcome == "cannot tell" and summary.mean is not None and clusters is None:
        why = _more_rows(float(values.std(ddof=1)), abs(summary.mean - check.limit), len(values))
    return Checked(check, outcome, why, summary.mean, interval, len(values), summary.n_failed)


def _bounds(name: str, run: Run) -> tuple[float | None, float | None]:
    low, high = next(metric["bounds"] for metric in run.info["metrics"] if metric["metric"] == name)
    return low, high


def _check_drop(check: Check, item: Difference, most_failed: float) -> Checked:
    if refused := too_many_failed(check, item.pairs, item.failed, most_failed, item.gain):
        return refused
    if item.gain_interval is None or item.gain is None:
        return Checked(check, "cannot tell", item.note, item.gain, None, item.pairs, item.failed)
    if item.note == EQUAL:
        # Nothing changed: whoever runs the same system again is not told to come back with more rows.
        return Checked(check, "passes", item.note, item.gain, item.gain_interval, item.pairs, item.failed)
    outcome = decide(check, item.gain_interval)
    why = item.note
    if outcome == "cannot tell" and item.effect:
        deviation = abs((item.difference or 0.0) / item.effect)
        why = _more_rows(deviation, abs(item.gain + check.limit), item.pairs)
    return Checked(check, outcome, why, item.gain, item.gain_interval, item.pairs, item.failed)


def _more_rows(deviation: float, distance: float, rows: int) -> str:
    """About how many rows would decide, if the value stays where it is."""
    needed = rows_needed(deviation, distance) if distance > 0 else _MOST_ROWS
    if needed >= _MOST_ROWS:
        return f"{rows} rows are too few, and it lies at the limit"
    return f"{rows} rows are too few; about {max(needed, rows + 1):,} would tell"
