"""A judge of one's own: a light model over frozen local ones, fitted to the labels of people (after ARES).

Rows of one question stay together. Each fold's weights, the shrinkage and whether embeddings are used are chosen without
the rows that the fold leaves out; the figures are those of rows that were left out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ragstone.agreement.agreeing import Agreement, Settings, measure_agreement, natural_coefficient
from ragstone.agreement.joining import Joined
from ragstone.data.types import Sample
from ragstone.errors import UsageError
from ragstone.evidence.judges.features import EMBEDDED, FeatureReader, Looked
from ragstone.evidence.judges.trained import open_reader
from ragstone.models.trained import PREFIX, Trained, TrainedCard, question_key
from ragstone.stats.logit import choose_fit, fit_logit, make_folds, predict_logit

LEAST_LABELS = 40
LEAST_QUESTIONS = 15
# So many labels must lie on the rarer side of the middle.
LEAST_SIDE = 8
_FOLDS = 10
_READ_AT_ONCE = 64


@dataclass(frozen=True)
class Training:
    """The judge, how it stands beside the metrics of the runs on rows that it did not see, and what it looks at."""

    judge: Trained
    agreement: Agreement
    remarks: tuple[str, ...]


def train_judge(joined: Joined, name: str, show: int = 0) -> Training:
    """Fit a judge to the labels; refused where they are too few or nearly all alike."""
    samples = _samples(joined)
    kept = np.array([bool((sample.answer or "").strip()) for sample in samples], dtype=bool)
    joined, samples = _take(joined, kept), [sample for sample, keep in zip(samples, kept, strict=True) if keep]
    questions = np.array([question_key(sample.question or sample.id) for sample in samples])
    _check_labels(joined.labels, questions)
    uses = tuple(name for name in ("contexts", "references") if all(getattr(sample, name) for sample in samples))
    reader, models = open_reader(uses)
    features, table = asyncio.run(_read(reader, samples))
    low, high = float(joined.ratings[~np.isnan(joined.ratings)].min()), float(np.nanmax(joined.ratings))
    judge, predicted = _fit(name, features, table, (joined.labels - low) / (high - low), questions)
    card = replace(judge.card, uses=uses, models=models, low=low, high=high)
    agreement = _beside_metrics(joined, f"{PREFIX}{name}", predicted, show)
    card = replace(card, figures=_figures(agreement, f"{PREFIX}{name}"))
    left = int((~kept).sum())
    remarks = [f"{left} labelled rows without an answer are left out"] if left else []
    return Training(replace(judge, card=card), agreement, tuple(remarks))


def _samples(joined: Joined) -> list[Sample]:
    views = [run.samples for run in joined.runs]
    return [views[system][int(place)] for system, place in zip(joined.systems, joined.places, strict=True)]


def _take(joined: Joined, rows: np.ndarray) -> Joined:
    columns = ("systems", "places", "inputs", "ratings", "rounds", "chances")
    taken = {name: getattr(joined, name)[rows] for name in columns}
    return replace(joined, **taken, scores={name: values[rows] for name, values in joined.scores.items()})


def _check_labels(labels: np.ndarray, questions: np.ndarray) -> None:
    different = len(np.unique(questions))
    if len(labels) < LEAST_LABELS or different < LEAST_QUESTIONS:
        raise UsageError(
            f"{len(labels)} labelled answers to {different} questions are too few to train a judge; it takes {LEAST_LABELS} "
            f"answers and {LEAST_QUESTIONS} questions. `ragstone agree RUN --label-next {LEAST_LABELS} -m METRIC --todo todo.csv` picks rows to label."
        )
    middle = (labels.min() + labels.max()) / 2
    rarer = int(min((labels > middle).sum(), (labels < middle).sum()))
    if rarer < LEAST_SIDE:
        side = "low" if (labels < middle).sum() == rarer else "high"
        raise UsageError(
            f"the labels are one-sided: {rarer} of {len(labels)} are {side}, and it takes {LEAST_SIDE} to learn what sets them "
            "apart. Label more rows of that kind, or answers of a system that makes more of them."
        )


async def _read(reader: FeatureReader, samples: Sequence[Sample]) -> tuple[tuple[str, ...], np.ndarray]:
    """The names of the features, and a row a sample."""
    found: list[dict[str, float]] = []
    for start in range(0, len(samples), _READ_AT_ONCE):
        part = samples[start : start + _READ_AT_ONCE]
        found += await asyncio.gather(*(reader.read(_look(sample)) for sample in part))
    names = tuple(found[0])
    return names, np.array([[row[name] for name in names] for row in found])


def _look(sample: Sample) -> Looked:
    chunks = None if sample.contexts is None else [chunk.text for chunk in sample.contexts]
    return Looked(sample.question or "", sample.answer or "", chunks, sample.references)


def _fit(
    name: str, features: tuple[str, ...], table: np.ndarray, labels: np.ndarray, questions: np.ndarray
) -> tuple[Trained, np.ndarray]:
    """The judge, and what it says of every row by the fold that left it out."""
    embedded = np.array([feature.startswith(EMBEDDED) for feature in features])
    centres, spread = table.mean(axis=0), table.std(axis=0)
    # Many numbers of one embedding together weigh as much as one other feature.
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


def _beside_metrics(joined: Joined, name: str, predicted: np.ndarray, show: int) -> Agreement:
    """The judge on rows that it did not see, among the metrics of the runs."""
    described: dict[str, Any] = {"metric": name, "better": "higher", "bounds": [0.0, 1.0]}
    beside = replace(joined, metrics=(described, *joined.metrics), scores={name: predicted, **joined.scores})
    return measure_agreement(beside, Settings(natural_coefficient(joined)), show)


def _figures(agreement: Agreement, name: str) -> dict[str, Any]:
    """What the card tells of the judge's agreement with people on rows that it did not see."""
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
