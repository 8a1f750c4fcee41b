"""Sequential gates: conditions on a run that may be unfinished, valid after any number of looks.

The interval is a confidence sequence. It is wider than the interval of a finished run, but keeps its level if you look
after every batch and stop at the first decision. It needs bounded metrics and samples in random order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragstone.compare.alignment import align_samples
from ragstone.compare.differences import ALPHA
from ragstone.compare.gate_conditions import NO_CONDITION, Check, Checked, Outcome, decide, refuse
from ragstone.compare.gates import MOST_FAILED, Gate
from ragstone.engine.metric_choice import find_metric, spelled
from ragstone.errors import StorageError, UnknownNameError, UsageError
from ragstone.stats.intervals import Interval
from ragstone.stats.sequential import watch_mean
from ragstone.storage.places import Place
from ragstone.storage.runs import Run, RunFolder, read_table
from ragstone.storage.scores import FAILED, Scores, read_score_files, read_scores


@dataclass(frozen=True)
class Look:
    """The state of a condition after a number of rows."""

    rows: int
    mean: float
    interval: Interval
    outcome: Outcome


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
    decided: Outcome = "cannot tell"
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
    if any(check.kind == "max-worse" for check in checks):
        raise UsageError("--max-worse needs a finished run: leave out --sequential")
    if any(check.metric == "*" for check in checks):
        raise UsageError("with --sequential name the metric of each drop: --max-drop METRIC=VALUE")
    found = _read(folder, [spelled(check.metric) for check in checks])
    # The intervals hold together: the error rate is that of the exit code.
    level = 1 - ALPHA / len(checks)
    items = [
        _check(replace(check, metric=spelled(check.metric)), found, folder, against, most_failed, level)
        for check in checks
    ]
    return Gate(
        found.name,
        found.path,
        against.name if against else None,
        tuple(items),
        sequential=True,
        finished=found.finished,
    )


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
