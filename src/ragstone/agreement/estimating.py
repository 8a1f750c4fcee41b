"""What people would say of all rows, from the labels of some and a metric's scores of all: means, slices, a difference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ragstone.agreement.joining import Joined
from ragstone.errors import UsageError
from ragstone.stats.ppi import LEAST_LABELS, Powered, Scale, tell_scale
from ragstone.stats.rounds import Rows, powered_rounds
from ragstone.storage.labels import read_labels
from ragstone.storage.runs import Run, read_table

UNLABELLED = -1


@dataclass(frozen=True)
class Powers:
    """One estimate: of a run, of a slice of it, or of the difference of two runs; None and a reason where there is none."""

    name: str
    found: Powered | None
    labels: int
    rows: int
    reason: str = ""
    difference: bool = False

    @property
    def few(self) -> bool:
        """Whether there are too few labels for the interval to keep its promise."""
        return self.labels < LEAST_LABELS


@dataclass(frozen=True)
class Estimation:
    """All estimates of one metric: the runs, their difference, and the slices by column and label."""

    joined: Joined
    metric: str
    runs: tuple[Powers, ...]
    difference: Powers | None
    slices: tuple[tuple[str, Powers], ...]
    remarks: tuple[str, ...]


def estimate_means(joined: Joined, metric: str, slices: tuple[str, ...] = ()) -> Estimation:
    """The mean of every run, of their difference where there are two, and of the slices."""
    rows = [gather_rows(joined, metric, place) for place in range(len(joined.runs))]
    difference, remarks = _difference(joined, rows) if len(rows) == 2 else (None, [])
    return Estimation(
        joined=joined,
        metric=metric,
        runs=tuple(
            _power(run.name, part, tell_scale(joined.labels)) for run, part in zip(joined.runs, rows, strict=True)
        ),
        difference=difference,
        slices=tuple(_slices(joined, rows, slices)),
        remarks=(*joined.remarks, *_unscored(joined, metric), *remarks),
    )


def gather_rows(joined: Joined, metric: str, system: int) -> Rows:
    """All rows of a run; those without a score have nan."""
    scores = joined.everything[metric][system]
    rows = Rows(scores, np.full(len(scores), np.nan), np.full(len(scores), UNLABELLED), np.full(len(scores), np.nan))
    mine = joined.systems == system
    places = joined.places[mine]
    rows.labels[places], rows.rounds[places] = joined.labels[mine], joined.rounds[mine]
    rows.chances[places] = joined.chances[mine]
    return rows


def pair_rows(joined: Joined, rows: Sequence[Rows]) -> tuple[Rows, list[np.ndarray], int]:
    """The samples that two runs share as differences, second minus first; their places in both; and how many are left out.

    Left out are samples that were labelled for one of the two only, or not in the same round: whether they were picked as
    a pair cannot be told.
    """
    first, second = ({name: place for place, name in enumerate(_ids(run))} for run in joined.runs)
    shared = [name for name in first if name in second]
    if not shared:
        raise UsageError("the runs have no sample in common, so that there is no difference to estimate")
    places = [np.array([side[name] for name in shared]) for side in (first, second)]
    rounds = [part.rounds[at] for part, at in zip(rows, places, strict=True)]
    kept = rounds[0] == rounds[1]
    places = [at[kept] for at in places]
    one, other = (part.take(at) for part, at in zip(rows, places, strict=True))
    pairs = Rows(other.scores - one.scores, other.labels - one.labels, one.rounds, one.chances)
    return pairs, places, int((~kept).sum())


def _difference(joined: Joined, rows: Sequence[Rows]) -> tuple[Powers, list[str]]:
    pairs, _, left_out = pair_rows(joined, rows)
    scale: Scale = "change" if tell_scale(joined.labels) == "share" else "number"
    lost = f"{left_out} samples are labelled for one of the two systems only; the difference goes without them"
    return _power("difference", pairs, scale, difference=True), [lost] if left_out else []


def _power(name: str, rows: Rows, scale: Scale, difference: bool = False) -> Powers:
    """The estimate over the rows that the metric has scored."""
    scored = rows.take(~np.isnan(rows.scores))
    labels = int((scored.rounds >= 0).sum())
    found = powered_rounds(scored, scale=scale) if labels >= 2 else None
    reason = "" if found else f"{labels} labelled rows with a score; it takes 2"
    return Powers(name, found, labels, len(scored.scores), reason, difference)


def _slices(joined: Joined, rows: Sequence[Rows], columns: tuple[str, ...]) -> Iterator[tuple[str, Powers]]:
    for column in columns:
        for run, part in zip(joined.runs, rows, strict=True):
            labels = read_labels(run, column).astype(str)
            prefix = f"{run.name}, " if len(joined.runs) > 1 else ""
            for label in np.unique(labels):
                yield column, _power(f"{prefix}{label}", part.take(labels == label), tell_scale(joined.labels))


def _unscored(joined: Joined, metric: str) -> Iterator[str]:
    for run, scores in zip(joined.runs, joined.everything[metric], strict=True):
        missing = int(np.isnan(scores).sum())
        if missing:
            yield f"{run.name}: {missing} of {len(scores)} rows have no {metric}; the estimate is of the others"


def _ids(run: Run) -> list[str]:
    return [str(name) for name in read_table(run.folder.samples, ["id"])["id"].to_pylist()]
