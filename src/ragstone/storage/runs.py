"""The folder of a run: its files, its finished parts, and the finished run as an object."""

from __future__ import annotations

import os
import secrets
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from importlib.util import find_spec
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ragstone.data.dataset import Dataset
from ragstone.data.fingerprint import PREFIX, fingerprint
from ragstone.data.summary import Summary
from ragstone.errors import StorageError, UnknownNameError, UsageError
from ragstone.storage.owners import is_local, is_running, owning, read_owner
from ragstone.storage.places import Place, open_place, storage_errors
from ragstone.storage.run_info import read_run_info

_ROWS_AT_A_TIME = 1000
_FILES_AHEAD = 16


class RunFolder:
    """`<root>/runs/<id>/`: an unfinished run has plan.json and parts; a finished run has run.json, written last."""

    def __init__(self, place: Place) -> None:
        self.place = place = place.as_private()
        self.samples = place / "samples.parquet"
        self.scores = place / "scores.parquet"
        self.summary = place / "summary.parquet"
        self.calls = place / "calls.parquet"
        self.plan = place / "plan.json"
        self.manifest = place / "run.json"
        self._parts = place / "parts"
        self._new_above: list[str] = []

    @classmethod
    def create(cls, root: Place, name: str | None = None) -> RunFolder:
        """A folder of that name, or a new one whose name sorts by time."""
        now = datetime.now(UTC)
        # Microseconds sort runs of the same second; random digits separate runs of the same microsecond.
        name = name or f"{now:%Y%m%d-%H%M%S}-{now.microsecond:05x}{secrets.randbelow(16**3):03x}"
        folder = cls(root / "runs" / name)
        if root.is_local:
            folder._new_above = _missing_folders(os.path.dirname(folder.place.path))
        return folder

    @property
    def id(self) -> str:
        """The name of the folder."""
        return self.place.name

    @property
    def replies(self) -> str | None:
        """A local folder for model replies, so that a resumed run repeats no call; None for remote runs."""
        return (self.place / "replies").path if self.place.is_local else None

    def evidence(self, name: str) -> Place:
        """The table of one kind of evidence."""
        return self.place / "evidence" / f"{name}.parquet"

    def part(self, number: int) -> PartFolder:
        """The folder of a part."""
        return PartFolder(self._parts / f"{number:06d}")

    def fingerprint(self, stored: str) -> str:
        """The stored fingerprint of its samples; one of an earlier version is computed again."""
        return stored if stored.startswith(PREFIX) else fingerprint([read_table(self.samples)])

    def finished_parts(self) -> set[int]:
        """The numbers of the finished parts."""
        return self.parts_with(PartFolder.SCORES)

    def parts_with(self, name: str) -> set[int]:
        """The numbers of the parts that have a file of this name; one listing for all parts."""
        paths = (path.partition("/") for path in self._parts.files_below())
        return {int(part) for part, _, file in paths if file == name}

    def holds_work(self) -> bool:
        """Whether a resumed run can reuse finished parts or stored replies."""
        return bool(self.finished_parts()) or bool((self.place / "replies").children())

    def remove_scaffold(self) -> None:
        """Remove the files that only an unfinished run needs."""
        self._parts.remove_folder()
        (self.place / "replies").remove_folder()
        self.plan.remove()

    def discard(self) -> None:
        """Remove the run and the parent folders that were created for it, if they are empty."""
        self.place.remove_folder()
        for folder in self._new_above:
            try:
                os.rmdir(folder)
            except OSError:
                return

    def is_worked_on(self) -> bool:
        """Whether a process is working on the run; a process on another machine is assumed to be alive."""
        owner = read_owner(self.place)
        return owner is not None and is_running(owner)

    @contextmanager
    def owned(self) -> Iterator[None]:
        """Mark the run as owned by this process; an error if another process on this machine owns it."""
        owner = read_owner(self.place)
        if owner and is_local(owner) and owner["pid"] != os.getpid() and is_running(owner):
            raise StorageError(
                f"run {self.id} is in use by process {owner['pid']} of Ragstone. Wait until it has finished."
            )
        with owning(self.place):
            yield


class PartFolder:
    """The results of one batch. The scores are written last: if they exist, the part is finished."""

    SCORES, TALLY = "scores.parquet", "tally.json"

    def __init__(self, place: Place) -> None:
        self.place = place
        self.scores = place / self.SCORES
        self.calls = place / "calls.parquet"
        self.tally = place / self.TALLY

    def evidence(self, name: str) -> Place:
        """The part's share of one kind of evidence."""
        return self.place / f"evidence.{name}.parquet"


class Run:
    """A finished evaluation. Tables are read on first use and never recomputed."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self.info = read_run_info(folder.manifest)

    @property
    def id(self) -> str:
        """The name of the run's folder."""
        return self.folder.id

    @property
    def name(self) -> str:
        """The name chosen by the user."""
        return self.info.name

    @property
    def path(self) -> str:
        """The path or URL of the run."""
        return str(self.folder.place)

    def summary(self) -> Summary:
        """Mean, interval and counts of every metric."""
        return Summary.from_arrow(read_table(self.folder.summary))

    @cached_property
    def samples(self) -> Dataset:
        """The samples as they were evaluated."""
        return Dataset(read_table(self.folder.samples), self.path)

    @cached_property
    def scores(self) -> pa.Table:
        """All cells, long: sample_id, metric, value, status, reason, signature."""
        return read_table(self.folder.scores)

    @cached_property
    def calls(self) -> pa.Table:
        """One row per model call: sample, evidence, tokens, cost, time and reply."""
        return read_table(self.folder.calls)

    def evidence(self, name: str) -> pa.Table:
        """One kind of evidence: sample_id, value, status, reason, inputs, signature."""
        stored = self.info.evidence
        if name not in stored:
            raise UnknownNameError("evidence", name, stored, f"This run has: {', '.join(stored) or 'none'}.")
        return read_table(self.folder.evidence(name))

    def to_pandas(self) -> Any:
        """One row per sample: id, question, answer and one column per metric; cells without a value are missing."""
        if find_spec("pandas") is None:
            raise UsageError(
                "to_pandas() needs pandas. Install it with: pip install pandas. `scores` is a table without it."
            )
        samples = self.samples.table.select(["id", "question", "answer"]).to_pandas()
        scores = self.scores.select(["sample_id", "metric", "value"]).to_pandas()
        wide = scores.pivot(index="sample_id", columns="metric", values="value")
        wide.columns = [str(name) for name in wide.columns]
        order = [metric.metric for metric in self.info.metrics]
        # A user's metric may have the name of a field.
        names = {name: f"{name} (metric)" for name in order if name in samples.columns}
        return samples.join(wide[order].rename(columns=names), on="id")

    def __repr__(self) -> str:
        return f"Run({self.id}: {self.info.rows} samples, {len(self.info.metrics)} metrics, {self.path})"


def open_run(path: str | os.PathLike[str]) -> Run:
    """Open a stored run."""
    folder = RunFolder(open_place(path))
    if folder.manifest.exists():
        return Run(folder)
    if folder.plan.exists():
        raise StorageError(f"run {folder.place} is unfinished. Repeat its command with --resume to finish it.")
    raise StorageError(f"{folder.place} is not a run: it has no run.json")


def finished_runs(root: Place) -> Iterator[Run]:
    """The runs under a root, newest first."""
    for place in reversed((root / "runs").children()):
        folder = RunFolder(place)
        if folder.manifest.exists():
            yield Run(folder)


def unfinished_runs(root: Place) -> Iterator[RunFolder]:
    """Interrupted runs, newest first."""
    for place in reversed((root / "runs").children()):
        folder = RunFolder(place)
        if folder.plan.exists() and not folder.manifest.exists():
            yield folder


def read_table(place: Place, columns: list[str] | None = None) -> pa.Table:
    """A whole Parquet file, or those of the columns that it has."""
    with storage_errors(f"cannot read {place}"), place.open_input() as stream:
        return pq.ParquetFile(stream).read(columns=columns)


def read_small_tables(places: Iterable[Place]) -> Iterator[pa.Table]:
    """Many small Parquet files, in order. Remote files are read ahead, a few at a time, each with one request for its content."""
    with ThreadPoolExecutor(_FILES_AHEAD) as pool:
        ahead: deque[Future[pa.Table]] = deque()
        for place in places:
            if place.is_local:
                yield read_table(place)
                continue
            ahead.append(pool.submit(_read_small, place))
            if len(ahead) > _FILES_AHEAD:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()


def _read_small(place: Place) -> pa.Table:
    with storage_errors(f"cannot read {place}"):
        return pq.ParquetFile(pa.BufferReader(place.read_bytes())).read()


def read_batches(place: Place, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
    """A Parquet file in batches, for files larger than memory."""
    with storage_errors(f"cannot read {place}"), place.open_input() as stream:
        yield from pq.ParquetFile(stream).iter_batches(batch_size=_ROWS_AT_A_TIME, columns=columns)


def read_rows(
    place: Place, rows: Iterable[int], columns: list[str] | None = None
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Some rows of a Parquet file, each as a batch of one; only the row groups that contain them are read."""
    wanted = sorted(set(rows))
    with storage_errors(f"cannot read {place}"), place.open_input() as stream:
        file = pq.ParquetFile(stream)
        first = 0
        for group in range(file.num_row_groups):
            size = file.metadata.row_group(group).num_rows
            mine = wanted[bisect_left(wanted, first) : bisect_left(wanted, first + size)]
            yield from _take(file, group, first, mine, columns) if mine else ()
            first += size


def _take(
    file: pq.ParquetFile, group: int, first: int, wanted: list[int], columns: list[str] | None
) -> Iterator[tuple[int, pa.RecordBatch]]:
    for batch in file.iter_batches(_ROWS_AT_A_TIME, row_groups=[group], columns=columns):
        for row in wanted[bisect_left(wanted, first) : bisect_left(wanted, first + len(batch))]:
            yield row, batch.slice(row - first, 1)
        first += len(batch)
        if first > wanted[-1]:
            return


def write_table(place: Place, table: pa.Table) -> None:
    """A whole Parquet file, complete or absent."""
    with place.writing() as stream:
        pq.write_table(table, stream, compression="zstd")


def _missing_folders(path: str) -> list[str]:
    """The folder and its parents that do not exist, deepest first."""
    missing = []
    while not os.path.lexists(path):
        missing.append(path)
        path = os.path.dirname(path)
    return missing
