"""Estimates production metrics from a run: each case is weighted by the number of requests that it represents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ragstone.engine.metric_choice import choose_metrics, find_metric
from ragstone.errors import UsageError
from ragstone.stats.weighted import weighted_mean
from ragstone.storage.runs import Run
from ragstone.storage.scores import read_scores
from ragstone.truth.model import WEIGHT

# The metadata name of the strata from which a harvest drew a case.
_DRAWS = "draws"


@dataclass(frozen=True)
class Estimate:
    """One metric: the plain mean of the run, and the weighted mean with its confidence interval.

    `scored` is the share of the represented requests whose case has a value.
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
    """All metrics of a run, and the number of requests that its cases represent."""

    requests: float
    cases: int
    without_weight: int
    estimates: list[Estimate]


class _Draws(NamedTuple):
    sample: np.ndarray
    weight: np.ndarray
    stratum: np.ndarray


def estimate_production(run: Run, metrics: Sequence[str] = ()) -> Production:
    """Weighted means of a run's metrics; its samples must have the weights of ground truth drawn from a log.

    Hájek's stratified estimate with a 95 % interval. Quantiles and corpus metrics such as BLEU are not means and are left out.
    """
    draws = _read_draws(run)
    chosen = []
    for info in choose_metrics([run], metrics):
        metric = find_metric(info["metric"])
        if metric is None or not metric.is_of_all_rows:
            chosen.append(info)
    scores = read_scores(run, [info["metric"] for info in chosen])
    estimates = [_estimate(info, scores[info["metric"]].values, draws) for info in chosen]
    drawn = len(np.unique(draws.sample))
    return Production(float(draws.weight.sum()), drawn, len(run.samples) - drawn, [item for item in estimates if item])


def _estimate(metric: Mapping[str, Any], values: np.ndarray, draws: _Draws) -> Estimate | None:
    drawn = values[draws.sample]
    weighted = weighted_mean(drawn, draws.weight, draws.stratum)
    if weighted is None:
        return None
    scored = ~np.isnan(drawn)
    low, high = metric["bounds"]
    ends = weighted.interval
    return Estimate(
        metric=metric["metric"],
        plain=float(np.nanmean(values)),
        mean=weighted.mean,
        low=None if ends is None else ends.low if low is None else max(low, ends.low),
        high=None if ends is None else ends.high if high is None else min(high, ends.high),
        cases=len(np.unique(draws.sample[scored])),
        scored=float(draws.weight[scored].sum() / draws.weight.sum()),
    )


def _read_draws(run: Run) -> _Draws:
    """Every draw of every sample that has a weight."""
    draws = [(number, *draw) for number, sample in enumerate(run.samples) for draw in _draws_of(sample.metadata)]
    if not draws:
        raise UsageError(
            f"no sample of run {run.name} has a weight. Weights come from ground truth that was drawn from a log: "
            "ragstone truth harvest, then ragstone run ANSWERS --truth NAME"
        )
    samples, weights, strata = zip(*draws, strict=True)
    return _Draws(np.array(samples), np.array(weights, dtype=np.float64), np.array(strata))


def _draws_of(metadata: Mapping[str, Any]) -> list[tuple[float, str]]:
    """A sample may have several draws if its question was asked again; without strata it has one."""
    draws = metadata.get(_DRAWS)
    if isinstance(draws, list) and draws:
        return [(float(draw[WEIGHT]), str(draw["stratum"])) for draw in draws for _ in range(int(draw["times"]))]
    weight = metadata.get(WEIGHT)
    return [(float(weight), "")] if isinstance(weight, int | float) and weight > 0 else []
