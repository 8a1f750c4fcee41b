"""Gates: conditions on the metrics of a run, decided by confidence intervals.

The error rate is that of the exit code. A gate passes only if every condition passes, so passing needs no correction. One
condition is enough to fail, so failing is corrected for all conditions: jointly for drops of means, as in `compare`
(Westfall and Young), and by a wider interval (Bonferroni) for others. The numbers of newly failing rows and of samples
that got worse are counts of what was seen, not estimates: they have no interval and are not part of the correction.

Where the error of the judge is known, a mean is the estimated human score, with the judge's error in its interval. The
difference of two runs by the same judge is scaled in the same way.

Sequential gates apply to a run that may be unfinished and are valid after any number of looks. Their interval is a confidence
sequence. It is wider than the interval of a finished run, but keeps its level if you look after every batch and stop at the
first decision. It needs bounded metrics and samples in random order.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import NormalDist

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragstone.analysis.alignment import align_samples, name_some
from ragstone.analysis.comparison import Comparison, compare_runs, pick_family
from ragstone.analysis.differences import ALPHA, EQUAL, Difference, Settings, is_of_all_rows
from ragstone.analysis.gate_conditions import (
    COUNTS,
    MOST_ROWS,
    NO_CONDITION,
    Check,
    Checked,
    GateOutcome,
    Inconclusive,
    decide,
    more_rows,
    refuse,
)
from ragstone.analysis.row_moves import FEW_CAN_FAIL, check_new_failures
from ragstone.engine.metric_choice import choose_metrics, find_metric, spelled
from ragstone.errors import StorageError, UnknownNameError, UsageError
from ragstone.stats.bootstrap import clustered_interval
from ragstone.stats.intervals import Interval, exact_share_interval, mean_interval
from ragstone.stats.paired import flip_signs, pairs_to_decide
from ragstone.stats.sequential import watch_mean
from ragstone.storage.places import Place
from ragstone.storage.runs import MOST_FAILED, Run, RunFolder, read_table
from ragstone.storage.scores import FAILED, Scores, read_ids, read_labels, read_score_files, read_scores


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
    def outcome(self) -> GateOutcome:
        """Fails if any condition fails, passes if all pass."""
        outcomes = {item.outcome for item in self.checks}
        return "fails" if "fails" in outcomes else "cannot tell" if "cannot tell" in outcomes else "passes"

    @property
    def said(self) -> str:
        """The outcome, and what a pass cannot show."""
        few = self.outcome == "passes" and any(FEW_CAN_FAIL in item.why for item in self.checks)
        return self.outcome + few * f", but {FEW_CAN_FAIL}"

    @property
    def exit_code(self) -> int:
        """The exit code of the command. Rows that are missing are never only a warning: a shorter file would pass."""
        lost = any(item.lost for item in self.checks if item.check.is_count and item.outcome == "cannot tell")
        undecided = 0 if self.inconclusive == "pass" and not lost else 4
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
    conditions = max(conditions, sum(not check.is_count for check in checks))
    absolute = [check.metric for check in checks if not check.is_change]
    scores = read_scores(run, absolute)
    clusters = read_labels(run, settings.cluster) if settings.cluster and absolute else None
    drops = [check for check in checks if check.is_change and check.metric and check.metric not in run.info.skipped]
    dropped: dict[Check, Checked] = {}
    remarks: tuple[str, ...] = ()
    if against and drops:
        dropped, remarks = _check_drops(drops, against, run, settings, conditions, most_failed)
    found = []
    for check in checks:
        if check.metric in run.info.skipped:
            found.append(Checked(check, "cannot tell", f"not computed: {run.info.skipped[check.metric]}"))
        elif against and check.kind == "max-new-failures":
            rows = check_new_failures(check, against, run, settings)
            found += [rows] if rows.rows or not check.is_test else []
        elif check.is_change:
            found.append(dropped[check])
        else:
            found.append(_check_mean(check, run, scores[check.metric], clusters, settings, conditions, most_failed))
    names = {check.metric for check in checks if check.is_change}
    others = [name for name in _shares(run, against)[1] if name not in names] if against and bare else []
    name = against.name if against else None
    if run.failed_share > most_failed:
        remarks = (*remarks, f"{run.failed_share:.0%} of the cells of the run failed, of all metrics or of the judge's")
    if doubtful := tuple(row for item in found for row in item.perhaps_wrong):
        many = "1 row is" if len(doubtful) == 1 else f"{len(doubtful):,} rows are"
        look = f"ragstone explain {shlex.join([run.path, doubtful[0]])}"
        remarks = (*remarks, f"{many} perhaps wrong now: look at {name_some(doubtful, 5)}, as with {look}")
    return Gate(run.name, run.path, name, tuple(found), left_out=tuple(others), remarks=remarks)


def check_without_baseline(
    run: Run,
    checks: Sequence[Check],
    outcome: GateOutcome,
    why: str,
    settings: Settings | None = None,
    most_failed: float = MOST_FAILED,
) -> Gate:
    """Check what needs no baseline; all drops and rises get this outcome."""
    absolute = [check for check in checks if not check.is_change]
    changes = [check for check in checks if check.is_change]
    if not changes:
        raise UsageError("--baseline needs --max-new-failures N or --max-drop X: the largest allowed drop")
    gate = Gate(run.name, run.path, None, ())
    if absolute:
        gate = check_gate(run, absolute, None, settings, most_failed, len(checks))
    for check in changes:
        name = "headline metrics" if check.metric == "*" else check.metric and _canonical_name(check.metric, run)
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
        raise UsageError(
            "--against needs --max-new-failures N, --max-drop X, --max-rise METRIC=X or --max-worse METRIC=COUNT"
        )
    named = {check.metric for check in changes if not check.is_count}
    spelled: list[Check] = []
    for check in checks:
        if not check.metric:
            spelled.append(check)
        elif check.metric != "*":
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
    shares = [
        metric
        for metric in choose_metrics([run, against], ())
        if metric.better != "none" and metric.bounds == (0.0, 1.0) and metric.metric in measured
    ]
    picked, names = pick_family(shares), [metric.metric for metric in shares]
    return [name for name in names if name in picked], [name for name in names if name not in picked]


def _canonical_name(name: str, run: Run) -> str:
    """The name of a metric in the run."""
    known = [metric.metric for metric in run.info.metrics]
    canonical = name if name in known else spelled(name)
    if canonical not in known and canonical not in run.info.skipped:
        raise UnknownNameError("metric of this run", name, known, f"It has: {', '.join(known)}.")
    return canonical


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
    if (error := run.info.judge_error.get(check.metric)) and summary.mean is not None:
        people = error.people(summary.mean, *interval, error.coverage_in(run.info.raw.get("totals") or {}))
        likely, strict = people.interval(settings.level), people.interval(strict_level)
        found = replace(found, value=people.mean, raw=summary.mean)
        if decide(check, interval) != decide(check, likely) == "cannot tell":
            why = "the judge is not exact enough: labels of people (`ragstone view`) or a stronger judge narrow the interval"
            return replace(found, why=why, interval=likely)
        interval = likely
    outcome, why = _decide_jointly(check, interval, decide(check, strict) == "fails", conditions)
    if decide(check, interval) == "cannot tell" and found.value is not None and clusters is None:
        # The judge's error widens an estimated interval, too: at best it falls with more rows.
        reach = max(found.value - interval.low, interval.high - found.value) * (found.raw is not None)
        spread = max(float(values.std(ddof=1)), reach * len(values) ** 0.5 / 2)
        why = more_rows(spread, abs(found.value - check.limit), len(values))
    return replace(found, outcome=outcome, why=why, interval=interval)


def _contrast(check: Check, run: Run) -> float:
    """By how much the judge's mean changes if all answers become good; 1 if its error is not known.

    Two runs of one judge have the rest of its error in common. A test against 0 and a share of the baseline need no scale.
    """
    error = run.info.judge_error.get(check.metric)
    return 1.0 if error is None or check.relative or check.is_test else error.accepted.mean - error.refused.mean


def _scaled(item: Difference, contrast: float) -> Difference:
    """The difference in units of the estimated human score."""
    ends = {name: getattr(item, name) for name in ("difference", "low", "high")}
    scaled = {name: min(1.0, max(-1.0, end / contrast)) for name, end in ends.items() if end is not None}
    return item if contrast == 1.0 else replace(item, **scaled)


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


def _decide_jointly(check: Check, interval: Interval, certain: bool, conditions: int) -> tuple[GateOutcome, str]:
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
    contrasts = np.array([_contrast(check, run) for check in able])
    items = [_scaled(compared[check.metric], contrast) for check, contrast in zip(able, contrasts, strict=True)]
    limited = [_absolute(check, item) for check, item in zip(able, items, strict=True)]
    changes, clusters = _changes(compared, able)
    found = judge_drops(limited, items, changes / contrasts, clusters, settings, conditions, most_failed)
    found = [
        replace(item, check=check, raw=None if contrast == 1.0 else compared[check.metric].difference)
        for item, check, contrast in zip(found, able, contrasts, strict=True)
    ]
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
    limit = check.limit * abs(item.before or 0.0)
    return replace(check, limit=limit, relative=False) if check.relative else check


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
    check: Check, item: Difference, p: float, settings: Settings, conditions: int, most_failed: float, gains: np.ndarray
) -> Checked:
    lower = item.better == "lower"
    lost, units = item.skipped_after, item.units if item.units < item.pairs else None
    if refused := refuse(check, item.difference, item.pairs, item.failed, most_failed, lost, units):
        # Without the lost rows it cannot pass, but it can fail.
        rest = _check_drop(check, item, p, settings, conditions, 1.0, gains) if lost and most_failed < 1.0 else refused
        return rest if rest.outcome == "fails" else replace(refused, lower_is_better=lower)
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
    if check.is_test:
        return replace(found, outcome="fails" if outcome == "fails" else "passes", why=item.note)
    if decide(check, item.gain_interval) == "cannot tell" and item.effect:
        deviation = abs((item.difference or 0.0) / item.effect)
        needed = None
        gains = gains[~np.isnan(gains)]
        if len(gains) and np.isin(gains, (-1, 0, 1)).all():
            # The interval of shares is wider than that of other means if few rows changed.
            needed = pairs_to_decide(gains, -check.limit, MOST_ROWS, settings.level)
        why = more_rows(deviation, abs(item.gain + check.limit), item.pairs, needed)
    return replace(found, outcome=outcome, why=why or item.note)


@dataclass(frozen=True)
class Look:
    """The state of a condition after a number of rows."""

    rows: int
    mean: float
    interval: Interval
    outcome: GateOutcome


@dataclass(frozen=True)
class _SoFar:
    """The scored rows of a run."""

    name: str
    path: str
    finished: bool
    rows: np.ndarray
    scores: dict[str, Scores]


def watch(
    values: Iterable[float], check: Check, bounds: tuple[float, float] = (0.0, 1.0), level: float = 0.95
) -> Iterator[Look]:
    """Yields the state of a condition after each value. Once decided, it stays decided.

    For a `max-drop` condition the values are gains over the baseline, row by row.
    """
    decided: GateOutcome = "cannot tell"
    for count, mean, interval in watch_mean(values, *bounds, level):
        decided = decide(check, interval) if decided == "cannot tell" else decided
        yield Look(count, mean, interval, decided)


def check_so_far(
    folder: RunFolder, checks: Sequence[Check], against: Run | None = None, most_failed: float = MOST_FAILED
) -> Gate:
    """Check the conditions on the scored rows of a run, finished or not."""
    if not checks:
        raise UsageError(NO_CONDITION)
    if any(check.is_change for check in checks) and against is None:
        raise UsageError("--max-drop and --max-rise need a baseline: --against RUN or --baseline BRANCH")
    if any(check.relative for check in checks):
        raise UsageError("with --sequential write limits as numbers, not as a percentage")
    for check in checks:
        if check.kind in COUNTS:
            raise UsageError(f"--{check.kind} needs a finished run: leave out --sequential")
    if any(check.metric == "*" for check in checks):
        raise UsageError("with --sequential name the metric of each drop: --max-drop METRIC=VALUE")
    found = _read(folder, [spelled(check.metric) for check in checks])
    # The intervals hold together: the error rate is that of the exit code.
    level = 1 - ALPHA / len(checks)
    items = [
        _check(replace(check, metric=spelled(check.metric)), found, folder, against, most_failed, level)
        for check in checks
    ]
    baseline = against.name if against else None
    return Gate(found.name, found.path, baseline, tuple(items), sequential=True, finished=found.finished)


def _read(folder: RunFolder, metrics: Sequence[str]) -> _SoFar:
    if folder.manifest.exists():
        run = Run(folder)
        known = [metric.metric for metric in run.info.metrics]
        found = _known(read_scores(run, metrics), known)
        return _SoFar(run.name, run.path, finished=True, rows=np.arange(run.info.rows), scores=found)
    if not folder.plan.exists():
        raise StorageError(f"{folder.place} is not a run: it has neither run.json nor plan.json")
    parts = [folder.part(number) for number in sorted(folder.finished_parts())]
    ids = read_table(folder.samples, ["id"])["id"].combine_chunks()
    places = [pc.index_in(_first_ids(part.scores), value_set=ids).to_numpy() for part in parts]
    rows = np.concatenate([*places, np.zeros(0)]).astype(np.int64)
    scores = _known(read_score_files([part.scores for part in parts], metrics), ()) if parts else {}
    return _SoFar(folder.id, str(folder.place), finished=False, rows=rows, scores=scores)


def _known(scores: dict[str, Scores], known: Sequence[str]) -> dict[str, Scores]:
    for name, column in scores.items():
        if not len(column.values):
            listed = f"It has: {', '.join(known)}." if known else "The finished rows have no cell of it."
            raise UnknownNameError("metric of this run", name, known, listed)
    return scores


def _first_ids(place: Place) -> pa.Array:
    """The samples of a part, from the cells of its first metric."""
    table = read_table(place, ["sample_id", "metric"])
    first = table["metric"][0].as_py()
    return table.filter(pc.equal(table["metric"].cast("string"), first))["sample_id"].combine_chunks()


def _check(
    check: Check, found: _SoFar, folder: RunFolder, against: Run | None, most_failed: float, level: float
) -> Checked:
    if check.metric not in found.scores:
        return Checked(check, "cannot tell", "no row is finished yet")
    metric = find_metric(check.metric)
    if metric is None or None in metric.spec.bounds or metric.is_of_all_rows:
        raise UsageError(f"{check.metric}: a sequential gate needs a metric that is a mean of rows with known bounds")
    low, high = (float(bound) for bound in metric.spec.bounds if bound is not None)
    scores = found.scores[check.metric]
    values, failed = scores.values, int(np.count_nonzero(scores.states == FAILED))
    lower = check.is_change and metric.spec.better == "lower"
    if check.is_change:
        values, failed = _gains(check.metric, found, folder, against, scores)
        values = -values if lower else values
        low, high = low - high, high - low
    kept = values[~np.isnan(values)]
    if refused := refuse(check, None, len(kept), failed, most_failed):
        return refused
    looks = list(watch(kept.tolist(), check, (low, high), level))
    last = looks[-1]
    after = next((look.rows for look in looks if look.outcome != "cannot tell"), None)
    why = f"{len(kept)} rows are too few" if after is None else f"decided after {after} rows"
    mean, interval = last.mean, last.interval
    if lower:
        mean, interval = -mean, Interval(-interval.high, -interval.low)
    return Checked(
        check, last.outcome, why, mean, interval, len(kept), failed, decided_after=after, lower_is_better=lower
    )


def _gains(
    metric: str, found: _SoFar, folder: RunFolder, against: Run | None, scores: Scores
) -> tuple[np.ndarray, int]:
    """The differences to the baseline in row order, and the number of pairs that failed in either run."""
    if against is None:
        return np.zeros(0), 0
    baseline = read_scores(against, [metric])[metric]
    if not len(baseline.values):
        raise UnknownNameError("metric of the baseline", metric, [item.metric for item in against.info.metrics])
    tables = [read_table(place, ["id", "question"]) for place in (against.folder.samples, folder.samples)]
    pairs = align_samples(*tables)
    partner = np.full(tables[1].num_rows, -1)
    partner[pairs.after] = pairs.before
    theirs = partner[found.rows]
    paired = theirs >= 0
    mine, before = scores.take(np.flatnonzero(paired)), baseline.take(theirs[paired])
    failed = np.count_nonzero((mine.states == FAILED) | (before.states == FAILED))
    return mine.values - before.values, int(failed)
