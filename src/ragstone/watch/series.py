"""The series of a watch: the mean of each metric over all traffic per period, and the periods in which a mean seems to change.

`docs/watch-statistics.md` describes the design and the estimates, `docs/watch-alarms.md` the alarm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ragstone.agreement.labels import read_human
from ragstone.analysis.sample_order import find_worst, measure_quality
from ragstone.engine.metric_choice import find_metric, spelled
from ragstone.errors import UnknownNameError
from ragstone.number_format import number
from ragstone.stats.change import PeriodSums, find_changes
from ragstone.stats.ppi import LEAST_LABELS, Rows
from ragstone.stats.weighted import powered_traffic_mean, traffic_mean
from ragstone.storage.run_info import MetricInfo
from ragstone.storage.scores import Scores, read_ids, read_scores
from ragstone.watch.store import PeriodRecord, WatchStore

# The probability of a false alarm per year, in any of the metrics.
FALSE_ALARMS = 0.05
PER_YEAR = {"day": 365, "week": 52}


@dataclass(frozen=True)
class Point:
    """One metric in one period: the mean over all requests with its 95 % interval; None without a score.

    `rows` have a score, `requests` are those of the strata with a score.
    """

    period: str
    metric: str
    estimate: float | None
    low: float | None
    high: float | None
    rows: int
    requests: int


@dataclass(frozen=True)
class Alarm:
    """After `period`, the mean seems to have changed from `since` on; `worse` is None for metrics without a direction.

    `strength` is a likelihood ratio on the scale of standard errors. `chance` is the probability that any of the metrics gets this far
    within a year without a change.
    """

    period: str
    metric: str
    direction: str
    worse: bool | None
    since: str
    before: float
    after: float
    strength: float
    chance: float

    def __str__(self) -> str:
        return (
            f"{self.metric} seems {self.direction} since {self.since}: {number(self.after)}, before {number(self.before)} "
            f"(found after {self.period}; by chance {odds(self.chance)})"
        )


@dataclass(frozen=True)
class LabelledMean:
    """The mean label of people over all traffic, from some labels and the scores of a metric for all rows."""

    period: str
    metric: str
    mean: float
    low: float
    high: float
    labels: int
    judge_mean: float


@dataclass(frozen=True)
class Series:
    """All periods of a watch, oldest first. `points` has one point per period for each metric, in the same order.

    `breaks` has the periods in which a metric was computed differently from before, for example by another judge.
    """

    period: str
    periods: tuple[PeriodRecord, ...]
    metrics: tuple[MetricInfo, ...]
    points: Mapping[str, tuple[Point, ...]]
    alarms: tuple[Alarm, ...]
    breaks: tuple[tuple[str, str], ...]
    labelled: tuple[LabelledMean, ...]
    remarks: tuple[str, ...]


class PeriodScores(NamedTuple):
    """The rows of a period: id, run, row in the run, weight and stratum; the scores of each metric."""

    ids: tuple[str, ...]
    places: tuple[tuple[str, int], ...]
    weights: np.ndarray
    strata: np.ndarray
    metrics: Mapping[str, MetricInfo]
    scores: Mapping[str, Scores]


# Periods that were read earlier, by their name and runs.
Cache = dict[tuple[str, tuple[str, ...]], PeriodScores]


def odds(chance: float) -> str:
    """A small probability per year as words."""
    return f"once in {1 / chance:,.0f} years" if chance >= 1e-4 else "less than once in 10,000 years"


def read_period(store: WatchStore, record: PeriodRecord) -> PeriodScores:
    """Read the evaluated rows of a period; the weights of a stratum add up to its requests."""
    runs = store.runs(record.period)
    infos = ((info, find_metric(info.metric)) for run in runs for info in run.info.metrics)
    # Metrics of all rows together have no mean per period.
    metrics = {info.metric: info for info, metric in infos if metric is None or not metric.is_of_all_rows}
    ids = [read_ids(run) for run in runs]
    columns = [read_scores(run, list(metrics)) for run in runs]
    scores = {name: _joined([part[name] for part in columns], ids) for name in metrics}
    names = tuple(name for part in ids for name in part)
    strata = np.array([record.strata.get(name, "") for name in names], dtype=object)
    weights = np.array([record.weights.get(name, np.nan) for name in names], dtype=np.float64)
    places = tuple((run.id, row) for run, part in zip(runs, ids, strict=True) for row in range(len(part)))
    return PeriodScores(names, places, _settled(weights, strata, record.seen), strata, metrics, scores)


def _joined(parts: Sequence[Scores], ids: Sequence[Sequence[str]]) -> Scores:
    """The scores of several runs; a run without the metric has no values."""
    values = [
        part.values if len(part.values) == len(names) else np.full(len(names), np.nan)
        for part, names in zip(parts, ids, strict=True)
    ]
    joined = np.concatenate(values) if values else np.zeros(0)
    return Scores(joined, np.isnan(joined).astype(np.int8))


def _settled(weights: np.ndarray, strata: np.ndarray, seen: Mapping[str, int]) -> np.ndarray:
    """Weights that add up to the requests of each stratum; a row without a weight gets the mean of its stratum."""
    settled = np.where(np.isnan(weights) | (weights <= 0), np.nan, weights)
    for stratum in np.unique(strata.astype(str)):
        mine = strata == stratum
        given = settled[mine]
        each = np.where(np.isnan(given), 1.0 if np.isnan(given).all() else np.nanmean(given), given)
        # A stratum has at least as many requests as rows.
        total = max(float(seen.get(stratum, each.sum())), float(mine.sum()))
        settled[mine] = each * (total / each.sum())
    return settled


def estimate_series(
    store: WatchStore, metrics: Sequence[str] | None = None, cache: Cache | None = None, chance: float = FALSE_ALARMS
) -> Series:
    """Estimate all periods of a watch. Alarms use complete periods only; `chance` is the false-alarm probability per year."""
    kind = str(store.settings().get("period", "day"))
    records = tuple(store.periods())
    cache = {} if cache is None else cache
    for record in records:
        if (key := (record.period, record.runs)) not in cache:
            cache[key] = read_period(store, record)
    data = [cache[record.period, record.runs] for record in records]
    infos = {name: info for part in data for name, info in part.metrics.items()}
    chosen = _choose(infos, metrics)
    points, alarms, breaks = {}, [], []
    for info in chosen:
        points[info.metric] = tuple(_point(record, part, info) for record, part in zip(records, data, strict=True))
        found, changed = _alarms(info, records, data, kind, len(chosen), chance)
        alarms += found
        breaks += changed
    labelled, remarks = _labelled(store, records, data, chosen)
    order = {record.period: number for number, record in enumerate(records)}
    alarms.sort(key=lambda alarm: (order[alarm.period], alarm.chance))
    return Series(kind, records, tuple(chosen), points, tuple(alarms), tuple(breaks), tuple(labelled), tuple(remarks))


def _choose(infos: Mapping[str, MetricInfo], metrics: Sequence[str] | None) -> list[MetricInfo]:
    if not metrics:
        return list(infos.values())
    names = [name if name in infos else spelled(name) for name in metrics]
    for name in names:
        if name not in infos:
            raise UnknownNameError("metric of this watch", name, infos, f"It has: {', '.join(infos) or 'none'}.")
    return [infos[name] for name in dict.fromkeys(names)]


def _values(part: PeriodScores, metric: str) -> np.ndarray:
    return part.scores[metric].values if metric in part.scores else np.full(len(part.ids), np.nan)


def _point(record: PeriodRecord, part: PeriodScores, info: MetricInfo) -> Point:
    values = _values(part, info.metric)
    known = ~np.isnan(values)
    found = traffic_mean(values, part.weights, part.strata.astype(str), info.bounds)
    there = set(part.strata[known])
    ends = found.interval if found else None
    return Point(
        period=record.period,
        metric=info.metric,
        estimate=found.mean if found else None,
        low=ends.low if ends else None,
        high=ends.high if ends else None,
        rows=int(known.sum()),
        requests=sum(record.seen.get(stratum, 0) for stratum in there),
    )


def _alarms(
    info: MetricInfo,
    records: Sequence[PeriodRecord],
    data: Sequence[PeriodScores],
    kind: str,
    series: int,
    chance: float,
) -> tuple[list[Alarm], list[tuple[str, str]]]:
    """The alarms of one metric, and the periods in which its signature changed: earlier periods are not comparable."""
    used = [place for place, record in enumerate(records) if record.complete and info.metric in data[place].metrics]
    signatures = [str(data[place].metrics[info.metric].signature) for place in used]
    starts = [at for at in range(1, len(used)) if signatures[at] != signatures[at - 1]]
    strata = sorted({str(stratum) for place in used for stratum in data[place].strata})
    alarms = []
    for first, last in zip([0, *starts], [*starts, len(used)], strict=True):
        places = used[first:last]
        sums = _sums([data[place] for place in places], info.metric, strata)
        for change in find_changes(sums, info.bounds, PER_YEAR.get(kind, 365), series, chance):
            lower = change.after < change.before
            alarms.append(
                Alarm(
                    period=records[places[change.at]].period,
                    metric=info.metric,
                    direction="lower" if lower else "higher",
                    worse=None if info.better == "none" else lower == (info.better == "higher"),
                    since=records[places[change.since]].period,
                    before=change.before,
                    after=change.after,
                    strength=abs(change.strength),
                    chance=change.chance,
                )
            )
    return alarms, [(records[used[at]].period, info.metric) for at in starts]


def _sums(data: Sequence[PeriodScores], metric: str, strata: Sequence[str]) -> PeriodSums:
    table = PeriodSums(*np.zeros((4, len(data), len(strata))))
    place_of = {name: place for place, name in enumerate(strata)}
    for row, part in enumerate(data):
        values = _values(part, metric)
        codes = np.array([place_of[str(name)] for name in part.strata], dtype=np.int64)
        known = ~np.isnan(values)
        for column, content in zip(table, (known, values, values**2, part.weights), strict=True):
            column[row] = np.bincount(codes[known], content[known].astype(np.float64), minlength=len(strata))
    return table


def _labelled(
    store: WatchStore, records: Sequence[PeriodRecord], data: Sequence[PeriodScores], metrics: Sequence[MetricInfo]
) -> tuple[list[LabelledMean], list[str]]:
    """Prediction-powered estimates over all periods, and of each period with enough labels."""
    if not store.labels_file.exists():
        return [], []
    given: dict[str, list[tuple[float, int, float]]] = {}
    for label in read_human(str(store.labels_file)).labels:
        chance = np.nan if label.chance is None else label.chance
        given.setdefault(label.sample_id, []).append((label.value, label.round, chance))
    found, known = [], 0
    parts = [("", _together(data)), *((record.period, part) for record, part in zip(records, data, strict=True))]
    for period, part in parts:
        there = [name in given for name in part.ids]
        known = max(known, sum(there))
        if sum(there) < LEAST_LABELS:
            continue
        for info in metrics:
            powered = powered_traffic_mean(_rows(part, info.metric, given), part.weights)
            if powered is not None and powered.labels >= LEAST_LABELS:
                mean = (powered.mean, *powered.interval, powered.labels, powered.judge_mean)
                found.append(LabelledMean(period, info.metric, *mean))
    remarks = []
    if known < LEAST_LABELS:
        remarks.append(
            f"{known} rows of labels.csv match; estimates with labels of people need {LEAST_LABELS} randomly chosen rows"
        )
    return found, remarks


def _together(data: Sequence[PeriodScores]) -> PeriodScores:
    """The rows of all periods; the names of their metrics are those of the newest period that has them."""
    names = {name: info for part in data for name, info in part.metrics.items()}
    joined = {name: np.concatenate([_values(part, name) for part in data]) for name in names}
    return PeriodScores(
        tuple(name for part in data for name in part.ids),
        tuple(place for part in data for place in part.places),
        np.concatenate([part.weights for part in data] or [np.zeros(0)]),
        np.concatenate([part.strata for part in data] or [np.zeros(0, dtype=object)]),
        names,
        {name: Scores(values, np.isnan(values).astype(np.int8)) for name, values in joined.items()},
    )


def _rows(part: PeriodScores, metric: str, given: Mapping[str, Sequence[tuple[float, int, float]]]) -> Rows:
    missing = [(np.nan, -1, np.nan)]
    labels = np.array([np.mean([label for label, _, _ in given.get(name, missing)]) for name in part.ids])
    rounds = np.array([given.get(name, missing)[0][1] for name in part.ids])
    chances = np.array([given.get(name, missing)[0][2] for name in part.ids])
    return Rows(_values(part, metric), labels, rounds, chances)


class WorstRow(NamedTuple):
    """A sample of a period: its run, its row there (from 0), and its quality from 0 to 1."""

    sample_id: str
    run: str
    row: int
    quality: float


def worst_rows(part: PeriodScores, most: int) -> list[WorstRow]:
    """The rows with the lowest quality: the mean over metric families; rows without a score are left out."""
    quality = measure_quality(list(part.metrics.values()), part.scores, len(part.ids))
    return [WorstRow(part.ids[row], *part.places[row], float(quality[row])) for row in find_worst(quality, {}, most)]


def worst(store: WatchStore, period: str, n: int) -> list[str]:
    """The ids of the worst samples of a period, worst first."""
    record = store.period(period)
    return [] if record is None else [row.sample_id for row in worst_rows(read_period(store, record), n)]
