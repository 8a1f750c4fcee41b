"""Stored runs scored against another version of ground truth, without any call of a model."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragstone.engine.progress import Report, silent
from ragstone.engine.recalling import NEVER_MADE, OUT_OF_DATE
from ragstone.engine.rescoring import StoredReader, rescore
from ragstone.storage.places import Place
from ragstone.storage.runs import Run
from ragstone.storage.scores import OK, read_scores
from ragstone.truth.joining import TruthReader
from ragstone.truth.versions import Version


def rescore_with_truth(
    run: Run, version: Version, out: str | Place | None = None, *, name: str = "", progress: Report = silent
) -> Run:
    """A new run: the answers of a stored one, scored against a version of ground truth; it stands beside the old one.

    What a model said is used where nothing that it was asked about has changed. Cells that would need it asked again are skipped
    as out of date. The new run's info names the run and the ground truth that it came from.
    """
    return rescore(run, TruthReader(StoredReader(run), version), out, name=name, progress=progress)


def count_outdated(run: Run) -> dict[str, int]:
    """How many cells of each metric a model would have to be asked about again."""
    reasons = run.scores["reason"].cast("string")
    scores = run.scores.filter(pc.fill_null(pc.is_in(reasons, pa.array([OUT_OF_DATE, NEVER_MADE])), fill_value=False))
    return {item["values"]: item["counts"] for item in pc.value_counts(scores["metric"].cast("string")).to_pylist()}


def mean_before(run: Run, again: Run, metrics: Collection[str]) -> dict[str, float | None]:
    """The earlier means over the rows that still have a value: a mean with rows that are out of date is no match for one without."""
    old, new = read_scores(run, metrics), read_scores(again, metrics)
    means: dict[str, float | None] = {}
    for metric in metrics:
        if not len(old[metric].values):  # it was not computed then
            continue
        kept = old[metric].values[(old[metric].states == OK) & (new[metric].states == OK)]
        means[metric] = float(np.mean(kept)) if len(kept) else None
    return means
