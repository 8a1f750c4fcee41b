"""The labels of people in a store, for agreement and calibration, and as a CSV file that `agree --human` reads back."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import replace

from ragstone.agreement.labels import Joined, Label, Labels, join
from ragstone.errors import UsageError
from ragstone.formats.file_rows import guarded
from ragstone.storage.human_labels import HumanLabel, answer_labels
from ragstone.storage.runs import Run
from ragstone.storage.scores import read_ids

SOURCE = "the labels of the store"
RANDOM = "random"
COLUMNS = ("sample_id", "system", "label", "annotator", "note", "time", "picked", "question", "answer")


def read_stored(runs: Sequence[Run]) -> Labels:
    """The labels of the answers of these runs; authors are annotators."""
    labels = (
        Label(one.sample_id, float(one.score), one.run, one.author)
        for one in labels_of_runs(runs)
        if one.score is not None
    )
    return Labels(SOURCE, tuple(labels), 0)


def join_stored(runs: Sequence[Run], metrics: Sequence[str] = ()) -> Joined:
    """The labels of the store joined with the scores of these runs."""
    labels = read_stored(runs)
    if not labels.labels:
        raise UsageError(
            "there are no labels of these runs. Label some answers in the viewer (`ragstone view`), or name a file of labels: "
            "--human labels.csv"
        )
    joined = join(runs, labels, metrics)
    return replace(joined, remarks=(*joined.remarks, *chosen_by_hand(runs)))


def chosen_by_hand(runs: Sequence[Run]) -> list[str]:
    """A remark if people chose the rows themselves: means of all rows assume that they were chosen at random."""
    found = [one.picked for run in runs for some in answer_labels(run).values() for one in some]
    others = sum(picked != RANDOM for picked in found)
    if not others:
        return []
    return [
        f"{others} of {len(found)} labels are of rows that were not chosen at random; estimated means of all rows may be off. "
        "Choose random order in the viewer."
    ]


def labels_csv(labels: Sequence[HumanLabel]) -> bytes:
    """The labels of answers, one line each, without skipped ones and without those of claims."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for one in labels:
        if one.score is not None:
            cells = (one.sample_id, one.run, f"{one.score:g}", one.author, one.note, one.time, one.picked)
            writer.writerow(map(guarded, (*cells, one.question, one.answer)))
    return text.getvalue().encode("utf-8", "replace")


def labels_of_runs(runs: Sequence[Run]) -> list[HumanLabel]:
    """The labels of the answers of these runs, each with the run and sample that it applies to."""
    found = ((run, read_ids(run), answer_labels(run)) for run in runs)
    return [
        replace(one, run=run.id, run_name=run.name, sample_id=ids[row])
        for run, ids, rows in found
        for row, some in rows.items()
        for one in some
    ]
