"""How the command line ends: our own errors are a line of text and a code, not a traceback."""

import io
import sys

import pytest

from ragstone import errors
from ragstone.cli import app, main, screen
from ragstone.cli.options import parse_map
from ragstone.engine.progress import Progress


@pytest.fixture
def failing(cli, monkeypatch):
    """A command that raises what we want."""

    def run(error):
        def command(*_, **__):
            raise error

        monkeypatch.setattr("ragstone.cli.doctor.examine", command)
        return cli("doctor")

    return run


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.UsageError("what"), 2),
        (errors.UnknownNameError("metric", "recal", ["recall"]), 2),
        (errors.DefinitionError("what"), 2),
        (errors.InputError("file", [errors.Problem("what")]), 2),
        (errors.MissingExtraError("this", "fsspec"), 2),
        (errors.StorageError("what"), 1),
        (errors.TruthConflictError("harbour", 3, 2), 1),
        (errors.StopRunError("what"), 1),
        (errors.InterruptedRunError("stopped"), 130),
    ],
)
def test_every_error_of_ours_has_its_code_and_no_traceback(failing, error, code):
    printed = failing(error)
    assert printed == (code, "", f"error: {error}\n")


def test_every_error_of_ours_is_tested_above():
    tested = {mark.values[0].__class__ for mark in _parameters()}
    ours = {kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.RagstoneError)}
    assert ours - {errors.RagstoneError} == tested


def _parameters():
    [mark] = [
        mark for mark in test_every_error_of_ours_has_its_code_and_no_traceback.pytestmark if mark.name == "parametrize"
    ]
    return [pytest.param(*values) for values in mark.args[1]]


def test_a_bug_of_ours_is_owned_up_to(failing):
    printed = failing(ZeroDivisionError("oh"))
    assert printed.code == 1
    assert "internal error: ZeroDivisionError: oh" in printed.err
    assert "RAGSTONE_DEBUG=1" in printed.err
    assert "Traceback" not in printed.err


def test_a_bug_of_ours_shows_where_it_is_on_demand(failing, monkeypatch):
    monkeypatch.setenv("RAGSTONE_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        failing(ZeroDivisionError("oh"))


def test_ctrl_c_ends_with_130(failing):
    printed = failing(KeyboardInterrupt())
    assert printed.code == 130
    assert "Traceback" not in printed.err


def test_ctrl_c_before_any_command_ends_with_130(monkeypatch, capsys):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(app, "app", interrupted)
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 130


@pytest.mark.parametrize("pair", ["question", "=prompt", "question=", ""])
def test_a_map_that_is_none(pair):
    with pytest.raises(errors.UsageError, match="OURS=THEIRS"):
        parse_map([pair])


def test_a_map():
    assert parse_map(["question=prompt", "answer=a=b"]) == {"question": "prompt", "answer": "a=b"}


def test_progress_in_a_file_is_a_line_a_stage_and_not_one_a_batch(monkeypatch, capsys):
    clock = iter(range(1000))
    monkeypatch.setattr(screen.time, "monotonic", lambda: next(clock) / 100)
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
    monkeypatch.setattr(screen.time, "monotonic", lambda: next(clock))
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
