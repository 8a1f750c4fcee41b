"""Rows of JSONL, CSV and JSON documents, and detection of the kind of a file by its content."""

from __future__ import annotations

import csv
import importlib
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from ragstone.errors import UsageError
from ragstone.formats.conversations import CONVERSATION_NAMES, is_message
from ragstone.formats.reports import Report
from ragstone.formats.values import RepeatedKeyError, kind_of, load_json, one_value_per_key

LONGEST_LINE_BYTES = 100 << 20


class Row(NamedTuple):
    """A row of a file and its position."""

    where: str
    values: dict[str, Any]


def take_row(where: str, values: Any, report: Report) -> Iterator[Row]:
    """The row; a problem if the value is not a mapping."""
    if isinstance(values, Mapping):
        yield Row(where, dict(values))
    else:
        message = f"must be an object with named fields, got {kind_of(values)}"
        report.problem(where, message, hint='write {"question": "…", "answer": "…"}')


def read_json_lines(lines: Iterable[tuple[int, str]], report: Report) -> Iterator[Row]:
    """One object per line; empty lines are ignored."""
    for number, line in lines:
        if line.isspace():
            continue
        try:
            values = load_json(line)
        except RepeatedKeyError as error:
            report.problem(f"line {number}", error.message, hint=error.hint)
        except (ValueError, RecursionError) as error:
            report.problem(f"line {number}", not_json(error), hint="each line must be one JSON object")
        else:
            if type(values) is dict:
                yield Row(f"line {number}", values)
            else:
                yield from take_row(f"line {number}", values, report)


class _RepeatFinder(json.JSONDecoder):
    """A slow decoder that records where the object with a repeated key begins."""

    def __init__(self) -> None:
        super().__init__(object_pairs_hook=one_value_per_key)
        self.parse_object = self._parse_object
        self.scan_once = vars(importlib.import_module("json.scanner"))["py_make_scanner"](self)

    @staticmethod
    def _parse_object(place: tuple[str, int], *options: Any) -> Any:
        try:
            return vars(json.decoder)["JSONObject"](place, *options)
        except RepeatedKeyError as error:
            error.at = place[1] if error.at is None else error.at
            raise


def line_of_repeat(text: str) -> int:
    """The line in which the object with a repeated key begins."""
    try:
        _RepeatFinder().decode(text)
    except RepeatedKeyError as error:
        return text.count("\n", 0, error.at) + 1
    return 1


def json_problem(error: json.JSONDecodeError) -> str:
    """The message of a JSON error without its place; some end in "at"."""
    return error.msg.removesuffix(" starting at").removesuffix(" at")


def not_json(error: Exception) -> str:
    """The message for a JSON error."""
    if isinstance(error, RecursionError):
        return "is nested too deeply"
    if isinstance(error, json.JSONDecodeError):
        return f"is not JSON: {json_problem(error)} at column {error.colno}"
    return f"is not JSON: {str(error).split(';')[0]}"  # an integer with thousands of digits


def read_csv(lines: Iterable[tuple[int, str]], report: Report) -> Iterator[Row]:
    """One row per record; the first line names the columns and determines the delimiter."""
    csv.field_size_limit(LONGEST_LINE_BYTES)
    start = 0

    def texts() -> Iterator[str]:
        nonlocal start
        for number, line in lines:
            start = start or number  # the first line of a record that spans several
            yield line

    stream = texts()
    first = next(stream, "")
    # Excel writes the delimiter into a line of its own.
    if named := _DELIMITER_LINE.fullmatch(first):
        start = 0
        first = next(stream, "")
    delimiter = named[1] if named else max(",\t;", key=first.count)
    reader = csv.reader(itertools.chain([first], stream), delimiter=delimiter, strict=True)
    header: list[str] = []
    try:
        # Spreadsheets leave empty rows at the end.
        for cells in (cells for cells in reader if any(map(str.strip, cells)) or not header):
            where, start = f"line {start}", 0
            if not header:
                # Columns without a name, as spreadsheets leave them, are numbered.
                header = [name.strip() or f"{_UNNAMED}{number}" for number, name in enumerate(cells, start=1)]
                if len(set(header)) < len(header):
                    report.problem(where, f"names a column twice: {', '.join(header)}", hint="rename one of the two")
                    return
            elif len(cells) == len(header):
                yield Row(where, _by_name(header, cells))
            elif cells:
                message = f"has {len(cells)} cells, the header has {len(header)}"
                report.problem(where, message, hint="quote cells that contain the delimiter")
    except csv.Error as error:
        report.problem(f"line {start}", f"is not CSV: {error}", hint="check the quotes of the row that starts there")


def _by_name(header: list[str], cells: list[str]) -> dict[str, str]:
    """The cells of a row by column, without empty ones of columns that have no name."""
    plain = (cell[1:] if cell[:1] == "'" and _FORMULA.match(cell) else cell for cell in cells)
    pairs = zip(header, plain, strict=True)
    return {name: cell for name, cell in pairs if cell or not name.startswith(_UNNAMED)}


_UNNAMED = "column "
_DELIMITER_LINE = re.compile("sep=(.)\r?\n", re.IGNORECASE)
# Spreadsheets read such cells as formulas.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?[\d.]+(e[+-]?\d+)?", re.IGNORECASE)


def guarded(cell: str) -> str:
    """The cell for a CSV file, with an apostrophe in front of formulas; `read_csv` removes it."""
    return f"'{cell}" if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell) else cell


Kind = Literal["jsonl", "json", "csv", "parquet", "arrow", "text", "folder", "table"]
HEAD_BYTES = 1 << 20
BOM = b"\xef\xbb\xbf"
# Keys of the list of rows in a JSON document.
_ROW_KEYS = ("samples", "data", "examples", "rows", "test_cases", "goldens", "results", "records")
_OPENS_ROWS = re.compile(rf'\{{\s*"({"|".join(_ROW_KEYS)})"\s*:\s*\[\s*\{{'.encode())


def detect_kind(head: bytes, is_one_line: Callable[[], bool]) -> Kind | Literal["utf-16", "empty"]:
    """The kind of a file from its first megabyte; `is_one_line` is called if that contains no line break."""
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
    """Whether there is one object per line: the first line is complete and is not a document with rows."""
    first, newline, rest = start.partition(b"\n")
    if not newline and len(start) >= HEAD_BYTES - len(BOM):
        return not _OPENS_ROWS.match(start) and not is_one_line()
    try:
        value = json.loads(first)
    except (ValueError, RecursionError):
        # Lines of a document end with a bracket or comma; otherwise this is JSONL with a broken line.
        return not first.rstrip().endswith((b"{", b"[", b",", b":")) and b"\n{" in start
    # An empty list may be a field of a sample; if it is the only key, it is the list of rows.
    holds_rows = any(isinstance(rows[0], dict) if rows else len(value) == 1 for rows in rows_within(value))
    return bool(rest.strip()) or not holds_rows


def rows_within(document: Any) -> Iterator[list[Any]]:
    """The lists in a JSON document that may be its rows, best match first."""
    if isinstance(document, list):
        # Messages without the name of a conversation are one conversation.
        whole = document and all(is_message(item) and item.keys().isdisjoint(CONVERSATION_NAMES) for item in document)
        yield [{"messages": document}] if whole else document
    elif isinstance(document, dict):
        for key in _ROW_KEYS:
            rows = document.get(key)
            if isinstance(rows, list) and (not rows or isinstance(rows[0], dict)):
                yield rows
        columns = list(document.values())
        # A list of messages is one conversation, not a column of several.
        if any(isinstance(column, list) and any(map(is_message, column)) for column in columns):
            return
        if columns and all(isinstance(column, list) for column in columns) and len(set(map(len, columns))) == 1:
            yield [dict(zip(document, cells, strict=True)) for cells in zip(*columns, strict=True)]


_PLAIN = 'a,;\t\n"'


def check_encoding(name: str | None) -> None:
    """Raise if text in this encoding cannot be read line by line."""
    try:
        is_usable = name is None or _PLAIN.encode(name) == _PLAIN.encode()
    except LookupError:
        raise UsageError(f"unknown encoding '{name}'. Name one of Python's, for example cp1252 or latin-1.") from None
    if not is_usable:
        raise UsageError(f"text in the encoding '{name}' cannot be read line by line; save the file as UTF-8")
