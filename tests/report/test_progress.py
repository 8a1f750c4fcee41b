"""Progress: bars where a person looks, lines elsewhere."""

import sys
from types import SimpleNamespace

import pytest

from ragstone.engine.progress import Progress, silent
from ragstone.report.progress import in_notebook, reporting, showing_bar


class Display:
    """What a notebook shows: one output that is replaced."""

    def __init__(self):
        self.shown = []

    def display(self, data, raw, display_id):
        assert raw
        assert display_id
        self.shown.append(data)
        return self

    def update(self, data, raw):
        assert raw
        self.shown.append(data)


@pytest.fixture
def display(monkeypatch):
    shell = SimpleNamespace(kernel=object())
    display = Display()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return display


def test_a_notebook_is_one_with_a_kernel(monkeypatch):
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert not in_notebook()
    terminal = SimpleNamespace(get_ipython=SimpleNamespace)
    monkeypatch.setitem(sys.modules, "IPython", terminal)
    assert not in_notebook()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert not in_notebook()


def test_a_bar_in_a_notebook(display):
    with reporting(None) as report:
        report(Progress("reading", 0))
        report(Progress("evaluating", 3, 25))
        report(Progress("evaluating", 4, 25))
        report(Progress("finishing", 25, 25))
    assert [data["text/plain"] for data in display.shown] == [
        "reading: 0 rows",
        "evaluating: 3 of 25 rows",
        "25 rows evaluated",
    ]
    assert '<progress value="3" max="25" aria-label="evaluating"></progress>' in display.shown[1]["text/html"]
    assert "progress" not in display.shown[-1]["text/html"]


def test_none_in_a_notebook_if_it_is_not_wanted(display):
    with reporting(False) as report:
        assert report is silent


def test_nothing_by_default_outside_a_notebook(monkeypatch):
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    with reporting(None) as report:
        assert report is silent


def test_a_function_of_the_user():
    with reporting(print) as report:
        assert report is print


def test_lines_without_a_terminal(capsys):
    with showing_bar() as report:
        report(Progress("reading", 10))
        report(Progress("evaluating", 5, 10))
        report(Progress("evaluating", 6, 10))
        report(Progress("evaluating", 10, 10))
    assert capsys.readouterr().err.splitlines() == [
        "reading: 10 rows",
        "evaluating: 5 of 10 rows",
        "evaluating: 10 of 10 rows",
    ]


def test_lines_count_calls_while_no_row_is_done(monkeypatch, capsys):
    monkeypatch.setattr("ragstone.report.progress._SECONDS_BETWEEN_LINES", 0.0)
    with showing_bar() as report:
        report(Progress("evaluating", 0, 3))
        report(Progress("evaluating", 0, 3, 12))
    assert capsys.readouterr().err.splitlines()[-1] == "evaluating: 0 of 3 rows, 12 judge calls"


def test_lines_with_the_time_left(monkeypatch, capsys):
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    clock = iter([0.0, 3.0, 20.0, 40.0, 80.0])
    monkeypatch.setattr("ragstone.report.progress.time.monotonic", lambda: next(clock))
    with showing_bar() as report:
        for done in (0, 1, 5, 10, 20):
            report(Progress("evaluating", done, 20))
    assert capsys.readouterr().err.splitlines() == [
        "evaluating: 0 of 20 rows",
        "evaluating: 5 of 20 rows, about 60 s left",
        "evaluating: 10 of 20 rows, about 40 s left",
        "evaluating: 20 of 20 rows",
    ]
