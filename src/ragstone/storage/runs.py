"""The folder of a run: its files, its finished parts, and the finished run as an object; and how a run is found by name."""

from __future__ import annotations

import os
import re
import secrets
import shlex
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cached_property
from importlib.util import find_spec
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ragstone.data.dataset import Dataset
from ragstone.data.fingerprint import PREFIX, fingerprint
from ragstone.data.summary import Summary, SummaryRow
from ragstone.errors import DamagedError, StorageError, UnknownNameError, UsageError
from ragstone.storage.durable import is_running, lock, read_owner
from ragstone.storage.places import Place, damage_errors, open_place, storage_errors
from ragstone.storage.run_info import RunInfo, read_run_info

# With a larger share of failed cells, the other cells may not be representative.
MOST_FAILED = 0.05
_ROWS_AT_A_TIME = 1000
_FILES_AHEAD = 16
NEWEST = ("latest", "last")
DEFAULT_ROOT = "ragstone-store"
_MOST_NAMED = 5
# A new name differs from those of this many runs; reading all names of a large store would take long.
_NAMES_READ = 50
# What every version writes, by the name of the file.
_COLUMNS = {
    "samples.parquet": ("id", "question", "answer", "metadata"),
    "scores.parquet": ("sample_id", "metric", "value", "status", "reason"),
    "summary.parquet": ("metric", "slice", "mean"),
    "calls.parquet": ("sample_id", "model", "error"),
    "evidence": ("value",),
}


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
        self._is_owned = False

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
        """Keep other processes on this machine away from the run until the block ends. Blocks may be nested."""
        if self._is_owned:
            yield
            return
        with lock(self.place, f"run {self.id}", "Wait until it has finished."):
            self._is_owned = True
            try:
                yield
            finally:
                self._is_owned = False


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


def find_failed_share(info: RunInfo, rows: Iterable[SummaryRow]) -> float:
    """The share of failed cells of a run, from its summary."""
    judged = {metric.metric for metric in info.metrics if metric.is_judged}
    counts = [(row.n_failed, row.n_ok + row.n_failed, row.metric in judged) for row in rows]
    groups = [counts, [count for count in counts if count[2]]]
    sums = [(sum(one[0] for one in group), sum(one[1] for one in group)) for group in groups]
    return max((failed / tried for failed, tried in sums if tried), default=0.0)


class Run:
    """A finished evaluation. Tables are read on first use and never recomputed."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self.info = read_run_info(folder.manifest)

    def check_files(self) -> None:
        """Raise a DamagedError if a table cannot be opened."""
        folder = self.folder
        evidence = map(folder.evidence, self.info.evidence)
        for place in (folder.samples, folder.scores, folder.summary, folder.calls, *evidence):
            with open_table(place):
                pass

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

    @property
    def failed_share(self) -> float:
        """The share of failed cells, of those that were not skipped: of all metrics, or of those of a judge if that is larger."""
        return find_failed_share(self.info, self.summary())

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
    """The runs under a root, newest first, without damaged ones."""
    for folder in finished_folders(root):
        with suppress(DamagedError):
            yield Run(folder)


def free_name(root: Place, data: str) -> str:
    """A name for a run of this data: `answers`, or `answers-2` if one of the newest runs has that name."""
    file = os.path.basename(data.partition("?")[0].rstrip("/")).partition(".")[0]
    stem = re.sub(r"[^\w-]+", "-", file).strip("-") or "run"
    taken = {*NEWEST} | {run.name for run in islice(finished_runs(root), _NAMES_READ)}
    names = (stem, *(f"{stem}-{count}" for count in range(2, _NAMES_READ + 4)))
    return next(name for name in names if name not in taken)


def finished_folders(root: Place) -> Iterator[RunFolder]:
    """The folders of finished runs, newest first, damaged ones too."""
    folders = map(RunFolder, reversed((root / "runs").children()))
    return (folder for folder in folders if folder.manifest.exists())


def unfinished_runs(root: Place) -> Iterator[RunFolder]:
    """Interrupted runs, newest first."""
    folders = map(RunFolder, reversed((root / "runs").children()))
    return (folder for folder in folders if folder.plan.exists() and not folder.manifest.exists())


@contextmanager
def open_table(place: Place) -> Iterator[pq.ParquetFile]:
    """A Parquet file of a run; a DamagedError if it cannot be read or lacks columns."""
    with damage_errors(place), place.open_input() as stream:
        file = pq.ParquetFile(stream)
        known = _COLUMNS.get("evidence" if "/evidence/" in place.path else place.name, ())
        for name in (name for name in known if name not in file.schema_arrow.names):
            raise DamagedError(place, f"it has no column '{name}'")
        yield file


def read_table(place: Place, columns: list[str] | None = None) -> pa.Table:
    """A whole Parquet file, or those of the columns that it has."""
    with open_table(place) as file:
        return file.read(columns=columns)


def read_small_tables(places: Iterable[Place]) -> Iterator[pa.Table]:
    """Many small Parquet files, in order. Remote files are read ahead, a few at a time, each with one request for its content."""

    def read_small(place: Place) -> pa.Table:
        with storage_errors(f"cannot read {place}"):
            return pq.ParquetFile(pa.BufferReader(place.read_bytes())).read()

    with ThreadPoolExecutor(_FILES_AHEAD) as pool:
        ahead: deque[Future[pa.Table]] = deque()
        for place in places:
            if place.is_local:
                yield read_table(place)
                continue
            ahead.append(pool.submit(read_small, place))
            if len(ahead) > _FILES_AHEAD:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()


def read_batches(place: Place, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
    """A Parquet file in batches, for files larger than memory."""
    with open_table(place) as file:
        yield from file.iter_batches(batch_size=_ROWS_AT_A_TIME, columns=columns)


def read_rows(
    place: Place, rows: Iterable[int], columns: list[str] | None = None
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Some rows of a Parquet file, each as a batch of one; only the row groups that contain them are read."""
    wanted = sorted(set(rows))
    with open_table(place) as file:
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
    while not os.path.lexists(path) and path != os.path.dirname(path):  # a drive of Windows may be missing
        missing.append(path)
        path = os.path.dirname(path)
    return missing


def default_root() -> str:
    """The folder or URL of runs if none is named: RAGSTONE_ROOT, or `ragstone-store`."""
    return os.environ.get("RAGSTONE_ROOT") or DEFAULT_ROOT


def find_run(wanted: str, root: str) -> Run:
    """The finished run of that path, id or name; `latest` is the newest under the root."""
    if (folder := _open_folder(wanted, root)) is not None:
        return open_run(str(folder.place))
    if wanted not in NEWEST and os.path.isfile(wanted):
        name = os.path.splitext(os.path.basename(wanted))[0]
        raise StorageError(
            f"'{wanted}' is a file of data, not a run. Evaluate it first: {_run_command(wanted, name, root)}"
        )
    known: list[str] = []
    for folder in finished_folders(open_place(root)):
        try:
            run = Run(folder)
        except DamagedError:
            if wanted in NEWEST:  # an older one is not the newest
                raise
            continue
        if wanted in NEWEST or wanted == run.name:
            return run
        known += [run.id, run.name]
    if not known:
        raise StorageError(
            f"there is no run '{wanted}', and no other run under {root}. Create one with `ragstone run`; "
            "-o (in Python: root) names another root."
        )
    raise UnknownNameError("run", wanted, known, f"{_newest(known)} `ragstone run --name` gives a run a name.")


def _run_command(file: str, name: str, root: str) -> str:
    place = [] if root == DEFAULT_ROOT else ["-o", root]
    return f"`{shlex.join(['ragstone', 'run', file, '--name', name, *place])}`"


def _newest(known: Sequence[str]) -> str:
    """The names of the newest runs, from their ids and names in turn."""
    names = list(dict.fromkeys(known[1::2]))
    more = f" and {len(names) - _MOST_NAMED} older ones" if len(names) > _MOST_NAMED else ""
    return f"The runs, newest first, are: {', '.join(names[:_MOST_NAMED])}{more}."


def find_folder(wanted: str, root: str) -> RunFolder:
    """The folder of a run, finished or not; `latest` is the newest of all."""
    if (folder := _open_folder(wanted, root)) is not None:
        return folder
    unfinished = next(unfinished_runs(open_place(root)), None) if wanted in NEWEST else None
    try:
        newest = find_run(wanted, root).folder
    except StorageError:
        if unfinished is None:
            raise
        return unfinished
    return unfinished if unfinished and unfinished.id > newest.id else newest


def _open_folder(wanted: str, root: str) -> RunFolder | None:
    """The folder of that path, or of that id under the root."""
    for path in (wanted, f"{root.rstrip('/')}/runs/{wanted}"):
        folder = RunFolder(open_place(path))
        if folder.plan.exists() or folder.manifest.exists():
            return folder
    return None
