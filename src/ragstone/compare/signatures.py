"""Whether two runs measured with the same yardstick, and what differs where they did not."""

from __future__ import annotations

import pyarrow as pa

from ragstone.compare.alignment import Alignment
from ragstone.storage.runs import Run, read_table

_TRUTH = ("references", "reference_contexts", "relevance", "facts", "answerable")


def differing_signatures(before: Run, after: Run) -> dict[str, str]:
    """The metrics of both runs that were made in different ways, each with what differs."""
    first, second = (
        {metric["metric"]: str(metric["signature"]) for metric in run.info["metrics"]} for run in (before, after)
    )
    return {
        name: describe_change(first[name], second[name])
        for name in first
        if name in second and first[name] != second[name]
    }


def describe_change(before: str, after: str) -> str:
    """The parts of two signatures that are not in both: `judge:a → judge:b`."""
    first, second = before.split("|"), after.split("|")
    gone = [part for part in first if part not in second]
    come = [part for part in second if part not in first]
    return f"{', '.join(gone) or 'nothing'} → {', '.join(come) or 'nothing'}"


def differing_truth(before: Run, after: Run, pairs: Alignment) -> dict[str, int]:
    """The fields of the ground truth that are not the same in both runs, and in how many pairs."""
    found = {}
    for name in _TRUTH:
        first, second = (
            _column(run, name).take(pa.array(rows)) for run, rows in ((before, pairs.before), (after, pairs.after))
        )
        if not first.equals(second):
            count = sum(mine != theirs for mine, theirs in zip(first.to_pylist(), second.to_pylist(), strict=True))
            if count:
                found[name] = count
    return found


def _column(run: Run, name: str) -> pa.ChunkedArray:
    return read_table(run.folder.samples, [name])[name]
