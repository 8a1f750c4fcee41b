"""Rows of text files, and the kind of a file."""

import pytest

from ragstone.errors import InputError
from ragstone.formats import read_dataset
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


REPEATED = '{"question": "q?", "contexts": [{"text": "a",\n "text": "b"}]}'
TWICE = "has 'text' twice, with different values (keep one of them, or rename one)"


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("one.json", f'[\n{{"question": "p?"}},\n{REPEATED}\n]', f"object in line 3: {TWICE}"),
        ("rows.json", f'{{"data": [{{"question": "p?"}},\n\n{REPEATED}]}}', f"object in line 3: {TWICE}"),
        ("two.jsonl", '{"question": "p?"}\n' + REPEATED.replace("\n", ""), f"line 2: {TWICE}"),
        ("three.csv", 'question,contexts\np?,"[{""text"": ""a"", ""text"": ""b""}]"\n', f"line 2: contexts: {TWICE}"),
        (
            "four.csv",
            'user_input,retrieved_contexts\np?,"[{""text"": ""a"", ""text"": ""b""}]"\n',
            f"line 2: retrieved_contexts: {TWICE}",
        ),
        ("five.csv", 'question,metadata\np?,"{""text"": ""a"", ""text"": ""b""}"\n', f"line 2: metadata: {TWICE}"),
        ("six.csv", 'prompt,response,docs\np?,a b c d,"[{""text"": ""a"", ""text"": ""b""}]"\n', TWICE),
    ],
)
def test_a_key_with_two_values_is_a_problem(tmp_path, name, content, problem):
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(InputError) as caught:
        read_dataset(str(path), columns={"contexts": "docs"} if name == "six.csv" else None)
    assert problem in str(caught.value)


def test_a_key_twice_with_one_value_is_none(tmp_path):
    path = tmp_path / "same.jsonl"
    path.write_text('{"question": "q?", "answer": "a", "answer": "a"}')
    assert read_dataset(str(path))[0].answer == "a"
