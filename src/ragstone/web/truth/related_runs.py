"""Matches between stored runs and ground truth: the runs that asked a question, and the case of a sample.

A sample matches the case with its id if any version of that case has its question. The id alone is not enough, because many
datasets number their rows from 1. Otherwise it matches the case with the same question.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ragstone.errors import StorageError
from ragstone.report.text import one_line
from ragstone.storage.runs import Run
from ragstone.web.errors import NotFoundError
from ragstone.web.library import Library
from ragstone.web.navigation import case_address
from ragstone.web.truth.store import QuestionIndex

# Older runs are not searched for a case; their own pages still link to it.
MAX_RUNS = 30
_MAX_TRUTHS = 30


def newest_runs(library: Library) -> list[Run]:
    """Return the newest finished runs that can be read."""
    runs: list[Run] = []
    for folder in library.folders():
        try:
            if run := library.open(folder):
                runs.append(run)
        except StorageError:
            continue
        if len(runs) == MAX_RUNS:
            break
    return runs


def runs_of(library: Library, truth: str, case: str, wanted: str = "") -> list[dict[str, Any]]:
    """Return the newest runs that asked the question of a case, and the wanted run even if it is older."""
    matching = []
    runs = newest_runs(library)
    if wanted and wanted not in [run.id for run in runs]:
        with suppress(NotFoundError):
            runs.append(library.run(wanted))
    asked = library.truth.asked(truth)
    for run in runs:
        row = _row_in(library.asked(run), asked, case)
        if row is not None:
            address = f"/runs/{run.id}/samples/{row + 1}"
            matching.append({"id": run.id, "name": one_line(run.name, 60), "row": row + 1, "address": address})
    return matching


def cases_of(library: Library, sample: str, question: str | None, run: str | None = None) -> list[dict[str, str]]:
    """Return the cases that match a sample, at most one per ground truth, with links that show the chunks of its run."""
    cases = []
    for name in library.truth.names()[:_MAX_TRUTHS]:
        with suppress(StorageError):  # the list of ground truths shows the error
            case = library.truth.asked(name).find(sample, question or "")
            if case is not None:
                cases.append({"name": name, "address": case_address(name, case, run=run)})
    return cases


def _row_in(table: pa.Table, asked: QuestionIndex, case: str) -> int | None:
    keys = asked.by_id.get(case, ())
    row = int(pc.index(table["id"], case).as_py())
    if row >= 0 and table["question_key"][row].as_py() in keys:
        return row
    rows = (int(pc.index(table["question_key"], key).as_py()) for key in keys if key)
    return next((row for row in rows if row >= 0), None)
