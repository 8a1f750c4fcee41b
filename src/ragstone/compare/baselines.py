"""The baseline of a gate: the newest stored run of a branch that asks the same questions with the same metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice

from ragstone.compare.alignment import align_samples
from ragstone.engine.metric_choice import spelled
from ragstone.storage.places import Place
from ragstone.storage.run_info import RunInfo
from ragstone.storage.runs import Run, RunFolder, finished_runs, read_table

# Older runs are not opened: every run costs two requests to an object store.
MOST_RUNS = 1_000
# The search for a run of exactly the same questions goes through at most this many runs of the branch.
MOST_OF_BRANCH = 20
_COMMIT_DIGITS = 10


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
