"""What several foreign formats need: chunks under other names, ids in a list of their own, a reference that is one text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragstone.formats.cells import unpack
from ragstone.formats.values import Unfit


def join_ids(row: Mapping[str, Any], texts: str, ids: Sequence[str]) -> dict[str, Any]:
    """A copy of a row in which the chunks have the ids that stood in the first of the given columns that is there."""
    row = dict(row)
    column = next((name for name in ids if row.get(name) is not None), None)
    for name in ids:
        if row.get(name) is None:
            row.pop(name, None)
    if column is None:
        return row
    found, names = unpack(row.get(texts)), unpack(row[column])
    if names == "" or not isinstance(names, list) or not (found is None or found == "" or isinstance(found, list)):
        return row
    del row[column]
    if found is None or found == "":
        # Retrieval can be judged by ids alone.
        found = [""] * len(names)
    if len(found) != len(names):
        advice = "give each chunk one id"
        row[texts] = Unfit(f"has {len(found)} chunks, {column} has {len(names)} ids", advice)
    elif all(isinstance(text, str) for text in found):
        row[texts] = [{"text": text, "id": name} for text, name in zip(found, names, strict=True)]
    return row
