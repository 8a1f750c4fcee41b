"""The samples of a run to look at first, with their cause and scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import shorten

import pyarrow as pa

from ragstone.compare.diagnosis import Diagnosis
from ragstone.compare.sample_order import find_worst, measure_quality
from ragstone.storage.runs import Run, read_table
from ragstone.storage.scores import read_scores, unless_nan

_QUESTION_WIDTH = 60


@dataclass(frozen=True, repr=False)
class WorstSample:
    """A sample with its cause of failure, if one was found, and its scores.

    Attributes:
        row: Row number, from 1.
        id: Id of the sample.
        question: The question.
        answer: The answer.
        cause: Name of the main cause; None if no fault was found.
        part: The part of the system to blame: "retriever" or "generator".
        quality: Mean of all scores from 0 to 1, equal weight per family; only for sorting.
        scores: The scores by metric; None if a cell has no value.
    """

    row: int
    id: str
    question: str
    answer: str
    cause: str | None
    part: str | None
    quality: float | None
    scores: Mapping[str, float | None]

    def __repr__(self) -> str:
        quality = "None" if self.quality is None else f"{self.quality:.2f}"
        question = shorten(self.question, _QUESTION_WIDTH, placeholder=" …")
        found = f"row={self.row}, id={self.id!r}, cause={self.cause!r}, quality={quality}, question={question!r}"
        return f"WorstSample({found}, {len(self.scores)} scores)"


def find_worst_samples(run: Run, diagnosis: Diagnosis, most: int) -> list[WorstSample]:
    """Failing samples first, then the lowest scores; samples without any score are left out."""
    metrics = run.info.metrics
    scores = read_scores(run, [metric.metric for metric in metrics])
    samples = read_table(run.folder.samples, ["id", "question", "answer"])
    quality = measure_quality(metrics, scores, len(samples))
    outcomes = diagnosis.outcomes
    rows = find_worst(quality, [row for row, outcome in enumerate(outcomes) if outcome.cause], most)
    texts = samples.take(pa.array(rows, pa.int64())).to_pylist()
    causes = [outcomes[row].cause if row < len(outcomes) else None for row in rows]
    return [
        WorstSample(
            row=row + 1,
            id=text["id"],
            question=text["question"] or "",
            answer=text["answer"] or "",
            cause=cause.name if cause else None,
            part=cause.part if cause else None,
            quality=unless_nan(quality[row]),
            scores={name: unless_nan(column.values[row]) for name, column in scores.items()},
        )
        for row, text, cause in zip(rows, texts, causes, strict=True)
    ]
