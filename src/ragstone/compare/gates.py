"""Gates: conditions on the metrics of a run, decided by confidence intervals.

The error rate is that of the exit code. A gate passes only if every condition passes, so passing needs no correction. One
condition is enough to fail, so failing is corrected for all conditions: jointly for drops of means, as in `compare`
(Westfall and Young), and by a wider interval (Bonferroni) for others. The number of samples that got worse is a count
of what was seen, not an estimate: it has no interval and is not part of the correction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import NormalDist

import numpy as np

from ragstone.compare.comparison import Comparison, compare_runs
from ragstone.compare.differences import EQUAL, LEAST_PAIRS, Difference, Settings, is_of_all_rows
from ragstone.compare.gate_conditions import NO_CONDITION, Check, Inconclusive, Outcome, decide
from ragstone.engine.metric_choice import choose_metrics, find_metric, pick_headlines
from ragstone.errors import UnknownNameError, UsageError
from ragstone.stats.bootstrap import clustered_interval
from ragstone.stats.intervals import Interval, mean_interval
from ragstone.stats.paired import flip_signs, pairs_to_decide
from ragstone.stats.power import rows_needed
from ragstone.storage.runs import Run
from ragstone.storage.scores import Scores, read_ids, read_labels, read_scores

# With a larger share of failed cells, the other cells may not be representative.
MOST_FAILED = 0.05
_MOST_ROWS = 1_000_000
_MOST_NAMED = 5


@dataclass(frozen=True)
class Checked:
    """The outcome of a condition: its value and interval, a mean or the difference to the baseline as in `compare`."""

    check: Check
    outcome: Outcome
    why: str
    value: float | None = None
    interval: Interval | None = None
    rows: int = 0
    failed: int = 0
    # In a sequential gate: the number of rows after which it was decided.
    decided_after: int | None = None
    # For drops of metrics that should be low: a positive difference is worse.
    lower_is_better: bool = False

    @property
    def gain(self) -> float | None:
        """The difference to the baseline, positive for an improvement."""
        return -self.value if self.lower_is_better and self.value is not None else self.value

    @property
    def condition(self) -> str:
        """The condition in words: a drop is a rise if lower is better."""
        return str(self.check).replace(" drop ", " rise ") if self.lower_is_better else str(self.check)


@dataclass(frozen=True)
class Gate:
    """All conditions of a gate on a run."""

    run: str
    path: str
    baseline: str | None
    checks: tuple[Checked, ...]
    sequential: bool = False
    finished: bool = True
    # Metrics that a drop without a metric name does not apply to: they are not headlines.
    left_out: tuple[str, ...] = ()
    # How the baseline was found, or why there is none.
    note: str = ""
    # Whether "cannot tell" is a failure or only a warning.
    inconclusive: Inconclusive = "fail"

    @property
    def outcome(self) -> Outcome:
        """Fails if any condition fails, passes if all pass."""
        outcomes = {item.outcome for item in self.checks}
        return "fails" if "fails" in outcomes else "cannot tell" if "cannot tell" in outcomes else "passes"

    @property
    def exit_code(self) -> int:
        """The exit code of the command."""
        undecided = 0 if self.inconclusive == "pass" else 4
        return {"passes": 0, "fails": 3, "cannot tell": undecided}[self.outcome]


def check_gate(
    run: Run,
    checks: Sequence[Check],
    against: Run | None = None,
    settings: Settings | None = None,
    most_failed: float = MOST_FAILED,
    conditions: int = 0,
) -> Gate:
    """Check the conditions on a finished run; `conditions` counts all conditions if others are checked elsewhere."""
    settings = (settings or Settings()).for_run(run)
    bare = any(check.metric == "*" for check in checks)
    checks = _resolve_metrics(checks, run, against)
    conditions = max(conditions, sum(check.kind != "max-worse" for check in checks))
    absolute = [check.metric for check in checks if not check.is_change]
    scores = read_scores(run, absolute)
    clusters = read_labels(run, settings.cluster) if settings.cluster and absolute else None
    drops = [check for check in checks if check.is_change and check.metric not in run.info.skipped]
    dropped = _check_drops(drops, against, run, settings, conditions, most_failed) if against and drops else {}
    found = []
    for check in checks:
        if check.metric in run.info.skipped:
            found.append(Checked(check, "cannot tell", f"not computed: {run.info.skipped[check.metric]}"))
        elif check.is_change:
            found.append(dropped[check])
        else:
            found.append(_check_mean(check, run, scores[check.metric], clusters, settings, conditions, most_failed))
    names = {check.metric for check in checks if check.is_change}
    others = [name for name in _shares(run, against)[1] if name not in names] if against and bare else []
    return Gate(run.name, run.path, against.name if against else None, tuple(found), left_out=tuple(others))


def check_without_baseline(
    run: Run,
    checks: Sequence[Check],
    outcome: Outcome,
    why: str,
    settings: Settings | None = None,
    most_failed: float = MOST_FAILED,
) -> Gate:
    """Check what needs no baseline; all drops and rises get this outcome."""
    absolute = [check for check in checks if not check.is_change]
    changes = [check for check in checks if check.is_change]
    if not changes:
        raise UsageError("--baseline needs --max-drop X: the largest allowed drop")
    gate = Gate(run.name, run.path, None, ())
    if absolute:
        gate = check_gate(run, absolute, None, settings, most_failed, len(checks))
    for check in changes:
        name = "headline metrics" if check.metric == "*" else _canonical_name(check.metric, run)
        item = replace(check, metric=name)
        _check_direction(item, run)
        gate = replace(gate, checks=(*gate.checks, Checked(item, outcome, why)))
    return gate


def _resolve_metrics(checks: Sequence[Check], run: Run, against: Run | None) -> list[Check]:
    """The conditions with canonical metric names; `*` becomes the headline metrics from 0 to 1 with a direction."""
    if not checks:
        raise UsageError(NO_CONDITION)
    changes = [check for check in checks if check.is_change]
    if against is None and changes:
        raise UsageError(f"--{changes[0].kind} needs a baseline: --against RUN or --baseline BRANCH")
    if against is not None and not changes:
        raise UsageError("--against needs --max-drop X, --max-rise METRIC=X or --max-worse METRIC=COUNT")
    named = {check.metric for check in changes if check.kind != "max-worse"}
    spelled: list[Check] = []
    for check in checks:
        if check.metric != "*":
            spelled.append(replace(check, metric=_canonical_name(check.metric, run)))
        elif against is not None:
            spelled += [replace(check, metric=name) for name in _shares(run, against)[0] if name not in named]
    if not spelled:  # a gate without conditions would pass
        raise UsageError(
            "the two runs share no metric from 0 to 1 with values; `ragstone compare` shows what they have. "
            "Name a metric: --max-drop METRIC=VALUE"
        )
    for check in spelled:
        _check_direction(check, run)
    return spelled


def _check_direction(check: Check, run: Run) -> None:
    metric = run.info.metric(check.metric)
    if metric is None or not check.is_change:
        return
    if metric.better == "none":
        raise UsageError(f"{check.metric} has no better direction, so it cannot drop; use --min and --max")
    if check.kind == "max-rise" and metric.better == "higher":
        raise UsageError(f"{check.metric} should be high: limit its loss with --max-drop {check.metric}=VALUE")


def _shares(run: Run, against: Run) -> tuple[list[str], list[str]]:
    """The metrics that a drop without a name applies to, and the other metrics from 0 to 1."""
    # A metric without values in the baseline cannot drop; one that only the run lost must be checked.
    measured = {row.metric for row in against.summary() if row.n_ok or row.n_failed}
    # One limit cannot fit metrics with other scales.
    names = [
        metric.metric
        for metric in choose_metrics([run, against], ())
        if metric.better != "none" and metric.bounds == (0.0, 1.0) and metric.metric in measured
    ]
    picked = pick_headlines(names)
    return [name for name in names if name in picked], [name for name in names if name not in picked]


def _canonical_name(name: str, run: Run) -> str:
    """The name of a metric in the run."""
    known = [metric.metric for metric in run.info.metrics]
    metric = find_metric(name)
    spelled = str(metric) if metric and name not in known else name
    if spelled not in known and spelled not in run.info.skipped:
        raise UnknownNameError("metric of this run", name, known, f"It has: {', '.join(known)}.")
    return spelled


def too_many_failed(check: Check, rows: int, failed: int, most: float, value: float | None = None) -> Checked | None:
    """`cannot tell` if too many cells failed or too few rows are left, otherwise None."""
    if failed > most * (rows + failed):
        why = f"{failed} of {rows + failed} cells failed; the others may not be representative"
        return Checked(check, "cannot tell", why, value, None, rows, failed)
    if rows < LEAST_PAIRS:
        why = f"{rows} row{'s' if rows != 1 else ''} with a value: too few to decide"
        return Checked(check, "cannot tell", why, value, None, rows, failed)
    return None


def _check_mean(
    check: Check,
    run: Run,
    scores: Scores,
    clusters: np.ndarray | None,
    settings: Settings,
    conditions: int,
    most_failed: float,
) -> Checked:
    summary = run.summary()[check.metric]
    values = scores.values[~np.isnan(scores.values)]
    if refused := too_many_failed(check, len(values), summary.n_failed, most_failed, summary.mean):
        return refused
    strict_level = 1 - (1 - settings.level) / conditions
    if is_of_all_rows(check.metric, run, scores):
        low, high = summary.ci_low, summary.ci_high
        interval = Interval(low, high) if low is not None and high is not None else None
        strict = _widened(interval, summary.mean, settings.level, strict_level)
    else:
        metric = run.info.metric(check.metric)
        find = partial(mean_interval, values, bounds=metric.bounds if metric else (None, None))
        if clusters is not None:
            find = partial(clustered_interval, scores.values, clusters, metric.bounds if metric else (None, None))
        interval, strict = find(level=settings.level), find(level=strict_level)
    found = Checked(
        check, "cannot tell", "the metric has no interval", summary.mean, None, len(values), summary.n_failed
    )
    if interval is None or strict is None:
        return found
    outcome, why = _decide_jointly(check, interval, decide(check, strict) == "fails", conditions)
    if decide(check, interval) == "cannot tell" and summary.mean is not None and clusters is None:
        why = _more_rows(float(values.std(ddof=1)), abs(summary.mean - check.limit), len(values))
    return replace(found, outcome=outcome, why=why, interval=interval)


def _widened(interval: Interval | None, value: float | None, level: float, strict_level: float) -> Interval | None:
    """The interval at a stricter level, by the ratio of the normal quantiles."""
    if interval is None or value is None:
        return None
    normal = NormalDist()
    ratio = normal.inv_cdf((1 + strict_level) / 2) / normal.inv_cdf((1 + level) / 2)
    return Interval(value - ratio * (value - interval.low), value + ratio * (interval.high - value))


def _decide_jointly(check: Check, interval: Interval, certain: bool, conditions: int) -> tuple[Outcome, str]:
    """The outcome and its reason; a failure must be certain after the correction."""
    outcome = decide(check, interval)
    if outcome != "fails" or certain:
        return outcome, ""
    return "cannot tell", f"not significant after the correction for {conditions} conditions"


def _check_drops(
    checks: Sequence[Check], against: Run, run: Run, settings: Settings, conditions: int, most_failed: float
) -> dict[Check, Checked]:
    names = list(dict.fromkeys(check.metric for check in checks))
    compared = compare_runs(against, run, names, settings=settings)
    compared_checks = [check for check in checks if check.metric not in compared.refused]
    counted = {check: _check_worse(check, compared) for check in compared_checks if check.kind == "max-worse"}
    able = [check for check in compared_checks if check not in counted]
    items = [compared[check.metric] for check in able]
    limited = [_absolute(check, item) for check, item in zip(able, items, strict=True)]
    found = judge_drops(limited, items, *_changes(compared, able), settings, conditions, most_failed)
    found = [replace(item, check=check) for item, check in zip(found, able, strict=True)]
    refused = {
        check: Checked(check, "cannot tell", f"it was made in different ways: {compared.refused[check.metric]}")
        for check in checks
        if check.metric in compared.refused
    }
    return refused | counted | dict(zip(able, found, strict=True))


def _check_worse(check: Check, compared: Comparison) -> Checked:
    """Counts the samples that got worse. One that lost its value may be one of them."""
    item = compared[check.metric]
    if item.tally is None:
        return Checked(check, "cannot tell", "no sample has a value in both runs", None, None, item.pairs, item.failed)
    [changes] = _changes(compared, [check])[0].T
    worse = np.flatnonzero((changes > 0) if item.better == "lower" else (changes < 0))
    outcome: Outcome = "fails" if len(worse) > check.limit else "passes"
    why = ""
    if len(worse):
        ids = read_ids(compared.after)
        why = ", ".join(ids[compared.pairs.after[pair]][:40] for pair in worse[:_MOST_NAMED])
        why += f" and {len(worse) - _MOST_NAMED:,} more" if len(worse) > _MOST_NAMED else ""
    lost = item.failed + item.skipped_after
    if outcome == "passes" and len(worse) + lost > check.limit:
        outcome, why = "cannot tell", f"{lost} without a value now may be worse"
    return Checked(check, outcome, why, float(len(worse)), None, item.pairs, item.failed)


def _absolute(check: Check, item: Difference) -> Check:
    """A share of the baseline's score as a number; the baseline is treated as known."""
    if not check.relative:
        return check
    return replace(check, limit=check.limit * abs(item.before or 0.0), relative=False)


def _changes(compared: Comparison, checks: Sequence[Check]) -> tuple[np.ndarray, np.ndarray | None]:
    """One row per pair, one column per condition: after minus before; and the clusters of the pairs."""
    names, pairs = list(dict.fromkeys(check.metric for check in checks)), compared.pairs
    before, after = (read_scores(run, names) for run in (compared.before, compared.after))
    columns = [after[check.metric].values[pairs.after] - before[check.metric].values[pairs.before] for check in checks]
    cluster = compared.settings.cluster
    clusters = read_labels(compared.after, cluster)[pairs.after] if cluster else None
    return np.column_stack([np.zeros((len(pairs), 0)), *columns]), clusters


def judge_drops(
    checks: Sequence[Check],
    items: Sequence[Difference],
    changes: np.ndarray,
    clusters: np.ndarray | None,
    settings: Settings,
    conditions: int,
    most_failed: float = MOST_FAILED,
) -> list[Checked]:
    """Decide the drops, corrected jointly: is the gain below the limit in any of them?"""
    signs = np.array([-1.0 if item.better == "lower" else 1.0 for item in items])
    limits = np.array([check.limit for check in checks])
    # Drops of means are one family; each family gets a share of the level by its size.
    family = np.array([item.joint_p is not None and item.note != EQUAL for item in items], dtype=bool)
    p = np.full(len(checks), np.nan)
    if family.any():
        beyond = changes[:, family] * signs[family] + limits[family]
        joint = flip_signs(beyond, clusters, resamples=settings.resamples, seed=settings.seed).joint
        p[family] = joint * conditions / np.count_nonzero(family)
    # Without values if rows depend on each other.
    gains = (changes * signs).T if clusters is None else np.empty((len(checks), 0))
    return [
        _check_drop(check, item, chance, settings, conditions, most_failed, of_pairs)
        for check, item, chance, of_pairs in zip(checks, items, p, gains, strict=True)
    ]


def _check_drop(
    check: Check,
    item: Difference,
    p: float,
    settings: Settings,
    conditions: int,
    most_failed: float,
    gains: np.ndarray,
) -> Checked:
    lower = item.better == "lower"
    if refused := too_many_failed(check, item.pairs, item.failed, most_failed, item.difference):
        return replace(refused, lower_is_better=lower)
    interval = Interval(item.low, item.high) if item.low is not None and item.high is not None else None
    found = Checked(
        check, "cannot tell", item.note, item.difference, interval, item.pairs, item.failed, lower_is_better=lower
    )
    if item.gain_interval is None or item.gain is None:
        return found
    if item.note == EQUAL:
        # Nothing changed: more rows are not needed.
        return replace(found, outcome="passes")
    if np.isnan(p):
        strict = _widened(item.gain_interval, item.gain, settings.level, 1 - (1 - settings.level) / conditions)
        certain = strict is not None and decide(check, strict) == "fails"
    else:
        certain = p < 1 - settings.level
    outcome, why = _decide_jointly(check, item.gain_interval, certain, conditions)
    if decide(check, item.gain_interval) == "cannot tell" and item.effect:
        deviation = abs((item.difference or 0.0) / item.effect)
        needed = None
        gains = gains[~np.isnan(gains)]
        if len(gains) and np.isin(gains, (-1, 0, 1)).all():
            # The interval of shares is wider than that of other means if few rows changed.
            needed = pairs_to_decide(gains, -check.limit, _MOST_ROWS, settings.level)
        why = _more_rows(deviation, abs(item.gain + check.limit), item.pairs, needed)
    return replace(found, outcome=outcome, why=why or item.note)


def _more_rows(deviation: float, distance: float, rows: int, needed: int | None = None) -> str:
    """The approximate number of rows that would decide, if the value does not change."""
    if needed is None:
        needed = rows_needed(deviation, distance) if distance > 1e-3 * deviation else _MOST_ROWS
    if needed >= _MOST_ROWS:
        return f"{rows} rows are too few, and the value is at the limit"
    return f"{rows} rows are too few; about {max(needed, rows + 1):,} would decide"
