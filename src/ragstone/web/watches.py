"""The watches under a root: the root itself, or its folders with a watch.json. A series is estimated again if a period changes."""

from __future__ import annotations

from typing import NamedTuple

from pyarrow import fs

from ragstone.storage.places import Place, storage_errors
from ragstone.storage.runs import read_rows
from ragstone.watch.series import Cache, Series, WorstRow, estimate_series, read_period, worst_rows
from ragstone.watch.store import PeriodRecord, WatchStore
from ragstone.web.background import MAX_WAIT_S, BackgroundCache
from ragstone.web.navigation import SAFE_NAME, NotFoundError, is_inside

_MAX_SERIES = 8
# Folders of a root that are not watches, and the number of others that are looked at.
_OTHERS = ("runs", "truth", "cache", "sweeps")
_MAX_FOLDERS = 200
_MAX_PERIODS = 400


class Worst(NamedTuple):
    """One of the worst samples of a period, with its question."""

    row: WorstRow
    question: str


class WatchLibrary:
    """The watches under a root, by name; the root's own name is empty."""

    def __init__(self, root: Place) -> None:
        self.root = root
        self._periods: dict[str, Cache] = {}
        self._series: BackgroundCache[Series] = BackgroundCache(_MAX_SERIES)
        self._worst: BackgroundCache[list[Worst]] = BackgroundCache(_MAX_PERIODS)

    @property
    def is_watch(self) -> bool:
        """Whether the root itself is a watch."""
        return WatchStore(self.root).exists()

    def any(self) -> bool:
        """Whether there is a watch."""
        return self.is_watch or bool(self.names())

    def names(self) -> list[str]:
        """The watches in folders of the root."""
        folders = [place for place in self.root.children() if SAFE_NAME.fullmatch(place.name)]
        return [
            place.name
            for place in folders[:_MAX_FOLDERS]
            if place.name not in _OTHERS and is_inside(self.root, place) and WatchStore(place).exists()
        ]

    def store(self, name: str = "") -> WatchStore:
        """Open a watch by name; raise NotFoundError for other folders and names that lead out of the root."""
        place = self.root / name if name else self.root
        if (name and (not SAFE_NAME.fullmatch(name) or not is_inside(self.root, place))) or not WatchStore(
            place
        ).exists():
            raise NotFoundError(f"{'watch ' + name if name else 'a watch'} was not found under {self.root}")
        return WatchStore(place)

    def folder_of(self, run: str) -> tuple[str, Place] | None:
        """The watch in a folder of the root that has a run, and the folder of the run. The same id is the same run: runs never change."""
        for name in self.names():
            place = self.root / name / "runs" / run
            if is_inside(self.root, place) and place.is_folder():
                return name, place
        return None

    def series(self, name: str = "") -> Series | None:
        """Return the series of a watch; None until it is estimated."""
        store, cache = self.store(name), self._periods.setdefault(name, {})
        return self._series.peek((name, _state(store)), lambda: estimate_series(store, cache=cache), 4 * MAX_WAIT_S)

    def worst(self, name: str, record: PeriodRecord, most: int) -> list[Worst]:
        """Return the worst samples of a period."""
        key = (name, record.period, record.runs, most)
        return self._worst.get(key, lambda: self._read_worst(name, record, most))

    def close(self) -> None:
        """Cancel the background work that has not started."""
        self._series.close()
        self._worst.close()

    def _read_worst(self, name: str, record: PeriodRecord, most: int) -> list[Worst]:
        store = self.store(name)
        part = self._periods.get(name, {}).get((record.period, record.runs)) or read_period(store, record)
        found = worst_rows(part, most)
        questions: dict[tuple[str, int], str] = {}
        for run in store.runs(record.period):
            rows = [row.row for row in found if row.run == run.id]
            for at, batch in read_rows(run.folder.samples, rows, ["question"]):
                questions[run.id, at] = batch.to_pylist()[0]["question"] or ""
        return [Worst(row, questions.get((row.run, row.row), "")) for row in found]


def _state(store: WatchStore) -> tuple[tuple[str, int, int], ...]:
    """Changes if a period or a label does: names, sizes and times of the files, by one listing."""
    folder = store.place / "periods"
    with storage_errors(f"cannot list {folder}"):
        files = store.place.files.get_file_info(fs.FileSelector(folder.path, allow_not_found=True))
        files.append(store.place.files.get_file_info(store.labels_file.path))
    return tuple(sorted((file.base_name, file.size or 0, file.mtime_ns or 0) for file in files))
