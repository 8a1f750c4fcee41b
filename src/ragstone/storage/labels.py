"""A label for each sample, for slices and clusters: from its metadata, or whether it can be answered, or its documents."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np

from ragstone.errors import UnknownNameError
from ragstone.storage.runs import Run, read_table

NONE = "(none)"
_FIELDS = ("answerable", "documents")


def read_labels(run: Run, column: str) -> np.ndarray:
    """One label a sample, as text; samples without one share a label of their own."""
    if column in _FIELDS:
        return _as_text(read_table(run.folder.samples, [column])[column].to_pylist())
    cells = read_table(run.folder.samples, ["metadata"])["metadata"].to_pylist()
    found = [json.loads(cell) if cell else {} for cell in cells]
    if not any(column in row for row in found):
        known = [name for name, _ in Counter(name for row in found for name in row).most_common()]
        there = f"The metadata has: {', '.join(known)}." if known else "The samples have no metadata."
        raise UnknownNameError("column of the metadata", column, known, f"{there} answerable and documents work too.")
    return _as_text([row.get(column) for row in found])


def _as_text(values: list[Any]) -> np.ndarray:
    return np.array([_word(value) for value in values], dtype=object)


def _word(value: Any) -> str:
    if value is None or value == []:
        return NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(sorted(map(str, value)))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
