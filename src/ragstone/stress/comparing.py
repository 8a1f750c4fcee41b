"""Two generators on the same beds, question by question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ragstone.errors import UsageError
from ragstone.stats.bootstrap import bootstrap_means
from ragstone.stats.permutation import sign_flip_test
from ragstone.stress.curves import Curve, Rows

# With fewer questions not even a difference in every one of them reaches the level: 2 / 2^5 is above 0.05.
LEAST = 6
_LEVEL = 0.05


@dataclass(frozen=True)
class Contrast:
    """How much more robust the second generator is than the first."""

    bed: str
    metric: str
    first: float
    second: float
    low: float | None
    high: float | None
    p: float
    questions: int

    @property
    def difference(self) -> float:
        """The second less the first."""
        return self.second - self.first

    @property
    def verdict(self) -> str:
        """In words; the test is the one that decides."""
        if self.questions < LEAST:
            return "too few questions"
        if self.p >= _LEVEL or self.difference == 0:
            return "no evidence"
        return "the second is more robust" if self.difference > 0 else "the first is more robust"


def check_same_beds(first: Rows, second: Rows) -> None:
    """Complain where two runs do not have the same rows: then no pair of answers is about the same passages."""
    if sorted(first.ids) != sorted(second.ids):
        raise UsageError(
            "the two runs are not on the same beds. Stress both generators with the same data, --passages, --rates, "
            "--repeats and --seed; two --system in one command do."
        )


def contrast(first: Sequence[Curve], second: Sequence[Curve], seed: int = 0) -> list[Contrast]:
    """Every curve that both have, by the areas of the questions that both have."""
    others = {(curve.bed, curve.metric): curve for curve in second}
    found = []
    for curve in first:
        other = others.get((curve.bed, curve.metric))
        both = sorted(curve.areas.keys() & other.areas.keys()) if other else []
        if other is None or not both:
            continue
        before = np.array([curve.areas[question] for question in both])
        after = np.array([other.areas[question] for question in both])
        interval = bootstrap_means((after - before)[:, None], seed=seed)[0]
        p = float(sign_flip_test((after - before)[:, None], seed=seed)[0])
        found.append(
            Contrast(
                curve.bed,
                curve.metric,
                float(before.mean()),
                float(after.mean()),
                interval.low if interval else None,
                interval.high if interval else None,
                p,
                len(both),
            )
        )
    return found
