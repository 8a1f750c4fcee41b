"""The runs beside a ground truth: which of them asked the same, what they retrieved, which case a sample belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import pyarrow.compute as pc

from ragstone.compare.cases import read_cases_at
from ragstone.data.types import Chunk
from ragstone.errors import StorageError
from ragstone.report.plain import one_line
from ragstone.storage.runs import Run
from ragstone.web.errors import NotThereError
from ragstone.web.library import Library
from ragstone.web.truth.addresses import case_address

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


def row_in(library: Library, run: Run, case: str, question: str) -> int | None:
    """The row of a case in a run: the same id and the same question, which tells apart data that both count from 1."""
    table = library.asked(run)
    row = int(pc.index(table["id"], case).as_py())
    return row if row >= 0 and _same(table["question"][row].as_py(), question) else None


def count_in(library: Library, run: Run, heads: Mapping[str, str]) -> int:
    """How many samples of a run are cases of a ground truth."""
    table = library.asked(run)
    pairs = zip(table["id"].to_pylist(), table["question"].to_pylist(), strict=True)
    return sum(name in heads and _same(question, heads[name]) for name, question in pairs)


def runs_beside(library: Library, case: str, question: str, wanted: str = "") -> list[dict[str, Any]]:
    """The newest runs that asked the question of a case, and the one that is wanted however old it is."""
    found = []
    runs = newest_runs(library)
    if wanted and wanted not in [run.id for run in runs]:
        with suppress(NotThereError):
            runs.append(library.run(wanted))
    for run in runs:
        row = row_in(library, run, case, question)
        if row is not None:
            found.append(
                {
                    "id": run.id,
                    "name": one_line(run.name, 60),
                    "row": row + 1,
                    "address": f"/runs/{run.id}/samples/{row + 1}",
                }
            )
    return found


def chunks_of(library: Library, run: str, row: int) -> list[Chunk]:
    """What a run retrieved for a sample."""
    return list(read_cases_at(library.run(run), [row])[row].sample.contexts or ())


def cases_of(library: Library, sample: str, question: str | None, run: str | None = None) -> list[dict[str, str]]:
    """The cases that a sample belongs to, one in each ground truth at most; beside them the chunks of its run."""
    found = []
    shelf = library.truth
    for name in shelf.names()[:_MOST_TRUTHS]:
        try:
            heads = shelf.heads(name, shelf.newest(name))
        except StorageError:
            continue
        if sample in heads and _same(question, heads[sample]):
            found.append({"name": name, "address": case_address(name, sample, run=run)})
    return found


def _same(one: str | None, other: str | None) -> bool:
    return " ".join((one or "").split()) == " ".join((other or "").split())
