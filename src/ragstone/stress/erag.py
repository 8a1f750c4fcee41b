"""eRAG (Salemi and Zamani 2024): a chunk is worth what the generator makes of it alone.

Each retrieved chunk goes through the generator by itself; the score of that answer is the chunk's label. Retrieval metrics
on these labels say how good the retriever is for this generator, and their correlation with the score of the whole says
how far to believe them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ragstone.data.dataset import Dataset
from ragstone.data.types import Sample
from ragstone.engine.evaluation import evaluate, unheard
from ragstone.engine.judging import JudgingOptions
from ragstone.engine.progress import Report, silent
from ragstone.engine.systems import SystemOptions, SystemQuote, quote_system
from ragstone.errors import UsageError
from ragstone.llm.answering import Asked
from ragstone.registry import parse_metric
from ragstone.stats.correlation import Coefficient
from ragstone.stats.levels import Scored, correlate_at
from ragstone.storage.runs import Run
from ragstone.storage.scores import read_scores
from ragstone.stress.pieces import Listed, make_pieces, name_piece
from ragstone.stress.running import ERROR, answered, ask_rows

DEFAULT_METRIC = "contains"
COEFFICIENTS: tuple[Coefficient, ...] = ("kendall", "spearman")


@dataclass(frozen=True)
class Label:
    """What one chunk is worth to the generator."""

    question: str
    rank: int
    chunk: str
    # The score of the answer from this chunk alone.
    alone: float | None
    # How much the score of the whole falls without it: above 0 it helps, below 0 it hurts; None where it was not asked.
    helps: float | None
    text: str


@dataclass(frozen=True)
class Agreement:
    """How well a retrieval metric on the labels goes with the score of the whole, over questions."""

    metric: str
    coefficient: str
    value: float | None
    low: float | None
    high: float | None
    questions: int
    reason: str


@dataclass(frozen=True)
class Erag:
    """The result: labels, the ordinary run over the questions, and the run over the pieces that it rests on."""

    run: Run
    pieces: Run
    metric: str
    labels: list[Label]
    agreements: list[Agreement]
    # Questions with a chunk whose answer could not be scored, and why.
    unlabelled: Mapping[str, str]
    left_out: Mapping[str, list[str]]


def check_downstream(text: str) -> str:
    """The name of a metric that can be a label: from 0 to 1, more is better."""
    metric = parse_metric(text)
    if metric.spec.bounds != (0.0, 1.0) or metric.spec.better != "higher":
        raise UsageError(f"'{text}' cannot label chunks: it takes a metric from 0 to 1 of which more is better")
    return str(metric)


def retrieval_metrics(threshold: float) -> list[str]:
    """Section 2's metrics on labels: grades count in ndcg, the others take labels from the threshold on as relevant."""
    return ["ndcg", *(f"{name}(rel={threshold:g})" for name in ("map", "mrr", "precision"))]


def quote_erag(listed: Listed, system: Any, blame: bool, options: SystemOptions) -> SystemQuote:
    """What it would take: a call a chunk, one a question and, for blame, another one a chunk. Nothing is asked."""
    rows = make_pieces(listed.samples, blame)
    asked = [Asked(row.id, row.question or "", row.contexts or []) for row in rows]
    return quote_system(system, asked, needs_contexts=True, **options)


def run_erag(
    listed: Listed,
    system: Any,
    out: str | os.PathLike[str],
    *,
    metric: str = DEFAULT_METRIC,
    threshold: float = 0.5,
    blame: bool = False,
    name: str = "",
    system_options: SystemOptions | None = None,
    judging: JudgingOptions | None = None,
    progress: Report = silent,
    note: Callable[[str], object] = unheard,
) -> Erag:
    """Ask the generator for every piece, label the chunks, and judge the retrieval by the labels: two ordinary runs."""
    downstream = check_downstream(metric)
    if not listed.samples:
        raise UsageError("no sample has a question and retrieved chunks, so there is nothing to label")
    if not 0 < threshold <= 1:
        raise UsageError(f"the threshold must be above 0 and at most 1, got {threshold:g}")
    rows = make_pieces(listed.samples, blame)
    found = ask_rows(rows, system, system_options or {}, progress, note)
    label = name or f"erag {found.system}"
    told: dict[str, Any] = {"progress": progress, "note": note, "format": "ragstone", **(judging or {})}
    params = {"system": found.system, "downstream": downstream}
    whole = answered(rows, found)
    pieces = evaluate(Dataset.from_samples(whole), [downstream], out, name=f"{label} pieces", params=params, **told)
    values = _values(pieces, downstream)
    failures = {row.id: str(row.metadata[ERROR]) for row in whole if ERROR in row.metadata}
    labels = _labels(listed.samples, values, blame)
    unlabelled = _unlabelled(listed.samples, values, failures)
    answers = {row.id: row.answer for row in whole}
    samples = [_labelled(sample, values, answers, unlabelled) for sample in listed.samples]
    metrics = [*retrieval_metrics(threshold), downstream]
    run = evaluate(Dataset.from_samples(samples), metrics, out, name=label, params=params, **told)
    agreements = _agreements(run, downstream, samples)
    return Erag(run, pieces, downstream, labels, agreements, unlabelled, listed.left_out)


def _values(pieces: Run, metric: str) -> dict[str, float]:
    """The score of every piece that has one."""
    scores = read_scores(pieces, [metric])[metric].values
    ids = [sample.id for sample in pieces.samples]
    return {name: float(value) for name, value in zip(ids, scores, strict=True) if not np.isnan(value)}


def _labels(samples: Sequence[Sample], values: Mapping[str, float], blame: bool) -> list[Label]:
    found = []
    for sample in samples:
        chunks = sample.contexts or []
        everything = values.get(name_piece(sample.id, "all"))
        for rank, chunk in enumerate(chunks, start=1):
            without = values.get(name_piece(sample.id, "without", rank)) if blame else None
            helps = None if without is None or everything is None else everything - without
            alone = values.get(name_piece(sample.id, "alone", rank))
            found.append(Label(sample.id, rank, str(chunk.id), alone, helps, chunk.text))
    return found


def _unlabelled(samples: Sequence[Sample], values: Mapping[str, float], failures: Mapping[str, str]) -> dict[str, str]:
    """Questions with a chunk that has no label: their retrieval cannot be judged."""
    found = {}
    for sample in samples:
        names = [name_piece(sample.id, "alone", rank) for rank in range(1, len(sample.contexts or []) + 1)]
        missing = next((name for name in names if name not in values), None)
        if missing is not None:
            found[sample.id] = failures.get(missing, "the answer from one of its chunks could not be scored")
    return found


def _labelled(
    sample: Sample, values: Mapping[str, float], answers: Mapping[str, str | None], unlabelled: Mapping[str, str]
) -> Sample:
    """The question with the answer from all chunks, and the chunks' labels as their relevance."""
    answer = answers.get(name_piece(sample.id, "all"))
    if sample.id in unlabelled:
        metadata = {**sample.metadata, ERROR: unlabelled[sample.id]}
        return replace(sample, answer=answer, relevance=None, reference_contexts=None, metadata=metadata)
    grades = {
        str(chunk.id): values[name_piece(sample.id, "alone", rank)]
        for rank, chunk in enumerate(sample.contexts or [], start=1)
    }
    return replace(sample, answer=answer, relevance=grades, reference_contexts=None)


def _agreements(run: Run, downstream: str, samples: Sequence[Sample]) -> list[Agreement]:
    """Kendall and Spearman over questions; one for which no chunk is worth anything counts as 0, not as unknown."""
    names = [metric["metric"] for metric in run.info["metrics"] if metric["metric"] != downstream]
    scores = read_scores(run, [*names, downstream])
    whole = scores[downstream].values
    worthless = np.array([bool(sample.relevance) and not any((sample.relevance or {}).values()) for sample in samples])
    found = []
    for name in names:
        values = np.where(np.isnan(scores[name].values) & worthless, 0.0, scores[name].values)
        both = ~(np.isnan(values) | np.isnan(whole))
        rows = Scored(values[both], whole[both], np.flatnonzero(both), np.zeros(int(both.sum())))
        for coefficient in COEFFICIENTS:
            item = correlate_at("dataset", rows, coefficient)
            low, high = item.interval or (None, None)
            found.append(Agreement(name, coefficient, item.value, low, high, int(both.sum()), item.reason))
    return found
