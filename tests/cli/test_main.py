"""How the command line ends: errors are one line and an exit code, not a traceback."""

import json

import pytest

from ragstone import errors
from ragstone.cli import app, main


@pytest.fixture
def failing(cli, monkeypatch):
    """A command that raises what we want."""

    def run(error):
        def command(*_, **__):
            raise error

        monkeypatch.setattr("ragstone.cli.doctor.examine", command)
        return cli("doctor")

    return run


def _parameters():
    [mark] = [
        mark for mark in test_every_error_of_ours_has_its_code_and_no_traceback.pytestmark if mark.name == "parametrize"
    ]
    return [pytest.param(*values) for values in mark.args[1]]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.UsageError("what"), 2),
        (errors.UnknownNameError("metric", "recal", ["recall"]), 2),
        (errors.DefinitionError("what"), 2),
        (errors.InputError("file", [errors.Problem("what")]), 2),
        (errors.MissingExtraError("this", "fsspec"), 2),
        (errors.UnknownColumnsError("what"), 2),
        (errors.StorageError("what"), 1),
        (errors.DamagedError("runs/1/scores.parquet", "it is cut off"), 1),
        (errors.ServiceError("what"), 1),
        (errors.TruthConflictError("harbour", 3, 2), 1),
        (errors.StopRunError("what"), 1),
        (errors.InterruptedRunError("stopped"), 130),
    ],
)
def test_every_error_of_ours_has_its_code_and_no_traceback(failing, error, code):
    printed = failing(error)
    assert printed == (code, "", f"error: {error}\n")


def test_control_characters_in_an_error_are_shown_as_codes(failing):
    assert failing(errors.UsageError("there is no file 'a\x1b[31mb'"))[2] == "error: there is no file 'a\\x1b[31mb'\n"


def test_every_error_of_ours_is_tested_above():
    tested = {mark.values[0].__class__ for mark in _parameters()}
    ours = {kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.RagstoneError)}
    assert ours - {errors.RagstoneError} == tested


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


@pytest.mark.parametrize("name", ["K", "K "])
@pytest.mark.parametrize("options", [[], ["--map", "question=zz"]])
def test_a_very_long_column_name_is_cut(cli, tmp_path, name, options):
    (tmp_path / "long.jsonl").write_text(json.dumps({name * 2_500_000: "x"}) + "\n")
    done = cli("run", str(tmp_path / "long.jsonl"), *options)
    assert done.code == 2
    assert "KKK" in done.err or "K K" in done.err
    assert len(done.err) < 5_000
