"""Samples without an id of their own are named by their row and question."""

from __future__ import annotations

import re

from ragstone.report.text import one_line
from ragstone.storage.runs import Run, read_table

# Ids that the reader makes from the question say nothing to people.
_MADE = re.compile(r"q-[0-9a-f]{10}(?:-\d+)?")
_QUESTION_WIDTH = 30


def sample_labels(run: Run) -> dict[str, str]:
    """The row number and the first words of the question, by id, of the samples whose id was made from the question."""
    rows = read_table(run.folder.samples, ["id", "question"]).to_pylist()
    return {
        row["id"]: f'row {number} "{one_line(row["question"] or "", _QUESTION_WIDTH)}"'
        for number, row in enumerate(rows, start=1)
        if _MADE.fullmatch(row["id"])
    }
