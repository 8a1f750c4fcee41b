"""Samples that a new version fixes and breaks."""

from ragstone.compare.cause_moves import find_moves
from ragstone.compare.comparison import compare_runs
from ragstone.engine.evaluate import evaluate
from tests.report.runs import harbour


def test_failing_pairs_are_named_by_side(tmp_path):
    worse, better = harbour("worse", tmp_path), harbour("better", tmp_path)
    moves = find_moves(compare_runs(worse, better), 25)
    back = find_moves(compare_runs(better, worse), 25)
    assert moves.fixed
    assert set(moves.fixed) <= {sample.id for sample in better.samples}
    assert (moves.fixed, moves.newly_failing, moves.still_failing) == (
        back.newly_failing,
        back.fixed,
        back.still_failing,
    )
    assert find_moves(compare_runs(worse, better), 24) is None


def test_a_sample_that_was_not_examined_is_neither_fixed_nor_broken(tmp_path, monkeypatch):
    """By the shipped judge, which reads English."""
    monkeypatch.delenv("RAGSTONE_LOCAL_JUDGE")
    row = {
        "question": "When does the last boat leave?",
        "contexts": ["The last boat leaves at nine in the evening."],
        "references": ["The last boat leaves at nine in the evening."],
    }
    wrong = "The last boat leaves at four in the afternoon."
    german = "Das letzte Boot fährt um neun Uhr am Abend vom Hafen ab, und die Karten sind an Bord zu haben."
    one, two = (
        evaluate([row | {"id": "a", "answer": first}, row | {"id": "b", "answer": wrong}], "ragchecker", tmp_path)
        for first in (wrong, german)
    )
    for before, after in ((one, two), (two, one)):
        moves = find_moves(compare_runs(before, after), 25)
        assert (moves.fixed, moves.newly_failing, moves.still_failing) == ([], [], ["b"])
