"""A leaderboard: several runs ranked per metric, with groups of runs that do not differ significantly.

Also quality against cost: each run as a point with its intervals, one panel per cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ragstone.analysis.alignment import align
from ragstone.analysis.comparison import differing_signatures
from ragstone.analysis.differences import LEAST_PAIRS, Settings, is_of_all_rows
from ragstone.engine.metric_choice import choose_metrics, is_headline
from ragstone.errors import UsageError
from ragstone.stats.bootstrap import clustered_interval
from ragstone.stats.intervals import Interval, correct, mean_interval
from ragstone.stats.paired import flip_signs
from ragstone.storage.run_info import MetricInfo
from ragstone.storage.runs import Run
from ragstone.storage.scores import Scores, read_labels, read_scores

# The costs that get a panel; tokens only if no run has a price.
_LATENCY, _PRICE, _TOKENS = "system.latency", "system.cost", "system.output_tokens"
_AXES = {_LATENCY: "seconds per answer", _PRICE: "dollars per 1,000 answers", _TOKENS: "tokens written per answer"}


@dataclass(frozen=True)
class Place:
    """The place of a run: 1 plus the number of significantly better runs. Runs with a common letter do not differ."""

    run: int
    mean: float
    interval: Interval | None
    rank: int | None = None
    letters: str = ""


@dataclass(frozen=True)
class Ranking:
    """One metric: the runs, best first, over the samples that have a value in all runs."""

    metric: str
    better: str
    bounds: tuple[float | None, float | None]
    samples: int
    places: tuple[Place, ...]
    note: str = ""


@dataclass(frozen=True)
class Leaderboard:
    """Several runs on their common samples."""

    runs: tuple[Run, ...]
    samples: int
    parameters: tuple[str, ...]
    rankings: tuple[Ranking, ...]
    refused: Mapping[str, str]
    remarks: tuple[str, ...]
    settings: Settings

    def values(self, run: int) -> list[Any]:
        """The parameters of a run in the order of the columns; None if it lacks one."""
        return [self.runs[run].info.params.get(name) for name in self.parameters]


def rank_runs(
    runs: Sequence[Run], metrics: Sequence[str] | str = (), settings: Settings | None = None, anyway: bool = False
) -> Leaderboard:
    """Rank several finished runs of the same questions."""
    if len(runs) < 2:
        raise UsageError("a leaderboard needs two runs or more")
    settings = (settings or Settings()).for_run(runs[0])
    # The rows of the common samples in each run, in the order of the first run
    pairs = [align(runs[0], run) for run in runs[1:]]
    common = pairs[0].before
    for other in pairs[1:]:
        common = np.intersect1d(common, other.before)
    if not len(common):
        raise UsageError("these runs have no sample in common. Compare them in pairs.")
    rows = [common, *(other.after[np.searchsorted(other.before, common)] for other in pairs)]
    differing = {name: what for run in runs[1:] for name, what in differing_signatures(runs[0], run).items()}
    chosen = choose_metrics(runs, metrics)
    able = [metric for metric in chosen if anyway or metric.metric not in differing]
    names = [metric.metric for metric in able]
    scores = [
        {name: cells.take(taken) for name, cells in read_scores(run, names).items()}
        for run, taken in zip(runs, rows, strict=True)
    ]
    clusters = read_labels(runs[0], settings.cluster)[rows[0]] if settings.cluster else None
    tables = {name: np.column_stack([side[name].values for side in scores]) for name in names}
    apart = _differing_pairs(able, tables, settings, clusters, runs[0], scores[0])
    return Leaderboard(
        runs=tuple(runs),
        samples=len(rows[0]),
        parameters=tuple(dict.fromkeys(name for run in runs for name in run.info.params)),
        rankings=tuple(
            _rank_whole(metric, runs)
            if is_of_all_rows(metric.metric, runs[0], scores[0][metric.metric])
            else _rank(metric, tables[metric.metric], apart, settings, clusters)
            for metric in able
        ),
        refused={}
        if anyway
        else {name: what for name, what in differing.items() if name in {m.metric for m in chosen}},
        remarks=_left_out(runs, len(rows[0])),
        settings=settings,
    )


def _left_out(runs: Sequence[Run], shared: int) -> tuple[str, ...]:
    """One line about the samples that are not in all runs, with the runs of equal size together; empty if there are none."""
    sizes: dict[int, list[str]] = {}
    for run in runs:
        if run.info.rows > shared:
            sizes.setdefault(run.info.rows, []).append(run.name)
    if not sizes:
        return ()
    parts = [
        f"{size - shared} of {size} samples of {names[0] if len(names) == 1 else f'each of {len(names)} runs'}"
        for size, names in sizes.items()
    ]
    return (f"{' and '.join(parts)} are not in all runs and are left out",)


def _differing_pairs(
    metrics: Sequence[MetricInfo],
    tables: Mapping[str, np.ndarray],
    settings: Settings,
    clusters: np.ndarray | None,
    first: Run,
    scores: Mapping[str, Scores],
) -> dict[str, set[tuple[int, int]]]:
    """The pairs of runs that differ, per testable metric; all pairs of all metrics are one family of tests."""
    tested = [
        metric.metric
        for metric in metrics
        if metric.better != "none"
        and not is_of_all_rows(metric.metric, first, scores[metric.metric])
        and _complete(tables[metric.metric]).sum() >= LEAST_PAIRS
    ]
    if not tested:
        return {}
    pairs = list(combinations(range(tables[tested[0]].shape[1]), 2))
    columns = []
    for name in tested:
        table = np.where(_complete(tables[name])[:, None], tables[name], np.nan)
        columns += [table[:, second] - table[:, other] for second, other in pairs]
    found = flip_signs(np.column_stack(columns), clusters, resamples=settings.resamples, seed=settings.seed)
    p = found.joint if settings.correction == "joint" else correct(found.p, settings.correction)
    chances = iter(p)
    return {name: {pair for pair in pairs if next(chances) < 1 - settings.level} for name in tested}


def _complete(table: np.ndarray) -> np.ndarray:
    complete: np.ndarray = ~np.isnan(table).any(axis=1)
    return complete


def _rank(
    metric: MetricInfo,
    table: np.ndarray,
    apart: Mapping[str, set[tuple[int, int]]],
    settings: Settings,
    clusters: np.ndarray | None = None,
) -> Ranking:
    name = metric.metric
    low, high = metric.bounds
    whole = table[_complete(table)]
    if not len(whole):
        return Ranking(name, metric.better, (low, high), 0, (), "no sample has a value in all runs")
    means = whole.mean(axis=0)
    order = np.argsort(means if metric.better == "lower" else -means, kind="stable")
    differ = apart.get(name)
    letters = group_letters([int(run) for run in order], differ) if differ is not None else [""] * len(order)
    places = []
    for position, run in enumerate(order):
        ahead = (
            sum((min(other, run), max(other, run)) in differ for other in order[:position]) if differ is not None else 0
        )
        if clusters is None:
            interval = mean_interval(whole[:, run], settings.level, (low, high))
        else:
            labels = clusters[_complete(table)]
            interval = clustered_interval(whole[:, run], labels, (low, high), settings.level)
        rank = None if differ is None else 1 + ahead
        places.append(Place(int(run), float(means[run]), interval, rank, letters[position]))
    return Ranking(name, metric.better, (low, high), len(whole), tuple(places), _why_no_rank(metric, differ))


def _rank_whole(metric: MetricInfo, runs: Sequence[Run]) -> Ranking:
    """A corpus-level score of each run as stored: shown, but not tested here."""
    rows = [run.summary()[metric.metric] for run in runs]
    places = [
        Place(
            number, row.mean, None if row.ci_low is None or row.ci_high is None else Interval(row.ci_low, row.ci_high)
        )
        for number, row in enumerate(rows)
        if row.mean is not None
    ]
    places.sort(key=lambda place: place.mean if metric.better == "lower" else -place.mean)
    low, high = metric.bounds
    note = "corpus-level score of each run; compare two runs to test it"
    return Ranking(metric.metric, metric.better, (low, high), min(row.n_ok for row in rows), tuple(places), note)


def _why_no_rank(metric: MetricInfo, differ: set[tuple[int, int]] | None) -> str:
    if differ is not None:
        return ""
    return "it has no better direction" if metric.better == "none" else "too few rows"


def group_letters(order: Sequence[int], differ: set[tuple[int, int]]) -> list[str]:
    """Letters for runs in order: two runs share a letter if and only if they do not differ."""
    groups: list[set[int]] = [set(order)]
    for first, second in sorted(differ):
        for group in [group for group in groups if {first, second} <= group]:
            groups.remove(group)
            groups += [group - {first}, group - {second}]
        # A subset of another group adds nothing.
        groups = [group for group in groups if not any(group < other for other in groups)]
        groups = [group for number, group in enumerate(groups) if group not in groups[:number]]
    place = {run: position for position, run in enumerate(order)}
    groups.sort(key=lambda group: sorted(place[run] for run in group))
    names = [chr(ord("a") + number) if number < 26 else f"({number + 1})" for number in range(len(groups))]
    return ["".join(name for name, group in zip(names, groups, strict=True) if run in group) for run in order]


@dataclass(frozen=True)
class Point:
    """A run: its cost (x) and its quality (y), each with an interval if it is known."""

    name: str
    x: float
    x_low: float | None
    x_high: float | None
    y: float
    y_low: float | None
    y_high: float | None


@dataclass(frozen=True)
class Panel:
    """One cost against one measure of quality."""

    cost: str
    axis: str
    quality: str
    points: tuple[Point, ...]

    def as_dict(self) -> dict[str, Any]:
        """The panel for JSON."""
        return asdict(self)


def find_tradeoffs(runs: Sequence[Run], names: Sequence[str], quality: str | None = None) -> list[Panel]:
    """The panels of these runs under these names; none if no cost is known. By default the first headline is the quality."""
    summaries = [{row.metric: row for row in run.summary() if row.mean is not None} for run in runs]
    shared = set(summaries[0]).intersection(*summaries[1:]) if summaries else set()
    measures = [name for name in _measures(runs[0]) if name in shared] if runs else []
    chosen = quality if quality in shared else next(iter(measures), None)
    if chosen is None:
        return []
    costs = [_LATENCY, _PRICE if any(_PRICE in summary for summary in summaries) else _TOKENS]
    panels = []
    for cost in costs:
        times = 1_000 if cost == _PRICE else 1
        points = [
            Point(name, times * (a.mean or 0.0), low, high, b.mean or 0.0, b.ci_low, b.ci_high)
            for name, summary in zip(names, summaries, strict=True)
            if cost in summary
            for a, b in [(summary[cost], summary[chosen])]
            for low, high in [(a.ci_low and times * a.ci_low, a.ci_high and times * a.ci_high)]
        ]
        if points:
            panels.append(Panel(cost, _AXES[cost], chosen, tuple(points)))
    return panels


def _measures(run: Run) -> Iterator[str]:
    """The metrics of quality from 0 to 1: of the answer first, headlines first."""
    able = [item for item in run.info.metrics if item.better == "higher" and item.bounds == (0.0, 1.0)]
    for of_answer in (True, False):
        for first in (True, False):
            yield from (
                item.metric
                for item in able
                if (item["judges"] == "answer") == of_answer and is_headline(item.metric) == first
            )
