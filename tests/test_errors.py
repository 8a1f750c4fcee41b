"""The messages and exit codes of errors."""

import pytest

from ragstone import errors


def test_an_unknown_name_suggests_similar_names():
    error = errors.UnknownNameError("metric", "Recal", ["recall", "precision"], "See ragstone metrics.")
    assert str(error) == "unknown metric 'Recal'. Did you mean recall? See ragstone metrics."
    assert "Did you mean" not in str(errors.UnknownNameError("metric", "zzz", ["recall"]))


def test_many_problems_are_cut_and_counted():
    problems = [errors.Problem("is empty", f"row {n}", "id", "fill it in") for n in range(30)]
    lines = str(errors.InputError("data.csv", problems, total=35)).splitlines()
    assert lines[0] == "data.csv: 35 problems"
    assert lines[1].strip() == "row 0: id: is empty (fill it in)"
    assert "15" in lines[-1]
    assert len(lines) == errors.MOST_PROBLEMS_SHOWN + 2


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
