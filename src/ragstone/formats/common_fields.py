"""Conversions shared by formats: cells of text tables, chunks with other names, ids in a separate list."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ragstone.data.schema import GIVEN_EVIDENCE
from ragstone.formats.loose_contexts import parse_list
from ragstone.formats.values import RepeatedKeyError, Unfit, load_json, plain, shown

_LIST_HINT = 'write lists as JSON: ["first", "second"]'
_LISTS_ONLY = {"contexts", "facts", "history", "steps", "citations", *GIVEN_EVIDENCE} - {"noncommittal"}
# An empty cell is an empty answer, or nothing retrieved. What is absent is written as databases export NULL; an answer that
# is this text is escaped.
ABSENT = "\\N"
_ESCAPED = re.compile(r"\\+N")


def parse_cell(name: str, cell: str) -> Any:
    """The value of a cell for a field: JSON, or the text itself if the field allows it."""
    if name == "answer":
        return None if cell == ABSENT else cell[1:] if _ESCAPED.fullmatch(cell) else cell
    if not cell or cell.isspace() or (name == "contexts" and cell == ABSENT):
        return None
    if name in ("id", "question", "rewritten_question", "standalone_question"):
        return cell
    if cell.lstrip()[0] in "[{":
        try:
            return load_json(cell)
        except RepeatedKeyError:
            raise
        except (ValueError, RecursionError) as error:
            # pandas writes lists as Python prints them.
            if (value := parse_list(cell)) is not None:
                return value
            raise Unfit(f"is not JSON: {error}", _LIST_HINT) from None
    if name in _LISTS_ONLY:
        raise Unfit(f"is not a JSON list: {shown(cell)}", _LIST_HINT)
    return cell


def answer_cell(answer: str | None) -> str:
    """An answer as a cell that `parse_cell` reads back unchanged."""
    if answer is None:
        return ABSENT
    return f"\\{answer}" if _ESCAPED.fullmatch(answer) else answer


def unpack(value: Any) -> Any:
    """A list or mapping from JSON text or an array; other values unchanged. An object with a repeated key is a problem."""
    value = plain(value)
    try:
        return load_json(value) if isinstance(value, str) and value.lstrip()[:1] in ("{", "[") else value
    except RepeatedKeyError as error:
        return error
    except (ValueError, RecursionError):
        return value


def one_text(value: Any) -> Any:
    """A single reference as a list, so that text starting with a bracket is not parsed as JSON."""
    value = plain(value)
    return ([value] if value else None) if isinstance(value, str) else value


def rename_parts(chunks: Any, names: Mapping[str, str]) -> Any:
    """Chunks with our names for their parts; other values are left for the checks."""
    chunks = unpack(chunks)
    if not isinstance(chunks, list | tuple):
        return chunks
    return [{names.get(k, k): v for k, v in chunk.items()} if isinstance(chunk, Mapping) else chunk for chunk in chunks]


def join_ids(row: Mapping[str, Any], texts: str, ids: Sequence[str]) -> dict[str, Any]:
    """A copy of a row whose chunks have the ids from a separate column, the first present one of `ids`."""
    row = dict(row)
    columns = [(name, value) for name in ids if (value := unpack(row.pop(name, None))) not in (None, "")]
    if columns:
        (column, names), *others = columns
        row.update(others)
        row[texts] = _pair(unpack(row.get(texts)), names if isinstance(names, list | tuple) else [names], column)
    return row


def _pair(chunks: Any, names: Sequence[Any], column: str) -> Any:
    if not chunks:
        # Retrieval can be judged by ids alone.
        chunks = [""] * len(names)
    if not isinstance(chunks, list | tuple):
        return chunks
    if len(chunks) != len(names):
        return Unfit(f"has {len(chunks)} chunks, {column} has {len(names)} ids", "each chunk needs one id")
    return [
        {**chunk, "id": name} if isinstance(chunk, Mapping) else {"text": chunk, "id": name}
        for chunk, name in zip(chunks, names, strict=True)
    ]
