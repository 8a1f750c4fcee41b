"""The folder of a run: what lies where, which parts are finished, and the finished run as an object."""

from __future__ import annotations

import json
import os
import secrets
import socket
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq

from ragstone.data.dataset import Dataset
from ragstone.data.summary import Summary
from ragstone.errors import StorageError, UnknownNameError
from ragstone.storage.places import Place, open_place, read_json, storage_errors

# The layout of a run's files; another number means files that this code cannot read.
LAYOUT = 1
_ROWS_AT_A_TIME = 1000


class RunFolder:
    """`<root>/runs/<id>/`: an unfinished run has a plan.json and parts, a finished one a run.json, written last."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.samples = place / "samples.parquet"
        self.scores = place / "scores.parquet"
        self.summary = place / "summary.parquet"
        self.calls = place / "calls.parquet"
        self.plan = place / "plan.json"
        self.manifest = place / "run.json"
        self._owner = place / "owner.json"
        self._parts = place / "parts"
        self._new_above: list[str] = []

    @classmethod
    def create(cls, root: Place) -> RunFolder:
        """A new folder with a name that sorts by time."""
        now = datetime.now(UTC)
        # Microseconds first, so that runs of one second sort by time too; what follows tells those of one microsecond apart.
        name = f"{now:%Y%m%d-%H%M%S}-{now.microsecond:05x}{secrets.randbelow(16**3):03x}"
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
        """A local folder for the replies of this run's models, so that a resumed run asks nothing twice; None elsewhere."""
        return (self.place / "replies").path if self.place.is_local else None

    def evidence(self, name: str) -> Place:
        """The table of one kind of evidence."""
        return self.place / "evidence" / f"{name}.parquet"

    def part(self, number: int) -> PartFolder:
        """The folder of a part."""
        return PartFolder(self._parts / f"{number:06d}")

    def finished_parts(self) -> set[int]:
        """The numbers of the parts that need not be computed again."""
        folders = [PartFolder(place) for place in self._parts.children()]
        return {int(folder.place.name) for folder in folders if folder.scores.exists()}

    def holds_work(self) -> bool:
        """Whether something lies here that a resumed run need not do again: parts, or replies that were paid for."""
        return bool(self.finished_parts()) or bool((self.place / "replies").children())

    def remove_scaffold(self) -> None:
        """Remove what was only needed until the run is finished."""
        self._parts.remove_folder()
        (self.place / "replies").remove_folder()
        self.plan.remove()

    def discard(self) -> None:
        """Remove the whole run, and the folders above it that were made for it, unless something else is in them."""
        self.place.remove_folder()
        for folder in self._new_above:
            try:
                os.rmdir(folder)
            except OSError:
                return

    def is_worked_on(self) -> bool:
        """Whether a process works on it; of one on another machine it is taken that it still does."""
        if not self._owner.exists():
            return False
        owner = read_json(self._owner)
        return bool(owner["host"] != socket.gethostname() or _is_alive(owner["pid"]))

    @contextmanager
    def owned(self) -> Iterator[None]:
        """Refuse to work on a run that another process on this machine is working on."""
        if self._owner.exists():
            owner = read_json(self._owner)
            if owner["host"] == socket.gethostname() and owner["pid"] != os.getpid() and _is_alive(owner["pid"]):
                raise StorageError(
                    f"run {self.id} is being worked on by process {owner['pid']}; wait for it or stop it"
                )
        self._owner.write_bytes(json.dumps({"host": socket.gethostname(), "pid": os.getpid()}).encode())
        try:
            yield
        finally:
            with suppress(StorageError):  # a dead owner is no obstacle, and what went wrong first is what matters
                self._owner.remove()


class PartFolder:
    """What one batch gave. The scores are written last: where they are, the part is finished."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.scores = place / "scores.parquet"
        self.calls = place / "calls.parquet"
        self.tally = place / "tally.json"

    def evidence(self, name: str) -> Place:
        """The part's share of one kind of evidence."""
        return self.place / f"evidence.{name}.parquet"


class Run:
    """A finished evaluation. Tables are read when they are asked for, and never recomputed."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self.info: dict[str, Any] = _read_manifest(folder.manifest)

    @property
    def id(self) -> str:
        """The name of the run's folder."""
        return self.folder.id

    @property
    def name(self) -> str:
        """What the user called it."""
        return str(self.info["name"])

    @property
    def path(self) -> str:
        """Where the run is stored."""
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
        """Every call of a model: for which sample and evidence, tokens, money, time, and the reply."""
        return read_table(self.folder.calls)

    def evidence(self, name: str) -> pa.Table:
        """One kind of evidence: sample_id, value, status, reason, inputs, signature."""
        if name not in self.info["evidence"]:
            raise UnknownNameError(
                "evidence", name, self.info["evidence"], f"This run has: {', '.join(self.info['evidence']) or 'none'}."
            )
        return read_table(self.folder.evidence(name))

    def to_pandas(self) -> Any:
        """A row a sample: id, question, answer and one column for each metric; a cell without value is missing."""
        samples = self.samples.table.select(["id", "question", "answer"]).to_pandas()
        scores = self.scores.select(["sample_id", "metric", "value"]).to_pandas()
        wide = scores.pivot(index="sample_id", columns="metric", values="value")
        wide.columns = [str(name) for name in wide.columns]
        order = [metric["metric"] for metric in self.info["metrics"]]
        # Somebody's own metric may be called like a field.
        names = {name: f"{name} (metric)" for name in order if name in samples.columns}
        return samples.join(wide[order].rename(columns=names), on="id")

    def __repr__(self) -> str:
        return (
            f"Run({self.id}: {self.info['dataset']['rows']} samples, {len(self.info['metrics'])} metrics, {self.path})"
        )


def open_run(path: str | os.PathLike[str]) -> Run:
    """A stored run."""
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
    """Runs that were interrupted, newest first."""
    for place in reversed((root / "runs").children()):
        folder = RunFolder(place)
        if folder.plan.exists() and not folder.manifest.exists():
            yield folder


def read_table(place: Place, columns: list[str] | None = None) -> pa.Table:
    """A whole Parquet file, or some of its columns."""
    with storage_errors(f"cannot read {place}"), place.open_input() as stream:
        return pq.read_table(stream, columns=columns)


def read_batches(place: Place, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
    """A Parquet file bit by bit, for files that are larger than memory."""
    with storage_errors(f"cannot read {place}"), place.open_input() as stream:
        yield from pq.ParquetFile(stream).iter_batches(batch_size=_ROWS_AT_A_TIME, columns=columns)


def read_rows(
    place: Place, rows: Iterable[int], columns: list[str] | None = None
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Some rows of a Parquet file by their numbers, each as a batch of one; only the row groups that have them are read."""
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


def _read_manifest(place: Place) -> dict[str, Any]:
    info = read_json(place)
    layout = info.get("layout") if isinstance(info, dict) else None
    if layout != LAYOUT:
        raise StorageError(
            f"cannot read {place}: its layout is {layout}, this version of Ragstone reads {LAYOUT}. Upgrade Ragstone, or check the path."
        )
    return cast(dict[str, Any], info)


def _missing_folders(path: str) -> list[str]:
    """The folder and those above it that are not there yet, the deepest first."""
    missing = []
    while not os.path.lexists(path):
        missing.append(path)
        path = os.path.dirname(path)
    return missing


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
