"""Scores against labels that are yes or no, or that share the steps of a scale with the metric."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ragstone.agreement.joining import Joined
from ragstone.stats.rating import make_accuracy, make_auc, make_calibration_error, make_f1, make_kappa
from ragstone.stats.resampled import Estimate, Measure, estimate

# More steps are no scale on which two can agree by the word.
_MOST_STEPS = 20


@dataclass(frozen=True)
class Verdicts:
    """The measures by name, the threshold from which a score means yes, and rows where people were evenly split."""

    measures: Mapping[str, Estimate]
    threshold: float | None
    tied: int


def judge_verdicts(joined: Joined, metric: Mapping[str, Any], threshold: float | None) -> Verdicts | None:
    """What can be said beyond correlation; None where labels are neither yes or no nor the steps of the metric."""
    scores, ratings = joined.scores[metric["metric"]], joined.ratings
    if np.isin(ratings[~np.isnan(ratings)], (0.0, 1.0)).all():
        return _judge_binary(joined, metric, scores, threshold)
    there = ~np.isnan(scores)
    steps = np.unique(ratings[~np.isnan(ratings)])
    if len(steps) > _MOST_STEPS or not there.any() or not np.isin(scores[there], steps).all():
        return None
    said = steps[np.abs(joined.labels[there][:, None] - steps).argmin(axis=1)]
    measures = {
        "weighted_kappa": make_kappa(said, scores[there], "quadratic"),
        "kappa": make_kappa(said, scores[there]),
        "accuracy": make_accuracy(said, scores[there]),
    }
    return Verdicts(_estimate(measures, joined.inputs[there]), None, 0)


def _judge_binary(
    joined: Joined, metric: Mapping[str, Any], scores: np.ndarray, threshold: float | None
) -> Verdicts | None:
    shares = joined.labels
    there = ~np.isnan(scores) & (shares != 0.5)
    labels, known = (shares[there] > 0.5).astype(np.float64), scores[there]
    if not len(known) or labels.min() == labels.max():
        return None
    turned = metric["better"] == "lower"
    measures: dict[str, Measure] = {"roc_auc": make_auc(labels, -known if turned else known)}
    low, high = metric["bounds"]
    if threshold is None and low is not None and high is not None:
        threshold = (low + high) / 2
    if threshold is not None:
        verdicts = (known <= threshold if turned else known >= threshold).astype(np.float64)
        measures |= {
            "accuracy": make_accuracy(labels, verdicts),
            "f1": make_f1(labels, verdicts),
            "kappa": make_kappa(labels, verdicts),
        }
    if (low, high) == (0.0, 1.0):
        measures["calibration_error"] = make_calibration_error(labels, 1 - known if turned else known)
    return Verdicts(_estimate(measures, joined.inputs[there]), threshold, int((shares == 0.5).sum()))


def _estimate(measures: Mapping[str, Measure], inputs: np.ndarray) -> dict[str, Estimate]:
    return {name: estimate(measure, inputs) for name, measure in measures.items()}
