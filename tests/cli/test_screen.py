"""Progress and tables."""

import io
import sys

from ragstone.cli import screen
from ragstone.engine.progress import Progress


def test_progress_in_a_file_is_a_line_a_stage_and_not_one_a_batch(monkeypatch, capsys):
    clock = iter(range(1000))
    monkeypatch.setattr("ragstone.report.progress.time.monotonic", lambda: next(clock) / 100)
    with screen.showing_progress(quiet=False) as report:
        for done in range(0, 100_001, 10_000):
            report(Progress("reading", done))
        for done in range(0, 100_001, 10_000):
            report(Progress("evaluating", done, 100_000))
        report(Progress("finishing", 100_000, 100_000))
    assert capsys.readouterr().err.splitlines() == [
        "reading: 0 rows",
        "evaluating: 0 of 100,000 rows",
        "evaluating: 100,000 of 100,000 rows",
        "finishing: 100,000 of 100,000 rows",
    ]


def test_progress_in_a_file_says_something_every_few_seconds(monkeypatch, capsys):
    clock = iter(range(0, 1000, 2))
    monkeypatch.setattr("ragstone.report.progress.time.monotonic", lambda: next(clock))
    with screen.showing_progress(quiet=False) as report:
        for done in range(10):
            report(Progress("evaluating", done, 100))
    assert 2 <= len(capsys.readouterr().err.splitlines()) <= 5


def test_quiet_progress_is_silent(capsys):
    with screen.showing_progress(quiet=True) as report:
        report(Progress("reading", 1))
    assert capsys.readouterr() == ("", "")


def test_a_table_in_a_file_is_wide_enough(monkeypatch):
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    monkeypatch.setenv("COLUMNS", "40")
    assert screen.console().width >= 110
