"""Rows out of lines of text: a JSON object a line, or CSV. No meaning of columns here."""

from __future__ import annotations

import csv
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ragstone.formats.reports import Report
from ragstone.formats.values import kind_of

LONGEST_LINE_BYTES = 100 << 20


class Row(NamedTuple):
    """A row as it stands in the file, and where."""

    where: str
    values: dict[str, Any]


def take_row(where: str, values: Any, report: Report) -> Iterator[Row]:
    """The row, or none and a problem if the value is no row."""
    if isinstance(values, Mapping):
        yield Row(where, dict(values))
    else:
        message = f"must be an object with named fields, got {kind_of(values)}"
        report.problem(where, message, hint='write {"question": "…", "answer": "…"}')


def read_json_lines(lines: Iterable[tuple[int, str]], report: Report) -> Iterator[Row]:
    """An object a line; empty lines are passed over."""
    for number, line in lines:
        if line.isspace():
            continue
        try:
            values = json.loads(line)
        except (ValueError, RecursionError) as error:
            report.problem(f"line {number}", not_json(error), hint="each line must be one JSON object")
        else:
            if type(values) is dict:
                yield Row(f"line {number}", values)
            else:
                yield from take_row(f"line {number}", values, report)


def not_json(error: Exception) -> str:
    """What is wrong with a JSON text."""
    if isinstance(error, RecursionError):
        return "is nested too deeply"
    if isinstance(error, json.JSONDecodeError):
        return f"is not JSON: {error.msg} at column {error.colno}"
    return f"is not JSON: {str(error).split(';')[0]}"  # a whole number of thousands of digits


def read_csv(lines: Iterable[tuple[int, str]], report: Report) -> Iterator[Row]:
    """A row a record; the first line names the columns and shows the delimiter."""
    csv.field_size_limit(LONGEST_LINE_BYTES)
    start = 0

    def texts() -> Iterator[str]:
        nonlocal start
        for number, line in lines:
            start = start or number  # a record may go over several lines; its place is the first of them
            yield line

    stream = texts()
    first = next(stream, "")
    reader = csv.reader(itertools.chain([first], stream), delimiter=max(",\t;", key=first.count), strict=True)
    header: list[str] = []
    try:
        for cells in reader:
            where, start = f"line {start}", 0
            if not header:
                header = cells
                if len(set(header)) < len(header):
                    report.problem(where, f"names a column twice: {', '.join(header)}", hint="rename one of the two")
                    return
            elif len(cells) == len(header):
                yield Row(where, dict(zip(header, cells, strict=True)))
            elif cells:
                message = f"has {len(cells)} cells, the header has {len(header)}"
                report.problem(where, message, hint="quote cells that hold the delimiter")
    except csv.Error as error:
        report.problem(f"line {start}", f"is not CSV: {error}", hint="check the quotes of the row that begins there")
