"""Samples that a new version fixes and breaks."""

from ragstone.compare.cause_moves import count_moves
from ragstone.compare.comparison import compare_runs
from tests.report.runs import harbour


def test_failing_pairs_are_counted_by_side(tmp_path):
    worse, better = harbour("worse", tmp_path), harbour("better", tmp_path)
    moves = count_moves(compare_runs(worse, better), 25)
    back = count_moves(compare_runs(better, worse), 25)
    assert moves.fixed > 0
    assert (moves.fixed, moves.newly_failing, moves.still_failing) == (
        back.newly_failing,
        back.fixed,
        back.still_failing,
    )
    assert count_moves(compare_runs(worse, better), 24) is None
