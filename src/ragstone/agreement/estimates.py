"""Prediction-powered estimates: the mean human label of all rows from some labels and a metric's scores.

`choose_next` selects the rows to label next so that the confidence interval shrinks most.

Pooled relevance labels: the first chunks of several systems, judged once. A judge's labels are biased. If people labelled all
pooled chunks of some randomly chosen questions, prediction-powered inference corrects the mean of each metric (`stats.ppi`).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

import numpy as np

from ragstone.agreement.labels import Joined
from ragstone.data.dataset import Dataset
from ragstone.data.types import Chunk, Sample
from ragstone.engine.in_memory import score_rankings
from ragstone.errors import UsageError
from ragstone.formats.file_rows import guarded
from ragstone.stats.intervals import Interval
from ragstone.stats.ppi import LEAST_LABELS, Powered, Rows, Scale, choose_rows, powered_mean, powered_rounds, tell_scale
from ragstone.storage.places import open_place
from ragstone.storage.runs import Run, read_rows
from ragstone.storage.scores import read_ids, read_labels

UNLABELLED = -1


@dataclass(frozen=True)
class Powers:
    """One estimate: of a run, a slice, or the difference of two runs; None with a reason if not possible."""

    name: str
    found: Powered | None
    labels: int
    rows: int
    reason: str = ""
    difference: bool = False

    @property
    def few(self) -> bool:
        """Whether there are too few labels for a valid interval."""
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
    """Estimate the mean of every run, the difference of two runs, and the slices."""
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
    """All rows of a run; rows without a score have nan."""
    scores = joined.everything[metric][system]
    rows = Rows(scores, np.full(len(scores), np.nan), np.full(len(scores), UNLABELLED), np.full(len(scores), np.nan))
    mine = joined.systems == system
    places = joined.places[mine]
    rows.labels[places], rows.rounds[places] = joined.labels[mine], joined.rounds[mine]
    rows.chances[places] = joined.chances[mine]
    return rows


def pair_rows(joined: Joined, rows: Sequence[Rows]) -> tuple[Rows, list[np.ndarray], int]:
    """The common samples of two runs as differences (second minus first), their rows, and the number left out.

    Samples labelled for only one run, or drawn differently, are left out: they were not selected as a pair.
    """
    first, second = ({name: place for place, name in enumerate(read_ids(run))} for run in joined.runs)
    shared = [name for name in first if name in second]
    if not shared:
        raise UsageError("the runs have no sample in common, so there is no difference to estimate")
    places = [np.array([side[name] for name in shared]) for side in (first, second)]
    rounds = [part.rounds[at] for part, at in zip(rows, places, strict=True)]
    chances = [part.chances[at] for part, at in zip(rows, places, strict=True)]
    kept = (rounds[0] == rounds[1]) & ((chances[0] == chances[1]) | np.isnan(chances[0] + chances[1]))
    places = [at[kept] for at in places]
    one, other = (part.take(at) for part, at in zip(rows, places, strict=True))
    pairs = Rows(other.scores - one.scores, other.labels - one.labels, one.rounds, one.chances)
    return pairs, places, int((~kept).sum())


def _difference(joined: Joined, rows: Sequence[Rows]) -> tuple[Powers, list[str]]:
    pairs, _, left_out = pair_rows(joined, rows)
    scale: Scale = "change" if tell_scale(joined.labels) == "share" else "number"
    lost = f"{left_out} samples are labelled for only one of the two systems; the difference leaves them out"
    return _power("difference", pairs, scale, difference=True), [lost] if left_out else []


def _power(name: str, rows: Rows, scale: Scale, difference: bool = False) -> Powers:
    """The estimate over the rows that the metric has scored."""
    scored = rows.take(~np.isnan(rows.scores))
    labels = int((scored.rounds >= 0).sum())
    found = powered_rounds(scored, scale=scale) if labels >= 2 else None
    reason = "" if found else f"{labels} labelled rows with a score; at least 2 are needed"
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
            yield f"{run.name}: {missing} of {len(scores)} rows have no {metric}; the estimate covers the others"


COLUMNS = ("sample_id", "system", "label", "annotator", "round", "chance", "question", "answer")


@dataclass(frozen=True)
class ToDo:
    """A row for a person to label."""

    sample_id: str
    system: str
    round: int
    chance: float
    question: str
    answer: str


def choose_next(joined: Joined, metric: str, size: int, seed: int = 0) -> list[ToDo]:
    """Select `size` inputs to label, in random order; for two runs, both answers."""
    rows = [gather_rows(joined, metric, place) for place in range(len(joined.runs))]
    bounds = next(tuple(each.bounds) for each in joined.metrics if each.metric == metric)
    number = 1 + max([0, *(int(part.rounds.max(initial=0)) for part in rows)])
    if len(rows) == 1:
        population, places = rows[0], [np.arange(len(rows[0].scores))]
    elif len(rows) == 2:
        population, places, _ = pair_rows(joined, rows)
        # A score difference near 0 is as uncertain as any.
        bounds = (None, None)
    else:
        raise UsageError("--label-next needs one run, or two runs to compare")
    picked, chances = choose_rows(population, (bounds[0], bounds[1]), size, seed + number)
    if not len(picked):
        raise UsageError("all rows with a score are already labelled")
    return [
        _describe(joined, system, int(side[row]), number, float(chance))
        for row, chance in zip(picked, chances, strict=True)
        for system, side in enumerate(places)
    ]


def _describe(joined: Joined, system: int, place: int, number: int, chance: float) -> ToDo:
    run = joined.runs[system]
    ((_, batch),) = read_rows(run.folder.samples, [place], ["id", "question", "answer"])
    sample = batch.to_pylist()[0]
    return ToDo(sample["id"], run.name, number, chance, sample["question"] or "", sample["answer"] or "")


def write_next(rows: Sequence[ToDo], path: str) -> None:
    """Write a CSV with an empty label per row; the columns round and chance must not be edited."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for row in rows:
        cells = (row.sample_id, row.system, "", "", str(row.round), repr(row.chance), row.question, row.answer)
        writer.writerow(map(guarded, cells))
    open_place(path).write_bytes(text.getvalue().encode())


# The metrics whose evidence has one label per chunk. USEFUL: 1 if it helps to arrive at the reference or, without one, at the
# answer, otherwise 0. GRADED: how well it serves the question, from 0 to 3.
USEFUL, GRADED = "ragas.context_precision", "umbrela.grade"
_EVIDENCE = {USEFUL: "chunk_usefulness", GRADED: "chunk_grades"}
Judgements = dict[str, dict[str, float]]


def make_pool(systems: Sequence[Mapping[str, Sample]], depth: int, metric: str = USEFUL) -> Dataset:
    """One sample per question with the first `depth` chunks of every system, each once, best ranks first.

    Question, references and answer are those of the first system that has them.
    """
    pooled = []
    for query in dict.fromkeys(query for system in systems for query in system):
        samples = [system[query] for system in systems if query in system]
        chunks = _union(sample.contexts[:depth] for sample in samples if sample.contexts)
        if not chunks:
            continue
        references = next((sample.references for sample in samples if sample.references), None)
        answer = next((sample.answer for sample in samples if sample.answer), None)
        question = next((sample.question for sample in samples if sample.question), None)
        pooled.append(Sample(query, question, answer, chunks, references))
    if not pooled:
        raise UsageError("no run retrieved a chunk, so there is nothing to judge")
    if not any(sample.question and (metric == GRADED or sample.references or sample.answer) for sample in pooled):
        by = "" if metric == GRADED else " with a reference or an answer"
        raise UsageError(f"the samples have no question{by}, by which chunks could be judged")
    return Dataset.from_samples(pooled, "pool")


def _union(lists: Iterable[Sequence[Chunk]]) -> list[Chunk]:
    """Rank 1 of every list, then rank 2, and so on; an id counts once, with the first text that is not empty."""
    found: dict[str, Chunk] = {}
    for rank in zip_longest(*lists):
        for chunk in rank:
            if chunk is None:
                continue
            if chunk.id is None:
                raise UsageError("a chunk has no id, so judgements could not name it")
            if chunk.id not in found or not found[chunk.id].text:
                found[chunk.id] = replace(chunk, score=None)
    return list(found.values())


def read_pool_labels(run: Run, metric: str = USEFUL) -> Judgements:
    """The judge's label of each chunk of a judged pool; questions that the judge did not label are left out."""
    if reason := run.info.skipped.get(metric):
        raise UsageError(f"the judge labelled no question: {metric} {reason}")
    rows = run.evidence(_EVIDENCE[metric])["value"].to_pylist()
    return {
        sample.id: {
            str(chunk.id): float(label["value"] if isinstance(label, dict) else label)
            for chunk, label in zip(sample.contexts or (), row, strict=True)
        }
        for sample, row in zip(run.samples, rows, strict=True)
        if row is not None
    }


@dataclass(frozen=True)
class PooledScore:
    """A metric of one system: by the judge alone, by people alone, and corrected; None without enough labels."""

    system: str
    metric: str
    questions: int
    judge: float
    labelled: int
    people: float | None = None
    corrected: float | None = None
    interval: Interval | None = None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        interval = None if self.interval is None else [self.interval.low, self.interval.high]
        return {**self.__dict__, "interval": interval}


def labelled_in_full(judge: Judgements, people: Judgements) -> list[str]:
    """The questions for which people labelled every chunk that the judge labelled."""
    return [query for query, labels in judge.items() if labels.keys() <= people.get(query, {}).keys()]


def score_systems(
    systems: Mapping[str, Mapping[str, Sequence[str]]], judge: Judgements, people: Judgements, metrics: Sequence[str]
) -> list[PooledScore]:
    """Metrics of every system; as in trec_eval, a question for which nothing is relevant scores 0.

    `systems` has the ranked ids of each question. People's labels count for questions that they labelled in full.
    """
    known = labelled_in_full(judge, people)
    rest = [query for query in judge if query not in set(known)]
    found = []
    for system, lists in systems.items():
        by_judge = _score(lists, judge, [*known, *rest], metrics)
        by_people = _score(lists, people, known, metrics)
        for metric, scores in by_judge.items():
            labels = by_people[metric]
            score = PooledScore(system, metric, len(judge), float(scores.mean()), len(known))
            if known:
                score = replace(score, people=float(labels.mean()))
            if powered := powered_mean(labels, scores[: len(known)], scores[len(known) :], scale="number"):
                low, high = (min(1.0, max(0.0, end)) for end in powered.interval)
                score = replace(score, corrected=min(1.0, max(0.0, powered.mean)), interval=Interval(low, high))
            found.append(score)
    return found


def _score(
    lists: Mapping[str, Sequence[str]], judged: Judgements, queries: Sequence[str], metrics: Sequence[str]
) -> dict[str, np.ndarray]:
    ranked = [list(lists.get(query, ())) for query in queries]
    scores = score_rankings(ranked, [judged[query] for query in queries], metrics)
    return {name: np.array([value or 0.0 for value in column], dtype=float) for name, column in scores.items()}
