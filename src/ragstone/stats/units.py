"""What is resampled: rows, or clusters of rows that belong together, each as a sum and a count for every metric."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# Up to so many rows each is a unit of its own; beyond, random groups of rows: the same spread, bounded work.
MOST_UNITS = 10_000
_GROUPS = 2000


class Units(NamedTuple):
    """A row a unit, a column a metric; `whole` says that every unit is one row with a value for each metric."""

    sums: np.ndarray
    counts: np.ndarray
    whole: bool

    @property
    def used(self) -> np.ndarray:
        """How many units have a value, for each metric."""
        return np.asarray(np.count_nonzero(self.counts, axis=0))

    @property
    def means(self) -> np.ndarray:
        """The mean of each metric; nan where there is no value."""
        return divide(self.sums.sum(axis=0), self.counts.sum(axis=0))


def make_units(values: np.ndarray, clusters: np.ndarray | None = None, seed: int = 0) -> Units:
    """Values (a row a row, a column a metric, nan where there is none) as units; clusters are any labels, one a row."""
    table = values[:, None] if values.ndim == 1 else values
    if clusters is None and len(table) <= MOST_UNITS:
        there = ~np.isnan(table)
        return Units(np.where(there, table, 0.0), there.astype(np.float64), bool(there.all()))
    if clusters is None:
        group = np.random.default_rng(seed).permutation(len(table)) % _GROUPS
    else:
        labels, group = np.unique(np.asarray(clusters), return_inverse=True)
        if len(labels) > MOST_UNITS:
            group = (np.random.default_rng(seed).permutation(len(labels)) % _GROUPS)[group]
    # Column by column: much faster than adding at places, and no copy of the whole.
    size = int(group.max()) + 1 if len(group) else 0
    sums, counts = np.zeros((2, size, table.shape[1]))
    for number, column in enumerate(table.T):
        there = ~np.isnan(column)
        sums[:, number] = np.bincount(group, np.where(there, column, 0.0), minlength=size)
        counts[:, number] = np.bincount(group, there, minlength=size)
    return Units(sums, counts, whole=False)


def divide(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Above / below, nan where below is 0."""
    return np.asarray(np.divide(above, below, out=np.full(np.shape(above), np.nan), where=below > 0))
