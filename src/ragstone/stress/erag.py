"""eRAG (Salemi and Zamani 2024): labels each retrieved chunk by the score of the answer from that chunk alone.

Retrieval metrics on these labels rate the retriever for this generator; their correlation with the score of the full
answer shows how reliable they are. For blame, the generator also answers with each chunk left out: which chunks help and which
hurt, per question, per rank, and per chunk over all questions.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from ragstone.data.dataset import Dataset
from ragstone.data.types import Chunk, Sample
from ragstone.data.usage import QUESTION_ID
from ragstone.engine.ask_system import SystemOptions, SystemQuote, quote_system
from ragstone.engine.evaluate import evaluate, unheard
from ragstone.engine.progress import Report, silent
from ragstone.errors import UsageError
from ragstone.registry import parse_metric
from ragstone.stats.correlation import Coefficient, Scored, correlate_at
from ragstone.stats.intervals import mean_interval
from ragstone.storage.places import read_json
from ragstone.storage.runs import Run, open_run
from ragstone.storage.scores import read_scores
from ragstone.stress.run import ERROR, answered, as_questions, ask_rows
from ragstone.tools.model_options import ModelOptions

_FILE = "erag.json"

ChunkChoice = Literal["alone", "all", "without"]
DEFAULT_METRIC = "contains"
COEFFICIENTS: tuple[Coefficient, ...] = ("kendall", "spearman")


class Listed(NamedTuple):
    """Questions with their retrieved chunks, and the questions that are left out."""

    samples: list[Sample]
    # Question ids per reason.
    left_out: dict[str, list[str]]


@dataclass(frozen=True)
class Label:
    """The value of one chunk for the generator."""

    question: str
    rank: int
    chunk: str
    # The score of the answer from this chunk alone.
    alone: float | None
    # How much the full answer's score falls without the chunk: above 0 it helps, below 0 it hurts; None if not measured.
    helps: float | None
    text: str


@dataclass(frozen=True)
class Agreement:
    """The correlation of a retrieval metric on the labels with the score of the full answer, over questions."""

    metric: str
    coefficient: str
    value: float | None
    low: float | None
    high: float | None
    questions: int
    reason: str


@dataclass(frozen=True)
class Erag:
    """The result: labels, the run over the questions, and the run over the pieces."""

    run: Run
    pieces: Run
    metric: str
    labels: list[Label]
    agreements: list[Agreement]
    # Questions with a chunk whose answer could not be scored, with the reason.
    unlabelled: Mapping[str, str]
    left_out: Mapping[str, list[str]]


def list_samples(samples: Sequence[Sample], k: int | None) -> Listed:
    """Samples with a question and chunks, cut to the first k chunks with unique ids."""
    kept: list[Sample] = []
    left_out: dict[str, list[str]] = {}
    for sample in samples:
        if reason := _why_not(sample):
            left_out.setdefault(reason, []).append(sample.id)
        else:
            kept.append(replace(sample, contexts=_named(sample.contexts or [], k)))
    return Listed(kept, left_out)


def _why_not(sample: Sample) -> str | None:
    if not (sample.question or "").strip():
        return "there is no question"
    if sample.contexts is None:
        return "its retrieved chunks are not known"
    return None if sample.contexts else "nothing was retrieved for it"


def _named(chunks: Sequence[Chunk], k: int | None) -> list[Chunk]:
    """A chunk without an id, or with the id of an earlier one, gets its rank as id."""
    seen: set[str] = set()
    named = []
    for rank, chunk in enumerate(chunks[:k], start=1):
        name = chunk.id if chunk.id is not None and chunk.id not in seen else f"#{rank}"
        seen.add(name)
        named.append(replace(chunk, id=name))
    return named


def make_pieces(samples: Sequence[Sample], blame: bool) -> list[Sample]:
    """The rows to answer; their metadata names the part."""
    pieces = []
    for sample in samples:
        chunks = sample.contexts or []
        ranks = range(1, len(chunks) + 1)
        pieces.append(_piece(sample, "all", 0, chunks))
        pieces += [_piece(sample, "alone", rank, chunks[rank - 1 : rank]) for rank in ranks]
        if blame and len(chunks) > 1:
            pieces += [_piece(sample, "without", rank, [*chunks[: rank - 1], *chunks[rank:]]) for rank in ranks]
    return pieces


def _piece(sample: Sample, part: ChunkChoice, rank: int, chunks: Sequence[Chunk]) -> Sample:
    metadata: dict[str, Any] = {**sample.metadata, "part": part, QUESTION_ID: sample.id}
    if rank:
        metadata |= {"rank": rank, "chunk_id": (sample.contexts or [])[rank - 1].id}
    return replace(
        sample,
        id=_piece_id(sample.id, part, rank),
        answer=None,
        contexts=list(chunks),
        # Relevance for the whole list does not apply to its parts.
        relevance=None,
        metadata=metadata,
    )


def _piece_id(sample_id: str, part: ChunkChoice, rank: int = 0) -> str:
    return f"{sample_id}|{part}|{rank}" if rank else f"{sample_id}|{part}"


def check_downstream(text: str) -> str:
    """The canonical name of a metric that can label chunks: from 0 to 1, higher is better."""
    metric = parse_metric(text)
    if metric.spec.bounds != (0.0, 1.0) or metric.spec.better != "higher":
        raise UsageError(f"'{text}' cannot label chunks: use a metric from 0 to 1 where higher is better")
    return str(metric)


def retrieval_metrics(threshold: float) -> list[str]:
    """The metrics of section 2: ndcg uses graded labels, the others a threshold."""
    return ["ndcg", *(f"{name}(rel={threshold:g})" for name in ("map", "mrr", "precision"))]


def quote_erag(listed: Listed, system: Any, blame: bool, options: SystemOptions) -> SystemQuote:
    """The cost of a run: one call per question and chunk, and another one per chunk for blame. No model is called."""
    return quote_system(system, as_questions(make_pieces(listed.samples, blame)), needs_contexts=True, **options)


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
    judging: ModelOptions | None = None,
    resume: bool = False,
    progress: Report = silent,
    note: Callable[[str], object] = unheard,
) -> Erag:
    """Asks the generator for every piece, labels the chunks and scores the retrieval; this makes two ordinary runs."""
    downstream = check_downstream(metric)
    if not listed.samples:
        raise UsageError("nothing to label: no sample has a question and retrieved chunks")
    if not 0 < threshold <= 1:
        raise UsageError(f"the threshold must be above 0 and at most 1, got {threshold:g}")
    rows = make_pieces(listed.samples, blame)
    options = system_options or {}
    asking = ask_rows(rows, system, options, progress, note)
    label = name or f"erag {asking.system}"
    common: dict[str, Any] = {
        "progress": progress,
        "note": note,
        "format": "ragstone",
        "resume": resume,
        "backend": options.get("backend", "local"),
        "workers": options.get("workers"),
        **(judging.keywords() if judging else {}),
    }
    params = {"system": asking.system, "downstream": downstream}
    whole = answered(rows, asking)
    pieces = evaluate(Dataset.from_samples(whole), [downstream], out, name=f"{label} pieces", params=params, **common)
    scores = zip(
        (sample.id for sample in pieces.samples), read_scores(pieces, [downstream])[downstream].values, strict=True
    )
    values = {piece: float(score) for piece, score in scores if not np.isnan(score)}
    failures = {row.id: str(row.metadata[ERROR]) for row in whole if ERROR in row.metadata}
    labels = _labels(listed.samples, values, blame)
    unlabelled = _unlabelled(listed.samples, values, failures)
    answers = {row.id: row.answer for row in whole}
    samples = [_labelled(sample, values, answers, unlabelled) for sample in listed.samples]
    metrics = [*retrieval_metrics(threshold), downstream]
    run = evaluate(Dataset.from_samples(samples), metrics, out, name=label, params=params, **common)
    agreements = _agreements(run, downstream, samples)
    return Erag(run, pieces, downstream, labels, agreements, unlabelled, listed.left_out)


def _labels(samples: Sequence[Sample], values: Mapping[str, float], blame: bool) -> list[Label]:
    labels = []
    for sample in samples:
        chunks = sample.contexts or []
        full = values.get(_piece_id(sample.id, "all"))
        for rank, chunk in enumerate(chunks, start=1):
            without = values.get(_piece_id(sample.id, "without", rank)) if blame else None
            helps = None if without is None or full is None else full - without
            alone = values.get(_piece_id(sample.id, "alone", rank))
            labels.append(Label(sample.id, rank, str(chunk.id), alone, helps, chunk.text))
    return labels


def _unlabelled(samples: Sequence[Sample], values: Mapping[str, float], failures: Mapping[str, str]) -> dict[str, str]:
    """Questions with an unlabelled chunk: their retrieval cannot be scored."""
    reasons = {}
    for sample in samples:
        names = [_piece_id(sample.id, "alone", rank) for rank in range(1, len(sample.contexts or []) + 1)]
        missing = next((name for name in names if name not in values), None)
        if missing is not None:
            reasons[sample.id] = failures.get(missing, "the answer from one of its chunks could not be scored")
    return reasons


def _labelled(
    sample: Sample, values: Mapping[str, float], answers: Mapping[str, str | None], unlabelled: Mapping[str, str]
) -> Sample:
    """The question with the answer from all chunks, and the labels as relevance."""
    answer = answers.get(_piece_id(sample.id, "all"))
    if sample.id in unlabelled:
        metadata = {**sample.metadata, ERROR: unlabelled[sample.id]}
        return replace(sample, answer=answer, relevance=None, reference_contexts=None, metadata=metadata)
    grades = {
        str(chunk.id): values[_piece_id(sample.id, "alone", rank)]
        for rank, chunk in enumerate(sample.contexts or [], start=1)
    }
    return replace(sample, answer=answer, relevance=grades, reference_contexts=None)


def _agreements(run: Run, downstream: str, samples: Sequence[Sample]) -> list[Agreement]:
    """Kendall and Spearman over questions; a retrieval score is 0, not unknown, if no chunk has any value."""
    names = [metric["metric"] for metric in run.info["metrics"] if metric["metric"] != downstream]
    scores = read_scores(run, [*names, downstream])
    whole = scores[downstream].values
    worthless = np.array([bool(sample.relevance) and not any((sample.relevance or {}).values()) for sample in samples])
    agreements = []
    for name in names:
        values = np.where(np.isnan(scores[name].values) & worthless, 0.0, scores[name].values)
        both = ~(np.isnan(values) | np.isnan(whole))
        rows = Scored(values[both], whole[both], np.flatnonzero(both), np.zeros(int(both.sum())))
        for coefficient in COEFFICIENTS:
            item = correlate_at("dataset", rows, coefficient)
            low, high = item.interval or (None, None)
            agreements.append(Agreement(name, coefficient, item.value, low, high, int(both.sum()), item.reason))
    return agreements


@dataclass(frozen=True)
class Share:
    """The labels of one rank or one chunk, aggregated."""

    name: str
    chunks: int
    # The mean label, and how much the score of the full answer falls without the chunk.
    alone: float | None
    helps: float | None
    low: float | None
    high: float | None


def by_rank(labels: Sequence[Label]) -> list[Share]:
    """The labels per rank."""
    return _together(labels, lambda label: label.rank, lambda rank: f"rank {rank}")


def by_chunk(labels: Sequence[Label]) -> list[Share]:
    """Chunks that were retrieved for several questions, the most harmful first."""
    shares = _together([label for label in labels if not label.chunk.startswith("#")], lambda label: label.chunk, str)
    return sorted((share for share in shares if share.chunks > 1 and share.helps is not None), key=_helpfulness)


def blamed_chunks(labels: Sequence[Label], most: int) -> tuple[list[Label], list[Label]]:
    """The chunks without which the answer is better, the most harmful first; and those without which it is worse."""
    harmful = sorted((label for label in labels if _helpfulness(label) < 0), key=_helpfulness)
    helpful = sorted((label for label in labels if _helpfulness(label) > 0), key=_helpfulness, reverse=True)
    return harmful[:most], helpful[:most]


def _helpfulness(item: Label | Share) -> float:
    return item.helps or 0.0


def _together(labels: Sequence[Label], key: Callable[[Label], Hashable], name: Callable[[Any], str]) -> list[Share]:
    groups: dict[Hashable, list[Label]] = {}
    for label in labels:
        groups.setdefault(key(label), []).append(label)
    return [_share(name(group), found) for group, found in groups.items()]


def _share(name: str, labels: Sequence[Label]) -> Share:
    alone = [label.alone for label in labels if label.alone is not None]
    helps = np.array([label.helps for label in labels if label.helps is not None])
    interval = mean_interval(helps, bounds=(-1.0, 1.0)) if len(helps) else None
    low, high = (interval.low, interval.high) if interval else (None, None)
    mean_alone = sum(alone) / len(alone) if alone else None
    return Share(name, len(labels), mean_alone, float(helps.mean()) if len(helps) else None, low, high)


def keep_erag(result: Erag) -> None:
    """Stores labels and agreements with the run, so that they can be shown again."""
    content = {
        "pieces": result.pieces.id,
        "metric": result.metric,
        "labels": [asdict(label) for label in result.labels],
        "agreements": [asdict(item) for item in result.agreements],
        "unlabelled": dict(result.unlabelled),
        "left_out": dict(result.left_out),
    }
    (result.run.folder.place / _FILE).write_bytes(json.dumps(content, ensure_ascii=False).encode() + b"\n")


def read_erag(run: Run) -> Erag | None:
    """The stored eRAG result of a run; None if the run has none."""
    place = run.folder.place / _FILE
    if not place.exists():
        return None
    content = read_json(place)
    return Erag(
        run,
        # The store may have been moved since: look next to this run.
        open_run(f"{run.path.rpartition('/')[0]}/{content['pieces']}"),
        content["metric"],
        [Label(**label) for label in content["labels"]],
        [Agreement(**item) for item in content["agreements"]],
        content["unlabelled"],
        content["left_out"],
    )


def as_dict(result: Erag) -> dict[str, Any]:
    """The result as JSON-compatible data."""
    return {
        "run": result.run.path,
        "pieces": result.pieces.path,
        "metric": result.metric,
        "summary": [asdict(row) for row in result.run.summary()],
        "agreements": [asdict(item) for item in result.agreements],
        "ranks": [asdict(share) for share in by_rank(result.labels)],
        "chunks": [asdict(share) for share in by_chunk(result.labels)],
        "labels": [{name: value for name, value in asdict(label).items() if name != "text"} for label in result.labels],
        "unlabelled": dict(result.unlabelled),
        "left_out": dict(result.left_out),
    }
