"""The runs beside a ground truth: which of them asked the same, what they retrieved, which case a sample belongs to.

A sample belongs to the case of its id, if some version of the ground truth asks what the sample asked: ids alone prove
nothing, since much data is counted from 1. Else it belongs to the case that asks the same.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ragstone.compare.cases import read_cases_at
from ragstone.data.types import Chunk
from ragstone.errors import StorageError
from ragstone.report.plain import one_line
from ragstone.storage.runs import Run
from ragstone.web.errors import NotThereError
from ragstone.web.library import Library
from ragstone.web.truth.addresses import case_address
from ragstone.web.truth.shelf import Asked, folded

# Older runs are seldom what somebody looks for beside a case; their own pages still lead to it.
MOST_RUNS = 30
_MOST_TRUTHS = 30


def newest_runs(library: Library) -> list[Run]:
    """The newest finished runs that can be read."""
    found: list[Run] = []
    for folder in library.folders():
        try:
            if library.is_finished(folder):
                found.append(library.open(folder))
        except StorageError:
            continue
        if len(found) == MOST_RUNS:
            break
    return found


def runs_beside(library: Library, truth: str, case: str, wanted: str = "") -> list[dict[str, Any]]:
    """The newest runs that asked the question of a case, and the one that is wanted however old it is."""
    found = []
    runs = newest_runs(library)
    if wanted and wanted not in [run.id for run in runs]:
        with suppress(NotThereError):
            runs.append(library.run(wanted))
    asked = library.truth.asked(truth)
    for run in runs:
        row = _row_in(library.asked(run), asked, case)
        if row is not None:
            address = f"/runs/{run.id}/samples/{row + 1}"
            found.append({"id": run.id, "name": one_line(run.name, 60), "row": row + 1, "address": address})
    return found


def chunks_of(library: Library, run: str, row: int) -> list[Chunk]:
    """What a run retrieved for a sample."""
    return list(read_cases_at(library.run(run), [row])[row].sample.contexts or ())


def cases_of(library: Library, sample: str, question: str | None, run: str | None = None) -> list[dict[str, str]]:
    """The cases that a sample belongs to, one in each ground truth at most; beside them the chunks of its run."""
    found = []
    for name in library.truth.names()[:_MOST_TRUTHS]:
        with suppress(StorageError):  # one that cannot be read is told of on the page of all
            case = library.truth.asked(name).find(sample, question or "")
            if case is not None:
                found.append({"name": name, "address": case_address(name, case, run=run)})
    return found


def _row_in(table: pa.Table, asked: Asked, case: str) -> int | None:
    questions = asked.by_id.get(case, frozenset())
    row = int(pc.index(table["id"], case).as_py())
    if row >= 0 and folded(table["question"][row].as_py() or "") in questions:
        return row
    for question in asked.spelled.get(case, ()):
        row = int(pc.index(table["question"], question).as_py())
        if row >= 0:
            return row
    return None
