"""Matches between stored runs and ground truth: the newest runs, and the cases of a sample.

A sample matches the case with its id if any version of that case has its question. The id alone is not enough, because many
datasets number their rows from 1. Otherwise it matches the case with the same question.
"""

from __future__ import annotations

from contextlib import suppress

from ragstone.errors import StorageError
from ragstone.storage.runs import Run
from ragstone.web.library import Library
from ragstone.web.navigation import case_address

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


def cases_of(library: Library, sample: str, question: str | None, run: str | None = None) -> list[dict[str, str]]:
    """Return the cases that match a sample, at most one per ground truth, with links that show the chunks of its run."""
    cases = []
    for name in library.truth.names()[:_MAX_TRUTHS]:
        with suppress(StorageError):  # the list of ground truths shows the error
            case = library.truth.asked(name).find(sample, question or "")
            if case is not None:
                cases.append({"name": name, "address": case_address(name, case, run=run)})
    return cases
