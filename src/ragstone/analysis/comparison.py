"""Comparison of two runs: samples are paired, then each metric is compared overall and per slice.

Metrics whose signatures differ are refused. The samples with the largest gains and losses are listed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ragstone.analysis.alignment import Alignment, align, name_some
from ragstone.analysis.differences import Difference, Settings, compare_corpus, is_of_all_rows, judge, measure
from ragstone.data.dataset import view_column
from ragstone.data.schema import SAMPLES
from ragstone.engine.metric_choice import choose_metrics, pick_headlines
from ragstone.storage.run_info import MetricInfo
from ragstone.storage.runs import Run, read_table
from ragstone.storage.scores import Scores, read_labels, read_scores

# The steps of a comparison, for progress.
STEPS = ("Pairing samples", "Resampling the means", "Resampling corpus-level scores", "Finding changed samples")
_MOST = 50
_MOST_METRICS = 3


@dataclass(frozen=True)
class ChangedSample:
    """A sample, its mean gain over the metrics (as shares of their ranges), and the metrics that changed most."""

    id: str
    question: str
    gain: float
    metrics: tuple[tuple[str, float, float], ...]


@dataclass(frozen=True)
class Gains:
    """One gain per pair and metric: as a share of the metric's range or, without a range, in standard deviations."""

    metrics: tuple[MetricInfo, ...]
    each: np.ndarray
    # The mean over the metrics that have a value in both runs; 0 if there are none.
    mean: np.ndarray

    @classmethod
    def measure(
        cls, metrics: Sequence[MetricInfo], before: Mapping[str, Scores], after: Mapping[str, Scores], rows: int
    ) -> Gains:
        """The gains of the metrics with a direction and bounds; if there are none, of all with a direction."""
        directed = [metric for metric in metrics if metric.better != "none"]
        bounded = [metric for metric in directed if None not in metric.bounds] or directed
        columns = [_gains(metric, before, after) for metric in bounded]
        each = np.column_stack(columns) if columns else np.zeros((rows, 0))
        there = ~np.isnan(each)
        mean = np.divide(np.nansum(each, axis=1), there.sum(axis=1), out=np.zeros(rows), where=there.any(axis=1))
        return cls(tuple(bounded), each, mean)

    def largest(self, row: int) -> list[str]:
        """The metrics that changed most in the direction of the mean gain of a pair."""
        along = np.nan_to_num(self.each[row]) * (np.sign(self.mean[row]) or 1.0)
        order = np.argsort(-along, kind="stable")[:_MOST_METRICS]
        return [self.metrics[column].metric for column in order if along[column] > 0]


def find_changed(
    run: Run, pairs: Alignment, metrics: Sequence[MetricInfo], before: Mapping[str, Scores], after: Mapping[str, Scores]
) -> Iterator[ChangedSample]:
    """The samples with the largest gains and losses, largest gain first and largest loss last."""
    gains = Gains.measure(metrics, before, after, len(pairs))
    # Ties keep the order of the pairs among the gains and, from the end, among the losses.
    gained, lost = (np.argsort(signed, kind="stable")[:_MOST] for signed in (-gains.mean, gains.mean))
    changed = [*gained[gains.mean[gained] > 0], *lost[gains.mean[lost] < 0][::-1]]
    names = read_table(run.folder.samples, ["id", "question"]).take(pairs.after[changed]).to_pylist()
    for row, sample in zip(changed, names, strict=True):
        yield ChangedSample(
            id=sample["id"],
            question=sample["question"] or "",
            gain=float(gains.mean[row]),
            metrics=tuple(
                (name, float(before[name].values[row]), float(after[name].values[row])) for name in gains.largest(row)
            ),
        )


def _gains(metric: MetricInfo, before: Mapping[str, Scores], after: Mapping[str, Scores]) -> np.ndarray:
    change = after[metric.metric].values - before[metric.metric].values
    low, high = metric.bounds
    spread = float(np.nanstd(change)) if np.any(~np.isnan(change)) else 0.0
    scale = high - low if low is not None and high is not None else spread
    gains: np.ndarray = change / (scale or 1.0) * (-1 if metric.better == "lower" else 1)
    return gains


_TRUTH = ("references", "reference_contexts", "relevance", "facts", "answerable", "expected_steps")


def differing_signatures(before: Run, after: Run) -> dict[str, str]:
    """The metrics of both runs that were made in different ways, each with the parts that differ."""
    first, second = ({metric.metric: metric.signature for metric in run.info.metrics} for run in (before, after))
    return {
        name: first[name].describe_change(second[name])
        for name in first
        if name in second and first[name] != second[name]
    }


def differing_truth(before: Run, after: Run, pairs: Alignment) -> dict[str, int]:
    """The ground-truth fields that differ between the runs, with the number of pairs."""
    sides = (_truth_of(before, pairs.before), _truth_of(after, pairs.after))
    found = {}
    for name, first, second in zip(_TRUTH, *sides, strict=True):
        if not first.equals(second):
            values = zip(view_column(name, first), view_column(name, second), strict=True)
            if count := sum(mine != theirs for mine, theirs in values):
                found[name] = count
    return found


def _truth_of(run: Run, rows: np.ndarray) -> list[pa.ChunkedArray]:
    """The ground-truth fields of some rows; empty for runs of versions that did not have them."""
    samples = read_table(run.folder.samples, ["id", *_TRUTH]).take(pa.array(rows))
    missing = {name: pa.chunked_array([pa.nulls(len(rows), SAMPLES.field(name).type)]) for name in _TRUTH}
    return [samples[name] if name in samples.column_names else missing[name] for name in _TRUTH]


# Further slices are too small to be informative.
MOST_SLICES = 20


@dataclass(frozen=True)
class Slice:
    """The samples with one label, and the differences of their metrics."""

    column: str
    label: str
    pairs: int
    metrics: tuple[Difference, ...]


@dataclass(frozen=True)
class Comparison:
    """The differences between two runs, and the metrics that could not be compared."""

    before: Run
    after: Run
    pairs: Alignment
    settings: Settings
    metrics: tuple[Difference, ...]
    # The metrics that decide, one family of tests: those asked for, otherwise the headlines. The others are explored.
    headlines: tuple[str, ...]
    # Metrics whose signatures differ between the runs, with the parts that differ.
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
        """The metrics with this verdict."""
        return [item.metric for item in self.metrics if item.verdict == verdict]


def compare_runs(
    before: Run,
    after: Run,
    metrics: Sequence[str] | str = (),
    slices: Sequence[str] = (),
    settings: Settings | None = None,
    anyway: bool = False,
    progress: Callable[[str], object] | None = None,
) -> Comparison:
    """Compare two finished runs of the same questions: is `after` better than `before`?

    Metrics whose signatures differ (another judge, prompt or version) are refused unless `anyway`. The headline metrics are
    one family of tests, the other metrics another. `progress` is called with the name of each of the STEPS.
    """
    report = progress or str
    settings = (settings or Settings()).for_run(after)
    report(STEPS[0])
    pairs = align(before, after)
    differing = differing_signatures(before, after)
    chosen = choose_metrics([before, after], metrics)
    able = [metric for metric in chosen if anyway or metric.metric not in differing]
    names = [metric.metric for metric in able]
    scores = (_taken(before, names, pairs.before), _taken(after, names, pairs.after))
    clusters = read_labels(after, settings.cluster)[pairs.after] if settings.cluster else None
    report(STEPS[1])
    means = [metric for metric in able if not is_of_all_rows(metric.metric, before, scores[0][metric.metric])]
    picked = set(names) if metrics else _without_twins(pick_family(able), scores)
    items = {item.metric: item for item in measure(means, *scores, settings, clusters, picked)}
    report(STEPS[2])
    for name, metric in zip(names, able, strict=True):
        if name not in items:
            both = (scores[0][name], scores[1][name])
            items[name] = compare_corpus(metric, (before, after), both, pairs, settings, clusters)
    report(STEPS[3])
    here, there = ([metric.metric for metric in run.info.metrics] for run in (before, after))
    asked = {metric.metric for metric in chosen}
    forced = {name: differing[name] for name in names if name in differing}
    judged = {
        item.metric: item
        for first in (True, False)
        for item in judge([[items[name] for name in names if (name in picked) is first]], settings)[0]
    }
    return Comparison(
        before=before,
        after=after,
        pairs=pairs,
        settings=settings,
        metrics=tuple(judged[name] for name in names),
        headlines=tuple(name for name in names if name in picked),
        refused={name: what for name, what in differing.items() if name in asked and not anyway},
        only_before=tuple(name for name in here if name not in there),
        only_after=tuple(name for name in there if name not in here),
        remarks=tuple(_remarks(before, after, pairs, forced)),
        slices=tuple(_slices(after, slices, means, scores, pairs, settings, clusters)),
        changed=tuple(find_changed(after, pairs, means, *scores)),
    )


def _without_twins(names: set[str], scores: Sequence[Mapping[str, Scores]]) -> set[str]:
    """Of metrics with one name and the same values, such as `ragas.faithfulness` and `ragchecker.faithfulness`, the plain or first."""
    values = {name: [side[name].values.tobytes() for side in scores] for name in names}
    ordered = sorted(names, key=lambda name: ("." in name, name), reverse=True)
    return {*{(name.rpartition(".")[2], *values[name]): name for name in ordered}.values()}


def pick_family(metrics: Sequence[MetricInfo]) -> set[str]:
    """The headline metrics; of those of answers only the judged ones, if there are any: other words are no other quality."""
    picked = pick_headlines([metric.metric for metric in metrics])
    of_answers = [one for one in metrics if one.metric in picked and one.raw.get("judges") == "answer"]
    judged = {one.metric for one in of_answers if one.signature.llms or one.signature.uses_local_judge}
    return picked - {one.metric for one in of_answers if judged and one.metric not in judged}


def _taken(run: Run, names: Sequence[str], rows: np.ndarray) -> dict[str, Scores]:
    return {name: scores.take(rows) for name, scores in read_scores(run, names).items()}


def _slices(
    run: Run,
    columns: Sequence[str],
    metrics: Sequence[MetricInfo],
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
        # All slices of a column are one family of tests.
        judged = judge([part for _, _, part in found], settings)
        for (label, size, _), part in zip(found, judged, strict=True):
            yield Slice(column, label, size, tuple(part))


def _remarks(before: Run, after: Run, pairs: Alignment, forced: Mapping[str, str]) -> Iterator[str]:
    """Caveats about the numbers."""
    if pairs.by == "question":
        yield "the ids of the runs differ; samples are paired by question"
    if pairs.repeated:
        yield f"{pairs.repeated} pairs have a question that occurs more than once; they are paired in order"
    for name, only in ((before.name, pairs.only_before), (after.name, pairs.only_after)):
        if only:
            yield f"{len(only)} of {len(only) + len(pairs)} samples are only in {name}: {name_some(only)}"
    if pairs.renamed:
        yield f"{len(pairs.renamed)} ids have different questions in the two runs and are left out: {name_some(pairs.renamed)}"
    for field, count in differing_truth(before, after, pairs).items():
        yield f"the runs have different {field} in {count} of {len(pairs)} pairs; their scores are not comparable"
    for metric, what in forced.items():
        yield f"{metric} was made in different ways: {what}"
