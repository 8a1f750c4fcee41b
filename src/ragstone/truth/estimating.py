"""What a run says about production: means in which each case counts for as many requests as it stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ragstone.engine.chosen import choose_metrics, find_metric
from ragstone.errors import UsageError
from ragstone.stats.weighted import weighted_mean
from ragstone.storage.runs import Run
from ragstone.storage.scores import read_scores
from ragstone.truth.exchange import WEIGHT

# Where a harvest says from which strata of the log a case was drawn.
_DRAWS = "draws"


@dataclass(frozen=True)
class Estimate:
    """A metric over production: the plain mean of the run, the weighted one with its interval, and what it rests on.

    `scored` is the share of the requests stood for whose case has a value.
    """

    metric: str
    plain: float
    mean: float
    low: float | None
    high: float | None
    cases: int
    scored: float


@dataclass(frozen=True)
class Production:
    """All metrics of a run, and how many requests its cases stand for."""

    requests: float
    cases: int
    without_weight: int
    estimates: list[Estimate]


@dataclass(frozen=True)
class _Draws:
    """Which sample was drawn, from which stratum, and how many requests it stands for."""

    sample: np.ndarray
    weight: np.ndarray
    stratum: np.ndarray


def estimate_production(run: Run, metrics: Sequence[str] = ()) -> Production:
    """Weighted means of the metrics of a run; its samples must have the weights of a ground truth that was drawn from a log.

    Hájek's estimate by strata with a 95 % interval. Metrics of all rows together, such as BLEU, are left out: they are no means.
    """
    draws = _read_draws(run)
    chosen = [metric for metric in choose_metrics([run], metrics) if not _is_of_all_rows(metric["metric"])]
    scores = read_scores(run, [metric["metric"] for metric in chosen])
    found = [_estimate(metric, scores[metric["metric"]].values, draws) for metric in chosen]
    drawn = len(np.unique(draws.sample))
    return Production(float(draws.weight.sum()), drawn, len(run.samples) - drawn, [item for item in found if item])


def _estimate(metric: Mapping[str, Any], values: np.ndarray, draws: _Draws) -> Estimate | None:
    drawn = values[draws.sample]
    found = weighted_mean(drawn, draws.weight, draws.stratum)
    if found is None:
        return None
    there = ~np.isnan(drawn)
    low, high = metric["bounds"]
    ends = found.interval
    return Estimate(
        metric=metric["metric"],
        plain=float(np.nanmean(values)),
        mean=found.mean,
        low=None if ends is None else ends.low if low is None else max(low, ends.low),
        high=None if ends is None else ends.high if high is None else min(high, ends.high),
        cases=len(np.unique(draws.sample[there])),
        scored=float(draws.weight[there].sum() / draws.weight.sum()),
    )


def _read_draws(run: Run) -> _Draws:
    """Every draw of every sample that has a weight."""
    found: list[tuple[int, float, str]] = []
    for number, sample in enumerate(run.samples):
        found += [(number, weight, stratum) for weight, stratum in _draws_of(sample.metadata)]
    if not found:
        raise UsageError(
            f"no sample of run {run.name} has a weight. Weights come with ground truth that is drawn from a log: "
            "ragstone truth harvest, then ragstone run ANSWERS --truth NAME"
        )
    samples, weights, strata = zip(*found, strict=True)
    return _Draws(np.array(samples), np.array(weights, dtype=np.float64), np.array(strata))


def _draws_of(metadata: Mapping[str, Any]) -> list[tuple[float, str]]:
    """A sample may have been drawn several times, where a question was asked again; without strata it was drawn once."""
    draws = metadata.get(_DRAWS)
    if isinstance(draws, list) and draws:
        return [(float(draw[WEIGHT]), str(draw["stratum"])) for draw in draws for _ in range(int(draw["times"]))]
    weight = metadata.get(WEIGHT)
    return [(float(weight), "")] if isinstance(weight, int | float) and weight > 0 else []


def _is_of_all_rows(name: str) -> bool:
    metric = find_metric(name)
    return metric is not None and metric.spec.corpus is not None
