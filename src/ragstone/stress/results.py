"""A finished stress test as an object: its curves, its places, and what became of the questions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ragstone.storage.places import read_json
from ragstone.storage.runs import Run
from ragstone.stress.beds import BedReport
from ragstone.stress.comparing import Contrast, check_same_beds, contrast
from ragstone.stress.curves import Curve, Placed, Rows, find_curves, find_places, read_rows
from ragstone.stress.running import Prepared

_FILE = "stress.json"


@dataclass(frozen=True)
class StressTest:
    """What one generator did on the beds."""

    run: Run
    rows: Rows
    curves: list[Curve]
    places: list[Placed]
    beds: list[BedReport]
    # Passages that hold an answer they should not, of so many questions, and whether they were kept.
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
    """Store beside the run what became of the questions: the rows alone do not tell whom there was no place for."""
    said = {
        "beds": [asdict(report) for report in prepared.beds],
        "holding": prepared.negatives.passages,
        "holding_questions": len(prepared.negatives.holding),
        "kept": prepared.setting.keep_contaminated,
    }
    (run.folder.place / _FILE).write_bytes(json.dumps(said, indent=2, ensure_ascii=False).encode() + b"\n")


def read_stress(run: Run) -> StressTest:
    """A stored run as a stress test."""
    rows = read_rows(run)
    place = run.folder.place / _FILE
    said: dict[str, Any] = read_json(place) if place.exists() else {}
    return StressTest(
        run=run,
        rows=rows,
        curves=find_curves(rows),
        places=find_places(rows),
        beds=[BedReport(**report) for report in said.get("beds", [])],
        holding=said.get("holding", 0),
        holding_questions=said.get("holding_questions", 0),
        kept=said.get("kept", False),
    )


def contrast_tests(tests: Sequence[StressTest]) -> list[list[Contrast]]:
    """Every later generator against the first, on the same beds."""
    for other in tests[1:]:
        check_same_beds(tests[0].rows, other.rows)
    return [contrast(tests[0].curves, other.curves) for other in tests[1:]]


def as_dict(test: StressTest) -> dict[str, Any]:
    """For programs: curves, places and beds without the single questions."""
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
