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

from ragstone.compare.alignment import name_some
from ragstone.compare.comparison import Comparison, compare_runs
from ragstone.compare.differences import EQUAL, Difference, Settings, is_of_all_rows
from ragstone.compare.gate_conditions import (
    MOST_ROWS,
    NO_CONDITION,
    Check,
    Checked,
    Inconclusive,
    Outcome,
    decide,
    more_rows,
    refuse,
)
from ragstone.engine.metric_choice import choose_metrics, find_metric, pick_headlines
from ragstone.errors import UnknownNameError, UsageError
from ragstone.stats.bootstrap import clustered_interval
from ragstone.stats.intervals import Interval, exact_share_interval, mean_interval
from ragstone.stats.paired import flip_signs, pairs_to_decide
from ragstone.storage.runs import Run
from ragstone.storage.scores import Scores, read_ids, read_labels, read_scores

# With a larger share of failed cells, the other cells may not be representative.
MOST_FAILED = 0.05


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
    # Caveats of the comparison with the baseline: samples without a partner, other questions.
    remarks: tuple[str, ...] = ()
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
    dropped: dict[Check, Checked] = {}
    remarks: tuple[str, ...] = ()
    if against and drops:
        dropped, remarks = _check_drops(drops, against, run, settings, conditions, most_failed)
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
    name = against.name if against else None
    return Gate(run.name, run.path, name, tuple(found), left_out=tuple(others), remarks=remarks)


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
    if refused := refuse(check, summary.mean, len(values), summary.n_failed, most_failed):
        return refused
    if (missing := _unanswered(run, check.metric)) > most_failed * run.info.rows:
        why = f"{missing} of {run.info.rows} rows have no answer; the others may not be representative"
        return Checked(check, "cannot tell", why, summary.mean, None, len(values), summary.n_failed)
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
        if clusters is None and np.isin(values, (0, 1)).all():
            # Wilson's interval is too short for shares near 0 and 1, and failing must be certain.
            strict = exact_share_interval(int(values.sum()), len(values), strict_level)
    found = Checked(
        check, "cannot tell", "the metric has no interval", summary.mean, None, len(values), summary.n_failed
    )
    if interval is None or strict is None:
        return found
    outcome, why = _decide_jointly(check, interval, decide(check, strict) == "fails", conditions)
    if decide(check, interval) == "cannot tell" and summary.mean is not None and clusters is None:
        why = more_rows(float(values.std(ddof=1)), abs(summary.mean - check.limit), len(values))
    return replace(found, outcome=outcome, why=why, interval=interval)


def _unanswered(run: Run, name: str) -> int:
    """The rows without an answer, if the metric judges answers; without answer and chunks, if it judges retrieval."""
    metric = run.info.metric(name)
    judged = metric.raw.get("judges") if metric else None
    present = run.info["dataset"].get("present") or {}
    fields = {"answer": ("answer",), "contexts": ("answer", "contexts")}.get(str(judged), ())
    return min((run.info.rows - present[field] for field in fields if field in present), default=0)


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
) -> tuple[dict[Check, Checked], tuple[str, ...]]:
    """The outcome of each condition, and the caveats of the comparison."""
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
    return refused | counted | dict(zip(able, found, strict=True)), compared.remarks


def _check_worse(check: Check, compared: Comparison) -> Checked:
    """Counts the samples that got worse. One that lost its value may be one of them."""
    item = compared[check.metric]
    if item.tally is None and item.pairs:
        raise UsageError(f"{check.metric} is a score of all rows: it has no samples that get worse; use --max-drop")
    gone = len(compared.pairs.only_before) + len(compared.pairs.renamed)
    found = Checked(check, "cannot tell", "", None, None, item.pairs, item.failed, item.skipped_after + gone)
    if item.tally is None:
        return replace(found, why="no sample has a value in both runs")
    [changes] = _changes(compared, [check])[0].T
    worse = np.flatnonzero((changes > 0) if item.better == "lower" else (changes < 0))
    found = replace(found, value=float(len(worse)))
    lost = found.failed + found.lost
    if len(worse) <= check.limit < len(worse) + lost:
        return replace(found, why=f"{lost} of the baseline's samples have no value now: they may be worse")
    ids = read_ids(compared.after) if len(worse) else []
    why = name_some(tuple(ids[compared.pairs.after[pair]] for pair in worse), 5)
    return replace(found, outcome="fails" if len(worse) > check.limit else "passes", why=why)


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
    lost, units = item.skipped_after, item.units if item.units < item.pairs else None
    if refused := refuse(check, item.difference, item.pairs, item.failed, most_failed, lost, units):
        return replace(refused, lower_is_better=lower)
    interval = Interval(item.low, item.high) if item.low is not None and item.high is not None else None
    found = Checked(
        check, "cannot tell", item.note, item.difference, interval, item.pairs, item.failed, lost, lower_is_better=lower
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
            needed = pairs_to_decide(gains, -check.limit, MOST_ROWS, settings.level)
        why = more_rows(deviation, abs(item.gain + check.limit), item.pairs, needed)
    return replace(found, outcome=outcome, why=why or item.note)
