"""Pairs the samples of two runs by id, or by question if the ids differ; finds the baseline of a gate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragstone.engine.metric_choice import spelled
from ragstone.errors import UsageError
from ragstone.storage.places import Place
from ragstone.storage.run_info import RunInfo
from ragstone.storage.runs import Run, RunFolder, finished_runs, read_table
from ragstone.text.questions import question_key

# Older runs are not opened: every run costs two requests to an object store.
MOST_RUNS = 1_000
# The search for a run of exactly the same questions goes through at most this many runs of the branch.
MOST_OF_BRANCH = 20
_COMMIT_DIGITS = 10

_MOST_NAMED = 3


@dataclass(frozen=True)
class Alignment:
    """The row numbers of the pairs in both runs, in the order of the first run, and the samples without a partner."""

    by: Literal["id", "question"]
    before: np.ndarray
    after: np.ndarray
    only_before: tuple[str, ...] = ()
    only_after: tuple[str, ...] = ()
    # Ids whose question differs between the runs; not paired.
    renamed: tuple[str, ...] = ()
    # The number of pairs whose question occurs more than once in a run; they are paired in order.
    repeated: int = 0

    def __len__(self) -> int:
        return len(self.before)


def align(before: Run, after: Run) -> Alignment:
    """Pair the samples of two runs; an error if they have none in common."""
    pairs = align_samples(_names(before), _names(after))
    if not len(pairs):
        raise UsageError(
            f"the runs have no sample in common, neither by id nor by question: {_described(before)}; {_described(after)}. "
            "Compare runs of the same questions."
        )
    return pairs


def align_samples(before: pa.Table, after: pa.Table) -> Alignment:
    """Pair two tables with the columns id and question; by id unless questions give more pairs."""
    ids = _pairs(before["id"], after["id"])
    asked_in = (
        [question and question_key(question) for question in table["question"].to_pylist()] for table in (before, after)
    )
    questions = [pa.chunked_array([keys], pa.string()) for keys in asked_in]
    asked = [column.take(pa.array(rows)) for column, rows in zip(questions, ids, strict=True)]
    other = pc.fill_null(pc.not_equal(*asked), pa.scalar(value=False))
    same = ~other.to_numpy(zero_copy_only=False).astype(bool)
    by_question = _pairs(*questions)
    if len(by_question[0]) > np.count_nonzero(same):
        first, second = by_question
        repeats = _repeated(questions[0])[first] | _repeated(questions[1])[second]
        renamed, by, repeated = pa.chunked_array([], pa.string()), "question", int(np.count_nonzero(repeats))
    else:
        renamed = before["id"].take(pa.array(ids[0][~same]))
        first, second, by, repeated = ids[0][same], ids[1][same], "id", 0
    return Alignment(
        by=by,  # type: ignore[arg-type]
        before=first,
        after=second,
        only_before=_without(before["id"], first, renamed),
        only_after=_without(after["id"], second, renamed),
        renamed=tuple(renamed.to_pylist()),
        repeated=repeated,
    )


def _names(run: Run) -> pa.Table:
    return read_table(run.folder.samples, ["id", "question"])


def _pairs(first: pa.ChunkedArray, second: pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray]:
    """The rows with the same text; repeated texts are paired in order of occurrence."""
    codes = pa.chunked_array([*first.chunks, *second.chunks], pa.string()).combine_chunks().dictionary_encode().indices
    numbers = pc.fill_null(codes, -1).to_numpy(zero_copy_only=False).astype(np.int64)
    first_keys, second_keys = (
        # A row without text has no partner.
        np.where(part < 0, -1 - side - 2 * np.arange(len(part)), part * (len(numbers) + 1) + _occurrence(part))
        for side, part in enumerate((numbers[: len(first)], numbers[len(first) :]))
    )
    _, rows, others = np.intersect1d(first_keys, second_keys, assume_unique=True, return_indices=True)
    order = np.argsort(rows)
    return rows[order], others[order]


def _occurrence(codes: np.ndarray) -> np.ndarray:
    """The number of earlier rows with the same code, per row."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    starts = np.r_[0, np.flatnonzero(np.diff(ordered)) + 1] if len(codes) else np.zeros(0, dtype=np.int64)
    lengths = np.diff(np.r_[starts, len(codes)])
    counts = np.empty(len(codes), dtype=np.int64)
    counts[order] = np.arange(len(codes)) - np.repeat(starts, lengths)
    return counts


def _repeated(column: pa.ChunkedArray) -> np.ndarray:
    """The rows whose text occurs more than once in the column."""
    codes = pc.fill_null(column.combine_chunks().dictionary_encode().indices, -1).to_numpy(zero_copy_only=False)
    repeated: np.ndarray = (np.bincount(codes + 1)[codes + 1] > 1) & (codes >= 0)
    return repeated


def _without(ids: pa.ChunkedArray, paired: np.ndarray, renamed: pa.ChunkedArray) -> tuple[str, ...]:
    unpaired = np.ones(len(ids), dtype=bool)
    unpaired[paired] = False
    left = ids.filter(pa.array(unpaired))
    if len(renamed):
        left = left.filter(pc.invert(pc.is_in(left, value_set=renamed.combine_chunks())))
    return tuple(left.to_pylist())


def _described(run: Run) -> str:
    first = _names(run).slice(0, 1).to_pylist()
    asks = f", the first is {first[0]['id']}: {str(first[0]['question'])[:60]!r}" if first else ""
    return f"{run.name} has {run.info.rows} samples{asks}"


def name_some(names: tuple[str, ...], most: int = _MOST_NAMED) -> str:
    """The first few of many names, each on one line and not too long, and the number of others."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(" ".join(name.split())[:40] for name in names[:most]) + more


@dataclass(frozen=True)
class Baseline:
    """The run to compare with, if there is one, and a sentence about it."""

    branch: str
    run: Run | None
    note: str
    # No other run is stored: nothing can have become worse.
    is_first: bool = False


def find_baseline(
    folder: RunFolder, info: RunInfo | None, branch: str, root: Place, metrics: Sequence[str]
) -> Baseline:
    """The newest run of the branch with exactly the same questions, otherwise the newest with some of them.

    Runs that computed none of the metrics in the same way are not compared; `*` is any metric. `info` is None for an
    unfinished run, whose metrics are not compared.
    """
    seen: Counter[str] = Counter()
    wanted = read_table(folder.samples, ["id", "question"])
    partial: tuple[Run, int] | None = None
    for run in islice(_of_branch(folder, branch, root, seen), MOST_OF_BRANCH):
        if info is not None and not _shares_metric(info, run.info, metrics):
            continue
        pairs = align_samples(read_table(run.folder.samples, ["id", "question"]), wanted)
        if len(pairs) == run.info.rows == len(wanted):
            return Baseline(branch, run, _describe(branch, run, "the same questions"))
        if len(pairs) and partial is None:
            partial = run, len(pairs)
    if partial is not None:
        run, count = partial
        return Baseline(branch, run, _describe(branch, run, f"{count:,} of {len(wanted):,} questions in common"))
    return _explain(branch, seen)


def _of_branch(folder: RunFolder, branch: str, root: Place, seen: Counter[str]) -> Iterator[Run]:
    """The other runs of a branch, newest first; counts the branches on the way."""
    for run in islice(finished_runs(root), MOST_RUNS):
        if run.id != folder.id:
            seen[run.info.branch] += 1
            if run.info.branch == branch:
                yield run


def _shares_metric(info: RunInfo, other: RunInfo, metrics: Sequence[str]) -> bool:
    """Whether both runs computed one of the metrics with the same signature."""
    signatures = {(metric.metric, str(metric.signature)) for metric in other.metrics}
    shared = {metric.metric for metric in info.metrics if (metric.metric, str(metric.signature)) in signatures}
    return bool(shared) if "*" in metrics else any(spelled(name) in shared for name in metrics)


def describe_baseline(run: Run) -> str:
    """Which run it is, and when it was made."""
    made = datetime.fromisoformat(run.info["created_at"]).astimezone(UTC)
    return f"baseline: run {run.id}, made {made:%Y-%m-%d %H:%M} UTC"


def note_of_itself(folder: RunFolder, baseline: Run | None) -> str:
    """A warning if a run is its own baseline; otherwise empty."""
    is_same = baseline is not None and baseline.id == folder.id
    return "the run is compared with itself, so nothing can have become worse" if is_same else ""


def is_branch(name: str, root: Place) -> bool:
    """Whether a stored run is of that branch."""
    return any(run.info.branch == name for run in islice(finished_runs(root), MOST_RUNS))


def _describe(branch: str, run: Run, data: str) -> str:
    commit = f", commit {run.info.commit[:_COMMIT_DIGITS]}" if run.info.commit else ""
    return f"{describe_baseline(run)}, the newest of branch {branch}{commit}, {data}"


def _explain(branch: str, seen: Counter[str]) -> Baseline:
    if not seen:
        return Baseline(branch, None, "this is the first run in the store, so there is no baseline yet", is_first=True)
    if seen[branch]:
        count = f"{seen[branch]} run{'s' if seen[branch] != 1 else ''}"
        words = (
            f"no run of branch {branch} is comparable: {count} with other questions, metrics or judges. "
            f"Evaluate the same questions with the same options on {branch}"
        )
        return Baseline(branch, None, words)
    named = ", ".join(sorted(filter(None, seen))[:5])
    have = f"the store has runs of: {named}" if named else "the stored runs have no branch"
    return Baseline(branch, None, f"there is no run of branch {branch}; {have}. Run `ragstone run` on {branch} first")
