"""Problems and notes collected while reading."""

import pytest

from ragstone.errors import InputError
from ragstone.formats.reports import MOST_PROBLEMS_KEPT, Report


def test_all_problems_are_counted_and_the_first_are_kept():
    report = Report()
    for line in range(MOST_PROBLEMS_KEPT + 5):
        report.problem(f"line {line}", "is wrong")
    assert (report.total, len(report.problems)) == (MOST_PROBLEMS_KEPT + 5, MOST_PROBLEMS_KEPT)
    with pytest.raises(InputError, match="line 0"):
        report.raise_problems("data.jsonl")


def test_notes_are_kept_once_and_only_for_items():
    report = Report()
    report.note_all("queries", [], "kept")
    report.note_all("queries", ["q1", "q2"], "kept")
    report.note_all("queries", ["q1", "q2"], "kept")
    assert len(report.notes) == 1
    assert "2" in report.notes[0]
    assert "'q1'" in report.notes[0]


def test_problems_of_a_file_name_it():
    report = Report()
    part = report.within("a.tsv")
    part.problem("line 2", "is wrong")
    part.leave_out("broken rows", "line 3")
    assert report.problems[0].where == "a.tsv, line 2"
    assert report.left_out["broken rows"].first == "a.tsv, line 3"


def test_forgiven_problems_are_left_out_rows():
    report = Report()
    report.problem("line 2", "is wrong")
    report.leave_out("broken rows", "line 3")
    report.leave_out("broken rows", "line 4")
    report.forgive()
    report.raise_problems("data.jsonl")
    assert {reason: entry.times for reason, entry in report.left_out.items()} == {
        "broken rows": 2,
        "rows that cannot be read": 1,
    }
    assert len(report.notes) == 2
    report.clear()
    assert (report.notes, report.left_out, report.total) == ([], {}, 0)
