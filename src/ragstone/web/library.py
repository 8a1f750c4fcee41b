"""The runs under a root, as the viewer sees them: listed anew for every page, read once, a few kept in memory."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import pyarrow as pa

from ragstone.compare.comparison import Comparison, compare_runs
from ragstone.compare.worst import telling_metrics
from ragstone.data.summary import ALL, SummaryRow
from ragstone.storage.places import Place, open_place
from ragstone.storage.runs import Run, RunFolder, read_table
from ragstone.web.errors import NotThereError
from ragstone.web.index import RunIndex, read_index
from ragstone.web.inside import is_inside
from ragstone.web.insights import Insight, Insights
from ragstone.web.later import Kept
from ragstone.web.truth.jobs import Rescoring
from ragstone.web.truth.shelf import Held, Shelf

# What people and we call runs; nothing that could lead out of the folder of runs.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+=@ -]{0,199}")
_MOST_INDEXES = 4
_MOST_COMPARISONS = 8
_MOST_ASKED = 32
_MOST_LISTED = 2_000


class Library:
    """A root of runs."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root: Place = open_place(root)
        self.truth = Shelf(self.root)
        self.rescoring = Rescoring()
        self._joined: Kept[int] = Kept(_MOST_LISTED)
        self._runs = lru_cache(maxsize=_MOST_LISTED)(Run)
        self._summaries = lru_cache(maxsize=_MOST_LISTED)(_summary)
        self._folders: dict[str, RunFolder] = {}
        self._indexes: Kept[RunIndex] = Kept(_MOST_INDEXES, workers=2)
        self._asked: Kept[pa.Table] = Kept(_MOST_ASKED, workers=2)
        self._insights = Insights(_MOST_INDEXES, self.index)
        self._comparisons: Kept[Comparison] = Kept(_MOST_COMPARISONS)

    def folders(self) -> list[RunFolder]:
        """All folders of runs, the newest first."""
        return [
            self._folder(place) for place in reversed((self.root / "runs").children()) if is_inside(self.root, place)
        ]

    def folder(self, name: str) -> RunFolder:
        """The folder of a run; names that could lead elsewhere are no names of runs."""
        place = self.root / "runs" / name
        if not _NAME.fullmatch(name) or not is_inside(self.root, place) or not place.is_folder():
            raise NotThereError(f"there is no run {name} under {self.root}")
        return self._folder(place)

    def is_finished(self, folder: RunFolder) -> bool:
        """Whether all of it is there; a finished run stays so."""
        return folder.manifest.exists()

    def run(self, name: str) -> Run:
        """A finished run."""
        folder = self.folder(name)
        if not self.is_finished(folder):
            raise NotThereError(f"run {name} is not finished")
        return self._runs(folder)

    def open(self, folder: RunFolder) -> Run:
        """The run of a folder that has one."""
        return self._runs(folder)

    def summary(self, run: Run) -> dict[str, SummaryRow]:
        """The summary by metric."""
        return self._summaries(run)

    def index(self, run: Run) -> RunIndex:
        """The scores as columns."""
        return self._indexes.get(run.id, lambda: read_index(run))

    def asked(self, run: Run) -> pa.Table:
        """The ids and questions of a run, without its scores."""
        return self._asked.get(run.id, lambda: read_table(run.folder.samples, ["id", "question"]))

    def joined(self, run: Run, held: Held, count: Callable[[], int]) -> int:
        """How many samples of a run are cases of a version; counted once."""
        return self._joined.get((run.id, held.info.name, held.info.number), count)

    def insight(self, run: Run) -> Insight | None:
        """Causes and slices; None while they are being looked for."""
        return self._insights.of(run)

    def comparison(self, before: Run, after: Run) -> Comparison | None:
        """Two runs side by side; None while they are being compared."""
        return self._comparisons.peek((before.id, after.id), lambda: compare_runs(before, after))

    def close(self) -> None:
        """Let go of work that nobody waits for."""
        for kept in (
            self._indexes,
            self._asked,
            self._joined,
            self.rescoring,
            self._insights,
            self._comparisons,
            self.truth,
        ):
            kept.close()

    def _folder(self, place: Place) -> RunFolder:
        """The same object for the same folder, so that what was read of it is found again."""
        return self._folders.setdefault(place.name, RunFolder(place))


def _summary(run: Run) -> dict[str, SummaryRow]:
    return {row.metric: row for row in run.summary() if row.slice == ALL}


def main_metric(run: Run) -> dict[str, Any] | None:
    """The metric that tells most about a run."""
    found = telling_metrics(run.info["metrics"], 1)
    return dict(found[0]) if found else None
