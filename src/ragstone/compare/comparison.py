"""Two runs side by side: paired, checked for the same yardstick, compared metric by metric and slice by slice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ragstone.compare.alignment import Alignment, align, name_some
from ragstone.compare.changes import ChangedSample, find_changed
from ragstone.compare.corpus import compare_corpus, is_of_all_rows
from ragstone.compare.differences import Difference, Settings, judge, measure
from ragstone.compare.signatures import differing_signatures, differing_truth
from ragstone.engine.chosen import choose_metrics
from ragstone.storage.labels import read_labels
from ragstone.storage.runs import Run
from ragstone.storage.scores import Scores, read_scores

# Slices beyond these are too small to say anything about, and nobody would read them.
MOST_SLICES = 20


@dataclass(frozen=True)
class Slice:
    """The samples with one label, and what changed in them."""

    column: str
    label: str
    pairs: int
    metrics: tuple[Difference, ...]


@dataclass(frozen=True)
class Comparison:
    """What changed from one run to the other, and what could not be compared."""

    before: Run
    after: Run
    pairs: Alignment
    settings: Settings
    metrics: tuple[Difference, ...]
    # Metrics that are in both runs but were made in different ways, and how.
    refused: Mapping[str, str]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    remarks: tuple[str, ...]
    slices: tuple[Slice, ...]
    changed: tuple[ChangedSample, ...]

    def __getitem__(self, metric: str) -> Difference:
        for item in self.metrics:
            if item.metric == metric:
                return item
        raise KeyError(f"no metric '{metric}' in this comparison")

    def having(self, verdict: str | None) -> list[str]:
        """The metrics with some verdict."""
        return [item.metric for item in self.metrics if item.verdict == verdict]


def compare_runs(
    before: Run,
    after: Run,
    metrics: Sequence[str] | str = (),
    slices: Sequence[str] = (),
    settings: Settings | None = None,
    anyway: bool = False,
) -> Comparison:
    """Compare two finished runs of the same questions: is `after` better than `before`?

    Metrics that were made in different ways (another judge, prompt or version) are refused unless `anyway`.
    """
    settings = settings or Settings()
    pairs = align(before, after)
    differing = differing_signatures(before, after)
    chosen = choose_metrics([before, after], metrics)
    able = [metric for metric in chosen if anyway or metric["metric"] not in differing]
    names = [metric["metric"] for metric in able]
    scores = (_taken(before, names, pairs.before), _taken(after, names, pairs.after))
    clusters = read_labels(after, settings.cluster)[pairs.after] if settings.cluster else None
    means = [metric for metric in able if not is_of_all_rows(metric["metric"], before, _all(scores, metric))]
    items = {item.metric: item for item in measure(means, *scores, settings, clusters)}
    for name, metric in zip(names, able, strict=True):
        if name not in items:
            both = (scores[0][name], scores[1][name])
            items[name] = compare_corpus(metric, (before, after), both, pairs, settings, clusters)
    here, there = ([metric["metric"] for metric in run.info["metrics"]] for run in (before, after))
    asked = {metric["metric"] for metric in chosen}
    forced = {name: differing[name] for name in names if name in differing}
    return Comparison(
        before=before,
        after=after,
        pairs=pairs,
        settings=settings,
        metrics=tuple(judge([[items[name] for name in names]], settings)[0]),
        refused={name: what for name, what in differing.items() if name in asked and not anyway},
        only_before=tuple(name for name in here if name not in there),
        only_after=tuple(name for name in there if name not in here),
        remarks=tuple(_remarks(before, after, pairs, forced)),
        slices=tuple(_slices(after, slices, means, scores, pairs, settings, clusters)),
        changed=tuple(find_changed(after, pairs, means, *scores)),
    )


def _taken(run: Run, names: Sequence[str], rows: np.ndarray) -> dict[str, Scores]:
    return {name: scores.take(rows) for name, scores in read_scores(run, names).items()}


def _all(scores: tuple[Mapping[str, Scores], ...], metric: Mapping[str, Any]) -> Scores:
    return scores[0][metric["metric"]]


def _slices(
    run: Run,
    columns: Sequence[str],
    metrics: Sequence[Mapping[str, Any]],
    scores: tuple[Mapping[str, Scores], Mapping[str, Scores]],
    pairs: Alignment,
    settings: Settings,
    clusters: np.ndarray | None,
) -> Iterator[Slice]:
    for column in columns:
        labels = read_labels(run, column)[pairs.after]
        names, counts = np.unique(labels.astype(str), return_counts=True)
        largest = np.argsort(-counts, kind="stable")[:MOST_SLICES]
        found: list[tuple[str, int, list[Difference]]] = []
        for label in names[np.sort(largest)]:
            rows = np.flatnonzero(labels == label)
            first, second = ({name: cells.take(rows) for name, cells in side.items()} for side in scores)
            part = measure(metrics, first, second, settings, None if clusters is None else clusters[rows])
            found.append((str(label), len(rows), part))
        # All slices of a column are one family of tests: many looks, one level.
        judged = judge([part for _, _, part in found], settings)
        for (label, size, _), part in zip(found, judged, strict=True):
            yield Slice(column, label, size, tuple(part))


def _remarks(before: Run, after: Run, pairs: Alignment, forced: Mapping[str, str]) -> Iterator[str]:
    """What a reader must know before trusting the numbers."""
    if pairs.by == "question":
        yield "the ids of the runs differ; samples are paired by question"
    if pairs.repeated:
        yield f"{pairs.repeated} pairs have a question that is asked more than once; these are paired in their order"
    for name, only in ((before.name, pairs.only_before), (after.name, pairs.only_after)):
        if only:
            yield f"{len(only)} of {len(only) + len(pairs)} samples are only in {name}: {name_some(only)}"
    if pairs.renamed:
        yield f"{len(pairs.renamed)} ids have another question in the other run and are left out: {name_some(pairs.renamed)}"
    for field, count in differing_truth(before, after, pairs).items():
        yield f"the runs have different {field} in {count} of {len(pairs)} pairs; their scores are not measured against the same truth"
    for metric, what in forced.items():
        yield f"{metric} was made in different ways: {what}"
