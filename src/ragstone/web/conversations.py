"""The conversations of a run: the rows of each in the order of the turns."""

from __future__ import annotations

import numpy as np
import pyarrow.compute as pc

from ragstone.storage.runs import Run, read_table
from ragstone.storage.scores import read_conversations

# The rows from 0 of each conversation with two turns or more, by its name.
Conversations = dict[str, tuple[int, ...]]


def find_conversations(run: Run) -> Conversations:
    """Group the rows of a run; empty if no row has a history or no conversation has two rows."""
    if "history" not in (run.info["dataset"].get("present") or ()):
        return {}
    labels = read_conversations(run.folder.samples)
    if labels is None:
        return {}
    history = read_table(run.folder.samples, ["history"])["history"]
    lengths = pc.fill_null(pc.list_value_length(history), 0).to_numpy()
    groups: dict[str, list[int]] = {}
    for row in np.lexsort((np.arange(len(lengths)), lengths)).tolist():
        groups.setdefault(str(labels[row]), []).append(row)
    ordered = sorted(groups.items(), key=lambda item: min(item[1]))
    return {name: tuple(rows) for name, rows in ordered if len(rows) > 1}
