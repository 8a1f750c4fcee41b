"""Metrics of all rows together (BLEU, Distinct-n), compared by the statistics that were kept of each row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragstone.compare.alignment import Alignment
from ragstone.compare.differences import Difference, Settings, start
from ragstone.engine.chosen import find_metric
from ragstone.errors import UsageError
from ragstone.stats.paired_sums import Compared, compare_rows, compare_sums
from ragstone.storage.runs import Run, read_table
from ragstone.storage.scores import Scores

UNKNOWN = "its definition is not known here; load it with --metrics-file to compare it"


def is_of_all_rows(name: str, run: Run, scores: Scores) -> bool:
    """Whether a metric is more than the mean of its cells; of an unknown one its stored score tells."""
    metric = find_metric(name)
    if metric is not None:
        return metric.spec.corpus is not None
    stored = run.summary()[name].mean
    values = scores.values[~np.isnan(scores.values)]
    return bool(stored is not None and len(values) and not np.isclose(stored, values.mean(), rtol=1e-9, atol=1e-12))


def compare_corpus(
    metric: Mapping[str, Any],
    runs: tuple[Run, Run],
    scores: tuple[Scores, Scores],
    pairs: Alignment,
    settings: Settings,
    clusters: np.ndarray | None,
) -> Difference:
    """A score of all rows together in both runs; rows without a value in either are left out of both."""
    found = start(metric, *scores)
    known = find_metric(found.metric)
    if known is None or known.spec.corpus is None:
        return replace(found, note=UNKNOWN)
    corpus = known.spec.corpus
    if any(corpus.statistics not in run.info["evidence"] for run in runs):
        return replace(found, note=f"the runs have not kept {corpus.statistics}")
    both = ~np.isnan(scores[0].values + scores[1].values)
    kept = [
        read_table(run.folder.evidence(corpus.statistics), ["value"])["value"].take(pa.array(rows[both]))
        for run, rows in zip(runs, (pairs.before, pairs.after), strict=True)
    ]
    if not found.pairs or any(column.null_count for column in kept):
        return replace(found, note="no sample has a value in both runs")
    score = partial(corpus.score, **dict(known.settings))
    labels = None if clusters is None else clusters[both]
    if corpus.additive:
        first, second = (_table(column) for column in kept)
        ends = [float(score(table.sum(axis=0))) for table in (first, second)]
        compared = compare_sums(first, second, score, labels, settings.level, settings.resamples, settings.seed)
    else:
        lists = [list(column.to_numpy()) for column in kept]
        ends = [float(score(rows)) for rows in lists]
        compared = (
            None if clusters is not None else compare_rows(lists[0], lists[1], score, settings.level, settings.seed)
        )
    return _filled(found, ends, compared, labels)


def _filled(found: Difference, ends: list[float], compared: Compared | None, labels: np.ndarray | None) -> Difference:
    return replace(
        found,
        units=found.pairs if labels is None else len(set(labels)),
        before=ends[0],
        after=ends[1],
        difference=ends[1] - ends[0],
        low=compared.interval.low if compared else None,
        high=compared.interval.high if compared else None,
        p=compared.p if compared else None,
        note="of all rows together" if compared else "of all rows together; such a score has no interval here",
    )


def _table(column: pa.ChunkedArray) -> np.ndarray:
    lengths = pc.min_max(pc.list_value_length(column)).as_py()
    if lengths["min"] != lengths["max"]:
        raise UsageError(f"its statistics have {lengths['min']} to {lengths['max']} numbers, not always as many")
    table: np.ndarray = column.combine_chunks().flatten().to_numpy().reshape(len(column), -1)
    return table
