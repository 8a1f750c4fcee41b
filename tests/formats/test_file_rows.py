"""Rows of text files, and the kind of a file."""

import pytest

from ragstone.formats.file_rows import detect_kind, read_csv, read_json_lines, rows_within
from ragstone.formats.reports import Report


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"PAR1...", "parquet"),
        (b"ARROW1..", "arrow"),
        (b"\xff\xfea\0", "utf-16"),
        (b" \n", "empty"),
        (b"[1]", "json"),
        (b'{"a": 1}\n{"a": 2}\n', "jsonl"),
        (b'{"a": 1}', "jsonl"),
        (b'{"samples": [{"a": 1}]}', "json"),
        (b'{\n "a": 1\n}', "json"),
        (b"a;b\n1;2", "csv"),
        (b"plain words", "text"),
    ],
)
def test_kinds(head, kind):
    assert detect_kind(head, lambda: True) == kind


def test_json_lines_report_broken_lines_and_continue():
    report = Report()
    rows = list(read_json_lines([(1, '{"a": 1}'), (2, "\n"), (3, "{"), (4, "[]"), (5, '{"a": 2}')], report))
    assert [(row.where, row.values) for row in rows] == [("line 1", {"a": 1}), ("line 5", {"a": 2})]
    assert [problem.where for problem in report.problems] == ["line 3", "line 4"]


def test_csv_with_quoted_line_breaks():
    report = Report()
    lines = [(1, "a;b\n"), (2, '"x\n'), (3, 'y";1\n'), (4, "too;many;cells\n"), (5, "z;2\n")]
    assert [(row.where, row.values) for row in read_csv(lines, report)] == [
        ("line 2", {"a": "x\ny", "b": "1"}),
        ("line 5", {"a": "z", "b": "2"}),
    ]
    assert [problem.where for problem in report.problems] == ["line 4"]


def test_rows_within_documents():
    assert next(rows_within([{"a": 1}])) == [{"a": 1}]
    assert next(rows_within({"about": "x", "data": [{"a": 1}]})) == [{"a": 1}]
    assert next(rows_within({"a": [1, 2], "b": [3, 4]})) == [{"a": 1, "b": 3}, {"a": 2, "b": 4}]
    assert next(rows_within({"a": 1}), None) is None


def test_quirks_of_spreadsheets():
    """The line that names the delimiter, spaces around names, columns without a name and empty rows."""
    lines = ["sep=;\n", " question ;answer;;\n", "a;b;;\n", "c;;x;\n", ";;;\n", "\n"]
    report = Report()
    rows = list(read_csv(enumerate(lines, start=1), report))
    assert [row.values for row in rows] == [
        {"question": "a", "answer": "b"},
        {"question": "c", "answer": "", "column 3": "x"},
    ]
    assert [row.where for row in rows] == ["line 3", "line 4"]
    assert report.total == 0
