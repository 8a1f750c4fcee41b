"""Fits how the readings of a long answer become a probability, and writes it into the card of a judge (match: long_scale, long_bias).

Fitted on the long answers of kept domains and on every other question of `systems.jsonl.xz`: 26 questions that five systems of
different verbosity answer, some of them wrongly. The other questions show whether systems are ranked as people rank them.

calibrate.py calls it; alone it renews a card: PYTHONPATH=src python training/match_long.py --judge FOLDER
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from figures import logistic
from judge_error import open_saved
from natural_pairs import read_rows
from ragstone.models.local_judge import Judgements, LocalJudge
from ragstone.tools.local_judges import SHORT, LocalChecker, LocalGrader

_WRITTEN = Path(__file__).parent / "written"


class Answer(NamedTuple):
    """An answer with its reference, and whether people accept it."""

    question: str
    reference: str
    answer: str
    right: bool
    # The system that gave it, and whether the question is one that is fitted on.
    system: str = ""
    fitted: bool = True


def read_answers() -> list[Answer]:
    """The answers of kept domains and of all systems."""
    rows = [
        Answer(row["question"], row["reference"], row["answer"], bool(row["label"]))
        for row in read_rows(_WRITTEN / "kept_answers.jsonl.xz")
    ]
    for number, row in enumerate(read_rows(_WRITTEN / "systems.jsonl.xz")):
        rows += [
            Answer(row["question"], row["reference"], answer, row["right"][system], system, number % 2 == 0)
            for system, answer in row["answers"].items()
        ]
    return rows


def fit_long(judge: LocalJudge) -> dict[str, float]:
    """The slope and the shift of the mean log-odds; the card of the judge must have its other readings."""
    judgements = Judgements(judge)
    grader = LocalGrader(judgements, LocalChecker(judgements, judge.card, ""), "")
    rows = [row for row in read_answers() if row.fitted and len(row.answer.split()) > SHORT]

    async def read() -> list[list[float]]:
        return await asyncio.gather(*(grader.long_odds(row.question, [row.reference], row.answer) for row in rows))

    odds = np.array([found[0] for found in asyncio.run(read())])
    truth = np.array([float(row.right) for row in rows])
    # Right and wrong answers count the same in all.
    weight = np.where(truth == 1, 1 / truth.sum(), 1 / (1 - truth).sum())
    scale, bias = map(float, logistic(odds, truth, weight))
    return {"long_scale": round(scale, 4), "long_bias": round(bias, 4)}


def by_system(judge: LocalJudge, rows: Sequence[Answer]) -> dict[str, dict[str, float]]:
    """The share of right answers of each system by people and by the judge."""
    judgements = Judgements(judge)
    grader = LocalGrader(judgements, LocalChecker(judgements, judge.card, ""), "")

    async def read() -> list[list[float]]:
        return await asyncio.gather(*(grader.matches(row.question, row.answer, [row.reference]) for row in rows))

    said = [found[0] for found in asyncio.run(read())]
    table: dict[str, dict[str, float]] = {}
    for system in dict.fromkeys(row.system for row in rows):
        own = [(row, p) for row, p in zip(rows, said, strict=True) if row.system == system]
        measures: dict[str, Any] = {
            "words": [len(row.answer.split()) for row, _ in own],
            "people": [row.right for row, _ in own],
            "judge": [p for _, p in own],
            "decided rightly": [(p > 0.5) == row.right for row, p in own],
        }
        table[system] = {name: round(float(np.mean(values)), 3) for name, values in measures.items()}
    return table


def main() -> None:
    """Renews the card of a folder and prints how the systems are ranked on the questions that were not fitted on."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judge", type=Path, required=True)
    parser.add_argument("--outputs", type=Path, help="file that keeps the outputs of the model (.npz)")
    options = parser.parse_args()
    judge = open_saved(options.judge, options.outputs)
    path = options.judge / "card.json"
    card = json.loads(path.read_text(encoding="utf-8"))
    card["match"] |= fit_long(judge)
    judge.save()
    path.write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
    renewed = open_saved(options.judge, options.outputs)
    rows = [row for row in read_answers() if row.system]
    print(json.dumps({"match": card["match"], "unseen questions": by_system(renewed, [r for r in rows if not r.fitted]), "all": by_system(renewed, rows)}, indent=1))  # fmt: skip
    renewed.save()


if __name__ == "__main__":
    main()
