"""What a stress test shows: how each ability declines as noise grows, how robust it is, and whether place matters."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ragstone.errors import UsageError
from ragstone.stats.intervals import mean_interval
from ragstone.storage.runs import Run, read_table
from ragstone.storage.scores import FAILED, read_scores
from ragstone.stress.beds import BEDS

# The metric by which a bed is judged first; others follow.
MAIN = {
    "noise": "rgb.accuracy",
    "rejection": "rgb.rejection_rate",
    "integration": "rgb.accuracy",
    "counterfactual": "rgb.error_detection_rate",
}


@dataclass(frozen=True)
class Rows:
    """The rows of a stress test: where each belongs, and its scores."""

    ids: list[str]
    beds: np.ndarray
    rates: np.ndarray
    questions: np.ndarray
    passages: list[str]
    scores: Mapping[str, np.ndarray]
    failed: Mapping[str, np.ndarray]
    bounds: Mapping[str, tuple[float | None, float | None]]


@dataclass(frozen=True)
class Point:
    """A metric at one rate: the mean over questions, each of which counts once whatever its repeats."""

    rate: float
    mean: float | None
    low: float | None
    high: float | None
    questions: int
    skipped: int
    failed: int


@dataclass(frozen=True)
class Robustness:
    """The area under a curve over the rates at which an answer is possible, a mean over questions that have all of them."""

    value: float
    low: float | None
    high: float | None
    questions: int


@dataclass(frozen=True)
class Curve:
    """A metric over the rates of a bed."""

    bed: str
    metric: str
    points: tuple[Point, ...]
    # Those that robustness is about: in the noise bed the rates at which a passage holds the answer.
    rates: tuple[float, ...]
    robustness: Robustness | None
    # For each question its own area; two generators are compared by them.
    areas: Mapping[str, float]

    @property
    def drop(self) -> float | None:
        """How much is lost from the first to the last of the rates that robustness is about."""
        means = [point.mean for point in self.points if point.mean is not None and point.rate in self.rates]
        return means[0] - means[-1] if len(means) > 1 else None


@dataclass(frozen=True)
class Placed:
    """A metric where the one passage with the answer stands at a place; 1 is the first."""

    place: int
    of: int
    mean: float
    low: float | None
    high: float | None
    rows: int


def read_rows(run: Run) -> Rows:
    """The rows of a run that `ragstone stress` made."""
    table = read_table(run.folder.samples, ["id", "metadata"])
    metadata = [json.loads(cell) if cell else {} for cell in table["metadata"].to_pylist()]
    if not all({"bed", "rate", "question_id"} <= one.keys() for one in metadata):
        raise UsageError(f"run {run.name} is no stress test: its samples tell no bed and no rate")
    names = [metric["metric"] for metric in run.info["metrics"]]
    found = read_scores(run, names)
    return Rows(
        ids=table["id"].to_pylist(),
        beds=np.array([one["bed"] for one in metadata]),
        rates=np.array([float(one["rate"]) for one in metadata]),
        questions=np.array([str(one["question_id"]) for one in metadata]),
        passages=[str(one.get("passages", "")) for one in metadata],
        scores={name: scores.values for name, scores in found.items()},
        failed={name: scores.states == FAILED for name, scores in found.items()},
        bounds={metric["metric"]: _bounds(metric) for metric in run.info["metrics"]},
    )


def _bounds(metric: Mapping[str, Any]) -> tuple[float | None, float | None]:
    low, high = metric["bounds"]
    return low, high


def find_curves(rows: Rows) -> list[Curve]:
    """A curve for every bed and every metric that has a value there, the bed's own metric first."""
    curves: list[Curve] = []
    for bed in BEDS:
        here = rows.beds == bed
        valued = [name for name, values in rows.scores.items() if np.any(~np.isnan(values[here]))]
        order = sorted(valued, key=lambda name: (name != MAIN[bed], not name.startswith("rgb.")))
        curves += [_curve(rows, bed, name, here) for name in order if _spans(rows, name, here)]
    return curves


def _spans(rows: Rows, metric: str, here: np.ndarray) -> bool:
    """Whether there is more than one point, where the bed has more than one rate."""
    there = here & ~np.isnan(rows.scores[metric])
    return len(np.unique(rows.rates[there])) > 1 or len(np.unique(rows.rates[here])) == 1


def _curve(rows: Rows, bed: str, metric: str, here: np.ndarray) -> Curve:
    rates = np.unique(rows.rates[here])
    by_rate = {float(rate): question_means(rows, metric, here & (rows.rates == rate)) for rate in rates}
    points = tuple(_point(rows, metric, rate, means, here & (rows.rates == rate)) for rate, means in by_rate.items())
    counted = tuple(rate for rate in by_rate if bed != "noise" or _answerable(rows, rate, here))
    areas = _areas({rate: by_rate[rate] for rate in counted})
    under = [point for point in points if point.rate in counted]
    return Curve(bed, metric, points, counted, _robustness(areas, under, rows.bounds[metric]), areas)


def _answerable(rows: Rows, rate: float, here: np.ndarray) -> bool:
    """Whether a passage holds the answer in every row: what to do without one is the rejection bed's matter."""
    return rate < 1 and all("+" in rows.passages[row] for row in np.flatnonzero(here & (rows.rates == rate)))


def question_means(rows: Rows, metric: str, chosen: np.ndarray) -> dict[str, float]:
    """For each question the mean over its repeats that have a value."""
    found: dict[str, list[float]] = {}
    for question, value in zip(rows.questions[chosen].tolist(), rows.scores[metric][chosen].tolist(), strict=True):
        if not np.isnan(value):
            found.setdefault(question, []).append(value)
    return {question: sum(values) / len(values) for question, values in found.items()}


def _point(rows: Rows, metric: str, rate: float, means: Mapping[str, float], chosen: np.ndarray) -> Point:
    values = np.array(list(means.values()))
    low, high = _ends(values, rows.bounds[metric])
    failed = int(np.count_nonzero(rows.failed[metric][chosen]))
    missing = int(np.count_nonzero(np.isnan(rows.scores[metric][chosen])))
    return Point(
        rate,
        float(values.mean()) if len(values) else None,
        low,
        high,
        questions=len(values),
        skipped=missing - failed,
        failed=failed,
    )


def _areas(by_rate: Mapping[float, Mapping[str, float]]) -> dict[str, float]:
    """The area under the curve of each question that has a value at every rate, as a share of the width."""
    rates = list(by_rate)
    everywhere = set.intersection(*(set(means) for means in by_rate.values())) if by_rate else set()
    weights = _weights(rates)
    return {
        question: sum(weight * by_rate[rate][question] for rate, weight in zip(rates, weights, strict=True))
        for question in sorted(everywhere)
    }


def _weights(rates: Sequence[float]) -> list[float]:
    """The trapezoidal rule's weights; they sum to 1, and a single rate has all of it."""
    if len(rates) < 2:
        return [1.0] * len(rates)
    width = rates[-1] - rates[0]
    gaps = np.diff(rates)
    return [float(value) for value in (np.append(gaps, 0.0) + np.insert(gaps, 0, 0.0)) / 2 / width]


def _robustness(
    areas: Mapping[str, float], points: Sequence[Point], bounds: tuple[float | None, float | None]
) -> Robustness | None:
    if not areas:
        return None
    values = np.array(list(areas.values()))
    low, high = _ends(values, bounds)
    if np.ptp(values) == 0 and all(point.low is not None and point.high is not None for point in points):
        # That all questions agree is no certainty: the area between the ends of the points' intervals says more.
        weights = _weights([point.rate for point in points])
        low = sum(weight * (point.low or 0.0) for weight, point in zip(weights, points, strict=True))
        high = sum(weight * (point.high or 0.0) for weight, point in zip(weights, points, strict=True))
    return Robustness(float(values.mean()), low, high, len(values))


def _ends(values: np.ndarray, bounds: tuple[float | None, float | None]) -> tuple[float | None, float | None]:
    """Both ends of the interval of a mean; none where there are too few values."""
    interval = mean_interval(values, bounds=bounds) if len(values) else None
    return (interval.low, interval.high) if interval else (None, None)


def find_places(rows: Rows, metric: str = "rgb.accuracy") -> list[Placed]:
    """Whether it matters where the answer stands: over rows of the noise bed with one passage that holds it, of the usual length."""
    chosen = [
        row
        for row, kinds in enumerate(rows.passages)
        if rows.beds[row] == "noise"
        and kinds.count("+") == 1
        and len(kinds) > 1
        and metric in rows.scores
        and not np.isnan(rows.scores[metric][row])
    ]
    if not chosen:
        return []
    lengths = [len(rows.passages[row]) for row in chosen]
    usual = max(set(lengths), key=lengths.count)
    found = []
    for place in range(usual):
        values = np.array(
            [
                rows.scores[metric][row]
                for row in chosen
                if len(rows.passages[row]) == usual and rows.passages[row][place] == "+"
            ]
        )
        if len(values):
            low, high = _ends(values, rows.bounds[metric])
            found.append(Placed(place + 1, usual, float(values.mean()), low, high, len(values)))
    return found
