"""Where a metric and people differ most: what to read before trusting it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ragstone.agreement.joining import Joined
from ragstone.storage.runs import read_rows

# Below this share of all rows in between, two ranks are near enough.
_WORTH_READING = 0.25


@dataclass(frozen=True)
class Disagreement:
    """A row that people and a metric place differently: what it asks and answers."""

    metric: str
    sample_id: str
    system: str
    question: str
    answer: str
    label: float
    score: float
    # The share of all labelled rows that lies between its places by people and by the metric.
    apart: float


def find_disagreements(joined: Joined, metric: str, turned: bool, most: int) -> Iterator[Disagreement]:
    """The rows whose ranks by people and by the metric lie furthest apart."""
    there = np.flatnonzero(~np.isnan(joined.scores[metric]))
    if not most or len(there) < 2:
        return
    scores = joined.scores[metric][there]
    apart = _apart(joined.labels[there], -scores if turned else scores)
    for row in np.argsort(-apart, kind="stable")[:most]:
        if apart[row] < _WORTH_READING:
            return
        place = int(there[row])
        run = joined.runs[int(joined.systems[place])]
        columns = ["id", "question", "answer"]
        ((_, batch),) = read_rows(run.folder.samples, [int(joined.places[place])], columns)
        sample = batch.to_pylist()[0]
        yield Disagreement(
            metric,
            sample["id"],
            run.name,
            sample["question"] or "",
            sample["answer"] or "",
            float(joined.labels[place]),
            float(scores[row]),
            float(apart[row]),
        )


def _apart(labels: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """How far apart the ranks are, as shares of all rows; what both put at the same end they agree about."""
    from scipy import stats  # noqa: PLC0415  (takes longer to load than most runs; not everybody needs it)

    agreed = np.zeros(len(labels), dtype=bool)
    for end in (np.min, np.max):
        agreed |= (labels == end(labels)) & (scores == end(scores))
    gaps = np.abs(stats.rankdata(labels) - stats.rankdata(scores)) / len(labels)
    return np.where(agreed, 0.0, gaps)
