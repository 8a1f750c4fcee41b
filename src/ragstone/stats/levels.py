"""At which level scores are held against labels: within each input, over the whole data set, or system by system.

A metric may rank systems well and answers badly, or the other way round; each level has its own use.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from ragstone.stats.correlation import Coefficient, correlate_each, count_values, make_correlation, make_partial
from ragstone.stats.intervals import Interval
from ragstone.stats.resampled import RESAMPLES, Estimate, Measure, estimate
from ragstone.stats.units import divide

Level = Literal["dataset", "sample", "system", "partial"]
LEVELS: tuple[Level, ...] = ("dataset", "sample", "system", "partial")
# Two systems can only agree or disagree.
LEAST_SYSTEMS = 3
LEAST_ROWS = 3
# Beyond, fewer resamples: Kendall's tau and Somers' D look at all pairs of rows.
_MOST_PAIRS = 4e10


class Correlation(NamedTuple):
    """A correlation at some level; `units` rows, inputs or systems were used, `skipped` inputs could not be."""

    value: float | None
    interval: Interval | None
    units: int
    skipped: int
    reason: str
    drawn: np.ndarray


class Scored(NamedTuple):
    """Rows with a score and a label: the input each belongs to, and the system that answered."""

    scores: np.ndarray
    labels: np.ndarray
    inputs: np.ndarray
    systems: np.ndarray

    def take(self, rows: np.ndarray) -> Scored:
        """Some of the rows."""
        return Scored(*(column[rows] for column in self))


def correlate_at(
    level: Level,
    rows: Scored,
    coefficient: Coefficient = "spearman",
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Correlation:
    """How scores and labels go together at a level, with a bootstrap interval over inputs; the reason where they cannot."""
    measure, units, skipped, reason = _prepare(level, rows, coefficient)
    if measure is None:
        return Correlation(None, None, units, skipped, reason, np.full(resamples, np.nan))
    found: Estimate = estimate(measure, rows.inputs, confidence, resamples, seed)
    if found.value is None:
        reason = "scores or labels do not vary"
    return Correlation(found.value, found.interval, units, skipped, reason, found.drawn)


def affordable_resamples(rows: int, coefficient: Coefficient) -> int:
    """How often to draw so many rows."""
    return (
        RESAMPLES
        if coefficient in ("spearman", "pearson")
        else int(np.clip(_MOST_PAIRS / max(1, rows) ** 2, 100, RESAMPLES))
    )


def _prepare(level: Level, rows: Scored, coefficient: Coefficient) -> tuple[Measure | None, int, int, str]:
    if len(rows.scores) < LEAST_ROWS:
        return None, len(rows.scores), 0, f"{len(rows.scores)} labelled rows have a score; it takes {LEAST_ROWS}"
    if level == "dataset":
        return make_correlation(rows.scores, rows.labels, coefficient), len(rows.scores), 0, ""
    systems = len(np.unique(rows.systems))
    if level == "sample":
        return _within_inputs(rows, coefficient)
    if level == "system":
        if systems < LEAST_SYSTEMS:
            return None, systems, 0, f"there are {systems} systems; it takes {LEAST_SYSTEMS}"
        return _between_systems(rows, coefficient), systems, 0, ""
    if systems < 2:
        return None, len(rows.scores), 0, "there is one system: the same as over the data set"
    return (
        make_partial(rows.scores, rows.labels, rows.systems, coefficient),
        len(rows.scores),
        0,
        "",
    )


def _within_inputs(rows: Scored, coefficient: Coefficient) -> tuple[Measure | None, int, int, str]:
    """The mean over inputs of the correlation across systems; inputs where either side is constant say nothing."""
    _, first, places, counts = np.unique(rows.inputs, return_index=True, return_inverse=True, return_counts=True)
    order, starts = np.argsort(places, kind="stable"), np.cumsum(counts) - counts
    found = np.full(len(counts), np.nan)
    for size in np.unique(counts[counts > 1]):
        mine = np.flatnonzero(counts == size)
        taken = order[starts[mine][:, None] + np.arange(size)]
        found[mine] = correlate_each(rows.scores[taken], rows.labels[taken], coefficient)
    used = ~np.isnan(found)
    if not used.any():
        why = "each input has one system" if counts.max() < 2 else "scores or labels are constant in every input"
        return None, 0, len(found), why

    def measure(times: np.ndarray) -> np.ndarray:
        # All rows of an input are drawn together, so that its first tells for all.
        drawn = times[:, first][:, used]
        return divide(drawn @ found[used], drawn.sum(axis=1))

    return measure, int(used.sum()), int((~used).sum()), ""


def _between_systems(rows: Scored, coefficient: Coefficient) -> Measure:
    _, places = np.unique(rows.systems, return_inverse=True)

    def measure(times: np.ndarray) -> np.ndarray:
        counts = count_values(times, places)
        means = [divide(count_values(times * column, places), counts) for column in (rows.scores, rows.labels)]
        whole = ~np.isnan(means[0] + means[1]).any(axis=1)
        values = np.full(len(times), np.nan)
        values[whole] = correlate_each(means[0][whole], means[1][whole], coefficient)
        return values

    return measure
