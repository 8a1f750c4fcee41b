"""A finished stress test: its curves, positions and reports; and the comparison of two generators on the same beds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ragstone.errors import UsageError
from ragstone.stats.bootstrap import bootstrap_means
from ragstone.stats.paired import sign_flip_test
from ragstone.storage.places import read_json
from ragstone.storage.runs import Run
from ragstone.stress.curves import Curve, Placed, Rows, find_curves, find_places, read_rows
from ragstone.stress.run import Prepared
from ragstone.stress.test_beds import BedReport

_FILE = "stress.json"
# With fewer questions, even a difference in every one is not significant: 2 / 2^5 is above 0.05.
LEAST = 6
_LEVEL = 0.05


@dataclass(frozen=True)
class Contrast:
    """The difference in robustness between two generators."""

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
        """The second minus the first."""
        return self.second - self.first

    @property
    def verdict(self) -> str:
        """The result of the significance test in words."""
        if self.questions < LEAST:
            return "too few questions"
        if self.p >= _LEVEL or self.difference == 0:
            return "no evidence"
        return "the second is more robust" if self.difference > 0 else "the first is more robust"


def check_same_beds(first: Rows, second: Rows) -> None:
    """Raises UsageError if two runs do not have the same rows, because then answers cannot be paired."""
    if sorted(first.ids) != sorted(second.ids):
        raise UsageError(
            "the two runs are not on the same beds. Use the same data, --passages, --rates, --repeats and --seed for both "
            "generators, or pass --system twice in one command."
        )


def contrast(first: Sequence[Curve], second: Sequence[Curve], seed: int = 0) -> list[Contrast]:
    """The contrast per curve that both have, paired by question."""
    others = {(curve.bed, curve.metric): curve for curve in second}
    contrasts = []
    for curve in first:
        other = others.get((curve.bed, curve.metric))
        both = sorted(curve.areas.keys() & other.areas.keys()) if other else []
        if other is None or not both:
            continue
        before = np.array([curve.areas[question] for question in both])
        after = np.array([other.areas[question] for question in both])
        differences = (after - before)[:, None]
        interval = bootstrap_means(differences, seed=seed)[0]
        low, high = (interval.low, interval.high) if interval else (None, None)
        p = float(sign_flip_test(differences, seed=seed)[0])
        means = float(before.mean()), float(after.mean())
        contrasts.append(Contrast(curve.bed, curve.metric, *means, low, high, p, len(both)))
    return contrasts


@dataclass(frozen=True)
class StressTest:
    """The results of one generator on the beds."""

    run: Run
    rows: Rows
    curves: list[Curve]
    places: list[Placed]
    beds: list[BedReport]
    # Noise passages that contain the answer, the number of their questions, and whether they were kept.
    holding: int
    holding_questions: int
    kept: bool

    @property
    def system(self) -> str:
        """The generator's name."""
        return str(self.run.info["params"].get("system", self.run.name))

    def main(self, bed: str) -> Curve | None:
        """The first curve of a bed."""
        return next((curve for curve in self.curves if curve.bed == bed), None)


def keep_reports(run: Run, prepared: Prepared) -> None:
    """Stores the bed reports with the run, because its rows do not contain the questions that were left out."""
    content = {
        "beds": [asdict(report) for report in prepared.beds],
        "holding": prepared.negatives.passages,
        "holding_questions": len(prepared.negatives.holding),
        "kept": prepared.setting.keep_contaminated,
    }
    (run.folder.place / _FILE).write_bytes(json.dumps(content, indent=2, ensure_ascii=False).encode() + b"\n")


def read_stress(run: Run) -> StressTest:
    """A stored run as a stress test."""
    rows = read_rows(run)
    place = run.folder.place / _FILE
    content: dict[str, Any] = read_json(place) if place.exists() else {}
    return StressTest(
        run=run,
        rows=rows,
        curves=find_curves(rows),
        places=find_places(rows),
        beds=[BedReport(**report) for report in content.get("beds", [])],
        holding=content.get("holding", 0),
        holding_questions=content.get("holding_questions", 0),
        kept=content.get("kept", False),
    )


def contrast_tests(tests: Sequence[StressTest]) -> list[list[Contrast]]:
    """Every later generator compared with the first, on the same beds."""
    for other in tests[1:]:
        check_same_beds(tests[0].rows, other.rows)
    return [contrast(tests[0].curves, other.curves) for other in tests[1:]]


def as_dict(test: StressTest) -> dict[str, Any]:
    """Curves, positions and beds as JSON-compatible data, without single questions."""
    curves = [{name: value for name, value in asdict(curve).items() if name != "areas"} for curve in test.curves]
    return {
        "run": test.run.path,
        "id": test.run.id,
        "system": test.system,
        "curves": curves,
        "places": [asdict(place) for place in test.places],
        "beds": [asdict(report) for report in test.beds],
        "contaminated": {"passages": test.holding, "questions": test.holding_questions, "kept": test.kept},
    }
