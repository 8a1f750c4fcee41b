"""What foreign formats share: chunks under other names, their ids in a list beside them, a reference that is one text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragstone.formats.cells import unpack
from ragstone.formats.values import Unfit, plain

_ABSENT = (None, "")


def one_text(value: Any) -> Any:
    """A reference that is one text, whatever it begins with: in CSV it would else be taken for a list."""
    value = plain(value)
    if isinstance(value, str):
        return [value] if value else None
    return value


def rename_parts(chunks: Any, names: Mapping[str, str]) -> Any:
    """Chunks with our names for their parts; what is no list of mappings is left for the checks."""
    chunks = unpack(chunks)
    if not isinstance(chunks, list | tuple):
        return chunks
    return [{names.get(k, k): v for k, v in chunk.items()} if isinstance(chunk, Mapping) else chunk for chunk in chunks]


def join_ids(row: Mapping[str, Any], texts: str, ids: Sequence[str]) -> dict[str, Any]:
    """A copy of a row whose chunks have the ids that stand in a column of their own, the first given one of `ids`."""
    row = dict(row)
    columns = [(name, value) for name in ids if (value := unpack(row.pop(name, None))) not in _ABSENT]
    if columns:
        (column, names), *others = columns
        row.update(others)
        row[texts] = _pair(unpack(row.get(texts)), names if isinstance(names, list | tuple) else [names], column)
    return row


def _pair(chunks: Any, names: Sequence[Any], column: str) -> Any:
    if chunks in _ABSENT:
        # Retrieval can be judged by ids alone.
        chunks = [""] * len(names)
    if not isinstance(chunks, list | tuple):
        return chunks
    if len(chunks) != len(names):
        return Unfit(f"has {len(chunks)} chunks, {column} has {len(names)} ids", "give each chunk one id")
    return [
        {**chunk, "id": name} if isinstance(chunk, Mapping) else {"text": chunk, "id": name}
        for chunk, name in zip(chunks, names, strict=True)
    ]
