"""Label next: which rows to give to a person so that the interval shrinks most, with the chances that keep it right."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ragstone.agreement.estimating import gather_rows, pair_rows
from ragstone.agreement.joining import Joined
from ragstone.errors import UsageError
from ragstone.stats.picking import guess_errors, make_chances, pick
from ragstone.stats.rounds import Rows
from ragstone.storage.places import open_place
from ragstone.storage.runs import read_rows

COLUMNS = ("sample_id", "system", "label", "annotator", "round", "chance", "question", "answer")


@dataclass(frozen=True)
class ToDo:
    """A row for a person to label."""

    sample_id: str
    system: str
    round: int
    chance: float
    question: str
    answer: str


def choose_next(joined: Joined, metric: str, size: int, seed: int = 0) -> list[ToDo]:
    """So many inputs (of one run, or of two to compare), in random order; of two runs both answers."""
    rows = [gather_rows(joined, metric, place) for place in range(len(joined.runs))]
    bounds = next(tuple(each["bounds"]) for each in joined.metrics if each["metric"] == metric)
    number = 1 + max([0, *(int(part.rounds.max(initial=0)) for part in rows)])
    if len(rows) == 1:
        population, places = rows[0], [np.arange(len(rows[0].scores))]
    elif len(rows) == 2:
        population, places, _ = pair_rows(joined, rows)
        # Scores that differ by about nothing are as unsure as any.
        bounds = (None, None)
    else:
        raise UsageError("--label-next is for one run, or for two whose difference you want to know")
    picked, chances = _pick(population, bounds, size, seed + number)
    return [
        _describe(joined, system, int(side[row]), number, float(chance))
        for row, chance in zip(picked, chances, strict=True)
        for system, side in enumerate(places)
    ]


def _pick(rows: Rows, bounds: tuple[float | None, ...], size: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    free = np.flatnonzero((rows.rounds < 0) & ~np.isnan(rows.scores))
    if not len(free):
        raise UsageError("every row with a score is labelled already")
    scored = ~np.isnan(rows.scores)
    errors = np.zeros(len(rows.scores))
    errors[scored] = guess_errors(rows.scores[scored], rows.labels[scored], (bounds[0], bounds[1]))
    chances = make_chances(errors[free], size)
    picked = pick(chances, seed)
    return free[picked], chances[picked]


def _describe(joined: Joined, system: int, place: int, number: int, chance: float) -> ToDo:
    run = joined.runs[system]
    ((_, batch),) = read_rows(run.folder.samples, [place], ["id", "question", "answer"])
    sample = batch.to_pylist()[0]
    return ToDo(sample["id"], run.name, number, chance, sample["question"] or "", sample["answer"] or "")


def write_next(rows: Sequence[ToDo], path: str) -> None:
    """A CSV with an empty label in each row; rounds and chances are to stay as they are."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    writer.writerows(
        [row.sample_id, row.system, "", "", row.round, repr(row.chance), _safe(row.question), _safe(row.answer)]
        for row in rows
    )
    open_place(path).write_bytes(text.getvalue().encode())


def _safe(text: str) -> str:
    """What a spreadsheet would take for a formula, it takes for text."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text
