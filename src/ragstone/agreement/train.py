"""Training of a judge: a small model over frozen local models, fitted to human labels (after ARES).

Folds keep the rows of a question together. The weights, the regularisation and the use of embeddings are chosen without the
held-out rows of the fold; all figures are measured on held-out rows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ragstone.agreement.labels import Joined
from ragstone.agreement.metric_agreement import Agreement, Settings, measure_agreement, natural_coefficient
from ragstone.data.types import Sample
from ragstone.errors import UsageError
from ragstone.llm.concurrency import gather_or_cancel
from ragstone.models.trained import PREFIX, Trained, TrainedCard, question_key
from ragstone.stats.correlation import affordable_resamples, correlate_at
from ragstone.stats.logit import choose_fit, fit_logit, make_folds, predict_logit
from ragstone.storage.run_info import MetricInfo
from ragstone.tools.trained_judge import EMBEDDED, FeatureReader, Looked, open_reader

LEAST_LABELS = 40
LEAST_QUESTIONS = 15
# The least number of labels on the rarer side of the middle.
LEAST_SIDE = 8
_FOLDS = 10
_READ_AT_ONCE = 64


@dataclass(frozen=True)
class Advantage:
    """The judge's agreement on held-out rows minus that of the best metric, or minus 0 if there is no metric."""

    metric: str | None
    difference: float
    low: float
    high: float


@dataclass(frozen=True)
class Training:
    """The judge, and its agreement on held-out rows compared with the metrics of the runs."""

    judge: Trained
    agreement: Agreement
    # None if it cannot be measured.
    advantage: Advantage | None
    remarks: tuple[str, ...]

    @property
    def recommended(self) -> bool:
        """Whether the judge agrees better than every metric, and the interval of the difference excludes 0."""
        return self.advantage is not None and self.advantage.low > 0


def train_judge(joined: Joined, name: str, show: int = 0) -> Training:
    """Fit a judge to the labels; an error if they are too few or nearly all equal."""
    views = [run.samples for run in joined.runs]
    samples = [views[system][int(place)] for system, place in zip(joined.systems, joined.places, strict=True)]
    kept = np.array([bool((sample.answer or "").strip()) for sample in samples], dtype=bool)
    joined, samples = _take(joined, kept), [sample for sample, keep in zip(samples, kept, strict=True) if keep]
    questions = np.array([question_key(sample.question or sample.id) for sample in samples])
    _check_labels(joined.labels, questions)
    uses = tuple(name for name in ("contexts", "references") if all(getattr(sample, name) for sample in samples))
    reader, models = open_reader(uses)
    features, table = asyncio.run(_read_features(reader, samples))
    low, high = float(joined.ratings[~np.isnan(joined.ratings)].min()), float(np.nanmax(joined.ratings))
    judge, predicted = _fit(name, features, table, (joined.labels - low) / (high - low), questions)
    card = replace(judge.card, uses=uses, models=models, low=low, high=high)
    agreement = _compare_with_metrics(joined, f"{PREFIX}{name}", predicted, show)
    card = replace(card, figures=_figures(agreement, f"{PREFIX}{name}"))
    left = int((~kept).sum())
    remarks = [f"{left} labelled rows without an answer are left out"] if left else []
    remarks += _unread(samples, uses)
    advantage = _advantage(agreement, f"{PREFIX}{name}")
    return Training(replace(judge, card=card), agreement, advantage, tuple(remarks))


def _unread(samples: Sequence[Sample], uses: Sequence[str]) -> list[str]:
    """Why the judge does not read the contexts or the references."""
    remarks = []
    for field in ("contexts", "references"):
        lacking = [sample.id for sample in samples if not getattr(sample, field)]
        if field not in uses:
            example = f", for example {lacking[0]}" if len(lacking) < len(samples) else ""
            remarks.append(
                f"it does not read {field}: {len(lacking)} of {len(samples)} labelled rows have none{example}"
            )
    return remarks


def _take(joined: Joined, rows: np.ndarray) -> Joined:
    columns = ("systems", "places", "inputs", "ratings", "rounds", "chances")
    taken = {name: getattr(joined, name)[rows] for name in columns}
    return replace(joined, **taken, scores={name: values[rows] for name, values in joined.scores.items()})


def _check_labels(labels: np.ndarray, questions: np.ndarray) -> None:
    different = len(np.unique(questions))
    if len(labels) < LEAST_LABELS or different < LEAST_QUESTIONS:
        raise UsageError(
            f"{len(labels)} labelled answers to {different} questions are too few to train a judge; it needs {LEAST_LABELS} "
            f"answers and {LEAST_QUESTIONS} questions. `ragstone agree RUN --label-next {LEAST_LABELS} -m METRIC --todo todo.csv` selects rows to label."
        )
    middle = (labels.min() + labels.max()) / 2
    rarer = int(min((labels > middle).sum(), (labels < middle).sum()))
    if rarer < LEAST_SIDE:
        side = "low" if (labels < middle).sum() == rarer else "high"
        raise UsageError(
            f"the labels are one-sided: {rarer} of {len(labels)} are {side}, and at least {LEAST_SIDE} are "
            "needed. Label more rows of that kind, or answers of a system that produces more of them."
        )


async def _read_features(reader: FeatureReader, samples: Sequence[Sample]) -> tuple[tuple[str, ...], np.ndarray]:
    """The names of the features, and one row per sample."""
    found: list[dict[str, float]] = []
    for start in range(0, len(samples), _READ_AT_ONCE):
        part = samples[start : start + _READ_AT_ONCE]
        found += await gather_or_cancel(reader.read(_look(sample)) for sample in part)
    names = tuple(found[0])
    return names, np.array([[row[name] for name in names] for row in found])


def _look(sample: Sample) -> Looked:
    chunks = None if sample.contexts is None else [chunk.text for chunk in sample.contexts]
    return Looked(sample.question or "", sample.answer or "", chunks, sample.references)


def _fit(
    name: str, features: tuple[str, ...], table: np.ndarray, labels: np.ndarray, questions: np.ndarray
) -> tuple[Trained, np.ndarray]:
    """The judge, and its held-out prediction for every row."""
    embedded = np.array([feature.startswith(EMBEDDED) for feature in features])
    centres, spread = table.mean(axis=0), table.std(axis=0)
    # All dimensions of an embedding together weigh as much as one other feature.
    scales = np.where(spread > 1e-9, spread, 1.0) * np.where(embedded, max(1.0, embedded.sum() ** 0.5), 1.0)
    scaled = (table - centres) / scales
    tables = [scaled * ~embedded, scaled] if embedded.any() else [scaled]
    fold = make_folds(questions, _FOLDS)
    weights, predicted = np.zeros((int(fold.max()) + 1, table.shape[1] + 1)), np.zeros(len(labels))
    for number in range(len(weights)):
        seen = fold != number
        place, strength = choose_fit(labels[seen], questions[seen], [each[seen] for each in tables])
        weights[number] = fit_logit(tables[place][seen], labels[seen], strength)
        if place == 0:
            weights[number, 1:] *= ~embedded
        predicted[~seen] = predict_logit(scaled[~seen], weights[number])
    folds = {str(question): int(number) for question, number in zip(questions, fold, strict=True)}
    card = TrainedCard(name, features, (), {}, 0.0, 1.0, len(labels), folds, {})
    return Trained(card, centres, scales, weights), predicted


def _compare_with_metrics(joined: Joined, name: str, predicted: np.ndarray, show: int) -> Agreement:
    """The agreement of the held-out predictions, among the metrics of the runs."""
    judge = MetricInfo.declare(name)
    extended = replace(joined, metrics=(judge, *joined.metrics), scores={name: predicted, **joined.scores})
    return measure_agreement(extended, Settings(natural_coefficient(joined)), show)


def _advantage(agreement: Agreement, name: str) -> Advantage | None:
    """The difference to the best metric with a paired bootstrap interval, over the rows that both score."""
    listed = [item.metric for item in agreement.metrics]
    if name not in listed:
        return None
    best = next((item for item in agreement.metrics if item.metric != name), None)
    joined, settings = agreement.joined, agreement.settings
    there = ~np.isnan(joined.scores[best.metric]) if best else np.ones(len(joined.inputs), dtype=bool)
    shared = _take(joined, there)
    resamples = affordable_resamples(len(shared.inputs), settings.coefficient)
    found = [
        correlate_at(settings.level, rows, settings.coefficient, settings.confidence, resamples)
        for rows in (
            shared.scored(name),
            *([shared.scored(best.metric, turned=best.better == "lower")] if best else []),
        )
    ]
    if any(one.value is None for one in found):
        return None
    values, drawn = [one.value or 0.0 for one in found], [one.drawn for one in found]
    differences = drawn[0] - drawn[1] if best else drawn[0]
    tail = 50 * (1 - settings.confidence)
    low, high = np.nanpercentile(differences, [tail, 100 - tail])
    return Advantage(best.metric if best else None, values[0] - sum(values[1:]), float(low), float(high))


def _figures(agreement: Agreement, name: str) -> dict[str, Any]:
    """The figures of the card: agreement with people on held-out rows."""
    item = next((each for each in agreement.metrics if each.metric == name), None)
    if item is None:
        return {}
    main = agreement.main(item)
    found: dict[str, Any] = {
        agreement.settings.coefficient: main.value,
        "interval": list(main.interval) if main.interval else None,
    }
    if item.verdicts:
        found |= {measure: cell.value for measure, cell in item.verdicts.measures.items()}
    return found
