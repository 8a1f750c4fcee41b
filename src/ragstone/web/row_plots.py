"""The plots of a run that filter its samples: failing share per slice, and one metric against another."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from ragstone.analysis.row_columns import RowJudgements
from ragstone.web.run_index import TableState

WRONG, NO_JUDGEMENT = "wrong", "no judgement"


def add_failing_shares(part: dict[str, Any], labels: np.ndarray, known: RowJudgements, state: TableState) -> None:
    """Add the share of wrong rows to the slices of a column, and sort them: the largest share first."""
    judged = np.array([status is not None and status != NO_JUDGEMENT for status in known.statuses], dtype=bool)
    of, wrong = Counter(labels[judged].tolist()), Counter(labels[known.statuses == WRONG].tolist())
    for row in part["rows"]:
        label = row["key"].removeprefix(f"{part['column']}=")
        row["failing"] = {
            "wrong": wrong[label],
            "of": of[label],
            "share": wrong[label] / of[label] if of[label] else 0.0,
            "address": f"{state.but(slice=row['key'], cause=WRONG).address}#samples",
        }
    part["rows"].sort(key=lambda row: (-row["failing"]["share"], -row["samples"]))
