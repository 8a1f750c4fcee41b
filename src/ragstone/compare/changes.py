"""The samples that changed most, in both directions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ragstone.compare.alignment import Alignment
from ragstone.storage.runs import Run, read_table
from ragstone.storage.scores import Scores

_MOST = 50
_MOST_METRICS = 3


@dataclass(frozen=True)
class ChangedSample:
    """A sample, its mean gain over the metrics (as shares of their ranges), and the metrics that gained or lost most with it."""

    id: str
    question: str
    gain: float
    metrics: tuple[tuple[str, float, float], ...]


def find_changed(
    run: Run,
    pairs: Alignment,
    metrics: Sequence[Mapping[str, Any]],
    before: Mapping[str, Scores],
    after: Mapping[str, Scores],
) -> Iterator[ChangedSample]:
    """The samples with the largest gains and losses, the largest gain first and the largest loss last."""
    directed = [metric for metric in metrics if metric["better"] != "none"]
    bounded = [metric for metric in directed if None not in metric["bounds"]] or directed
    if not bounded:
        return
    gains = np.column_stack([_gains(metric, before, after) for metric in bounded])
    there = ~np.isnan(gains)
    means = np.divide(np.nansum(gains, axis=1), there.sum(axis=1), out=np.zeros(len(gains)), where=there.any(axis=1))
    order = np.argsort(-means, kind="stable")
    picked = [*order[:_MOST], *order[max(_MOST, len(order) - _MOST) :]]
    changed = [row for row in picked if means[row] != 0]
    names = read_table(run.folder.samples, ["id", "question"]).take(pairs.after[changed]).to_pylist()
    for row, sample in zip(changed, names, strict=True):
        along = np.nan_to_num(gains[row]) * np.sign(means[row])
        most = np.argsort(-along, kind="stable")[:_MOST_METRICS]
        cells = [bounded[column]["metric"] for column in most if along[column] > 0]
        yield ChangedSample(
            id=sample["id"],
            question=sample["question"] or "",
            gain=float(means[row]),
            metrics=tuple((name, float(before[name].values[row]), float(after[name].values[row])) for name in cells),
        )


def _gains(metric: Mapping[str, Any], before: Mapping[str, Scores], after: Mapping[str, Scores]) -> np.ndarray:
    """A gain a sample: in shares of the metric's range or, where it has none, in standard deviations."""
    change = after[metric["metric"]].values - before[metric["metric"]].values
    low, high = metric["bounds"]
    spread = float(np.nanstd(change)) if np.any(~np.isnan(change)) else 0.0
    scale = high - low if low is not None and high is not None else spread
    gains: np.ndarray = change / (scale or 1.0) * (-1 if metric["better"] == "lower" else 1)
    return gains
