"""What each retrieved chunk is worth, from the grades that people gave to chunk ids."""

from __future__ import annotations

import itertools
from typing import Any

import pyarrow as pa

from ragstone.data.columns import Gaps, Ragged
from ragstone.registry import evidence


@evidence(columnar=True, transient=True)
def gains(contexts: pa.ListArray, relevance: pa.ListArray) -> Gaps:
    """The grade of each retrieved chunk in rank order, found by its id; a chunk retrieved twice counts once."""
    gaps: dict[int, str] = {}
    rows: list[list[float]] = []
    for row, (ids, grades) in enumerate(zip(_split(contexts, "id"), _grades(relevance), strict=True)):
        if None in ids:
            gaps[row] = f"retrieved chunk {ids.index(None) + 1} has no id"
        rows.append([max(0.0, grades.get(name, 0.0)) for name in dict.fromkeys(ids)])
    return Gaps(Ragged.from_lists(rows), gaps)


@evidence(columnar=True, transient=True)
def relevant_grades(relevance: pa.ListArray) -> Ragged:
    """The grades above zero of all that should be retrieved, best first."""
    return Ragged.from_lists(
        [sorted((grade for grade in grades.values() if grade > 0), reverse=True) for grades in _grades(relevance)]
    )


def _grades(relevance: pa.ListArray) -> list[dict[str, float]]:
    return [
        dict(zip(ids, grades, strict=True))
        for ids, grades in zip(_split(relevance, "id"), _split(relevance, "grade"), strict=True)
    ]


def _split(lists: pa.ListArray, child: str) -> list[list[Any]]:
    """One field of the structs in each row's list."""
    values = iter(lists.flatten().field(child).to_pylist())
    return [list(itertools.islice(values, length)) for length in lists.value_lengths().to_pylist()]
