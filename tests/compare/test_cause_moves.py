"""Samples that a new version fixes and breaks."""

from ragstone.compare.cause_moves import find_moves
from ragstone.compare.comparison import compare_runs
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
