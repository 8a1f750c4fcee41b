"""The messages and exit codes of errors."""

import ast
import sys
import tomllib
from pathlib import Path

import pytest

from ragstone import errors
from ragstone.engine.evaluate import evaluate
from ragstone.notify import notify
from ragstone.storage import places


def test_an_unknown_name_suggests_similar_names():
    error = errors.UnknownNameError("metric", "Recal", ["recall", "precision"], "See ragstone metrics.")
    assert str(error) == "unknown metric 'Recal'. Did you mean recall? See ragstone metrics."
    assert "Did you mean" not in str(errors.UnknownNameError("metric", "zzz", ["recall"]))


def test_many_problems_are_cut_and_counted():
    problems = [errors.Problem(f"is {n}", f"row {n}", "id", "fill it in") for n in range(30)]
    lines = str(errors.InputError("data.csv", problems, total=35)).splitlines()
    assert lines[0] == "data.csv: 35 problems"
    assert lines[1].strip() == "row 0: id: is 0 (fill it in)"
    assert "15" in lines[-1]
    assert len(lines) == errors.MOST_PROBLEMS_SHOWN + 2


def test_equal_problems_of_several_lines_are_one():
    same = [errors.Problem("is empty", f"line {n}", "id", "fill it in") for n in range(1, 9)]
    other = errors.Problem("is empty", "line 3", "answer")
    lines = str(errors.InputError("data.csv", [*same[:3], other, *same[3:]], total=12)).splitlines()
    assert lines == [
        "data.csv: 12 problems",
        "  line 1, line 2, line 3 and 5 more: id: is empty (fill it in)",
        "  line 3: answer: is empty",
        "  … and 3 more",
    ]
    text = [errors.Problem(f"is not UTF-8: byte 0x{n:02x} at position {n}", f"line {n}") for n in range(30)]
    assert "  line 0, line 1, line 2 and 27 more: is not UTF-8: byte 0x00" in str(errors.InputError("a", text))
    assert str(errors.InputError("a", [errors.Problem("x"), errors.Problem("x")])) == "a: 2 problems\n  x\n  x"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.UsageError("x"), 2),
        (errors.DefinitionError("x"), 2),
        (errors.MissingExtraError("x", "otel"), 2),
        (errors.StorageError("x"), 1),
        (errors.StopRunError("x"), 1),
        (errors.TruthConflictError("t", 3, 1), 1),
        (errors.InterruptedRunError("x"), 130),
    ],
)
def test_exit_codes(error, code):
    assert error.exit_code == code
    assert isinstance(error, errors.RagstoneError)


def test_a_conflict_names_both_versions():
    error = errors.TruthConflictError("ferry", 3, 1)
    assert error.newest == 3
    assert "version 3" in str(error)
    assert "version 1" in str(error)


def test_a_missing_extra_names_the_command():
    assert "pip install 'ragstone[otel]'" in str(errors.MissingExtraError("sending", "otel"))


def extras_named_in_the_source():
    """Each call of MissingExtraError: its file, line and extra."""
    for path in sorted(Path(errors.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "MissingExtraError":
                yield f"{path.name}:{node.lineno}", node.args[1]


@pytest.mark.slow
def test_every_missing_extra_names_an_install_line_that_works():
    declared = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
    calls = list(extras_named_in_the_source())
    assert len(calls) >= 12
    for where, extra in calls:
        assert isinstance(extra, ast.Constant), where
        assert extra.value in declared["optional-dependencies"], where
        line = f"pip install '{declared['name']}[{extra.value}]'"
        assert line in str(errors.MissingExtraError("x", extra.value))


@pytest.mark.parametrize(
    ("package", "extra", "use"),
    [
        ("fsspec", "fsspec", lambda: places.open_place("memory://a").exists()),
        ("opentelemetry.sdk._logs", "otel", lambda: notify.check_listeners(notify.Listeners(None, True, False))),
        ("mlflow", "mlflow", lambda: notify.check_listeners(notify.Listeners(None, False, True))),
        ("ray", "ray", lambda: evaluate([{"answer": "a", "references": ["a"]}], ["token_f1"], backend="ray")),
    ],
)
def test_without_the_package_the_line_is_shown(monkeypatch, tmp_path, package, extra, use):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(errors.MissingExtraError) as caught:
        use()
    assert f"pip install 'ragstone[{extra}]'" in str(caught.value)
