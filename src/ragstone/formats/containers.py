"""What kind of file it is, told by how it begins and not by its name; and where a JSON document keeps its rows."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, Literal

Kind = Literal["jsonl", "json", "csv", "parquet", "arrow", "text", "folder", "table"]
HEAD_BYTES = 1 << 20
BOM = b"\xef\xbb\xbf"
# Keys under which a JSON document may keep its list of rows.
_ROW_KEYS = ("samples", "data", "examples", "rows", "test_cases", "goldens", "results")
_OPENS_ROWS = re.compile(rf'\{{\s*"({"|".join(_ROW_KEYS)})"\s*:\s*\[\s*\{{'.encode())


def tell_kind(head: bytes, is_one_line: Callable[[], bool]) -> Kind | Literal["utf-16", "empty"]:
    """The kind of a file from its first megabyte; is_one_line is asked when there is no end of a line in that."""
    if head[:4] == b"PAR1":
        return "parquet"
    if head[:6] == b"ARROW1":
        return "arrow"
    if b"\0" in head[:2] or head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    start = head.removeprefix(BOM).lstrip()
    if not start:
        return "empty"
    if start[:1] == b"[":
        return "json"
    if start[:1] == b"{":
        return "jsonl" if _is_json_lines(start, is_one_line) else "json"
    first = start.partition(b"\n")[0]
    return "csv" if any(delimiter in first for delimiter in (b",", b"\t", b";")) else "text"


def _is_json_lines(start: bytes, is_one_line: Callable[[], bool]) -> bool:
    """Objects line by line, unless the first line is not a whole one or is a document with rows inside."""
    first, newline, rest = start.partition(b"\n")
    if not newline and len(start) >= HEAD_BYTES - len(BOM):
        return not _OPENS_ROWS.match(start) and not is_one_line()
    try:
        value = json.loads(first)
    except (ValueError, RecursionError):
        # A document breaks its lines after a bracket or comma; anything else is a broken line among lines.
        return not first.rstrip().endswith((b"{", b"[", b",", b":")) and b"\n{" in start
    # An empty list may be a field of a sample as well; alone in its document it is the rows.
    holds_rows = any(isinstance(rows[0], dict) if rows else len(value) == 1 for rows in rows_within(value))
    return bool(rest.strip()) or not holds_rows


def rows_within(document: Any) -> Iterator[list[Any]]:
    """The places of a JSON document where its rows may be, first match first."""
    if isinstance(document, list):
        yield document
    elif isinstance(document, dict):
        for key in _ROW_KEYS:
            rows = document.get(key)
            if isinstance(rows, list) and (not rows or isinstance(rows[0], dict)):
                yield rows
        columns = list(document.values())
        if columns and all(isinstance(column, list) for column in columns) and len(set(map(len, columns))) == 1:
            yield [dict(zip(document, cells, strict=True)) for cells in zip(*columns, strict=True)]
