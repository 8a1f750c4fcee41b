"""Pooled relevance labels: the first chunks of several systems, judged once, and metrics corrected by people's labels.

A judge's labels are biased. If people labelled all pooled chunks of some randomly chosen questions, prediction-powered inference
corrects the mean of each metric (`stats.ppi`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

import numpy as np

from ragstone.data.dataset import Dataset
from ragstone.data.types import Chunk, Sample
from ragstone.engine.in_memory import score_rankings
from ragstone.errors import UsageError
from ragstone.stats.intervals import Interval
from ragstone.stats.ppi import powered_mean
from ragstone.storage.runs import Run

# Its evidence has one label per chunk: whether it helps to arrive at the reference or, without one, at the answer.
METRIC, EVIDENCE = "ragas.context_precision", "chunk_usefulness"
Judgements = dict[str, dict[str, float]]


def make_pool(systems: Sequence[Mapping[str, Sample]], depth: int) -> Dataset:
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
    if not any(sample.question and (sample.references or sample.answer) for sample in pooled):
        raise UsageError("the samples have no question with a reference or an answer, by which chunks could be judged")
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


def read_labels(run: Run) -> Judgements:
    """The judge's labels of a judged pool: 1 or 0 per chunk; questions that the judge did not label are left out."""
    labels = run.evidence(EVIDENCE)["value"].to_pylist()
    return {
        sample.id: {str(chunk.id): float(label) for chunk, label in zip(sample.contexts or (), row, strict=True)}
        for sample, row in zip(run.samples, labels, strict=True)
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
