"""A comparison in the terminal and as JSON."""

import pytest

import ragstone
from ragstone.compare.cause_moves import Moves, find_moves
from ragstone.compare.comparison import compare_runs
from ragstone.compare.differences import Difference
from ragstone.report.comparison import (
    changed_most,
    comparison_dict,
    comparison_report,
    deciding_line,
    failed_lines,
    headline,
    method_line,
    moves_line,
)
from ragstone.report.markdown import comparison_markdown
from tests.report.drawing import draw


@pytest.fixture(scope="module")
def comparison(worse, better):
    return compare_runs(worse, better, slices=["topic"])


@pytest.mark.parametrize("width", [60, 80, 200])
def test_the_report_fits_and_shows_verdicts(comparison, width):
    text = draw(comparison_report(comparison), width)
    assert max(map(len, text.splitlines())) <= width
    assert "▲ better" in text
    assert ("●" in text, "MDE:" in " ".join(text.split())) == (width == 200, width == 200)


def test_numbers_are_those_of_the_comparison(comparison):
    text = draw(comparison_report(comparison), 200)
    for item in comparison.metrics:
        assert f"{item.before:.3f}" in text
        assert f"{item.after:.3f}" in text
    assert headline(comparison) == comparison_dict(comparison)["headline"]


def test_gains_and_losses_are_separate(comparison):
    gained, lost = changed_most(comparison.changed, 2)
    assert 0 < len(gained) <= 2
    assert all(sample.gain > 0 for sample in gained)
    assert all(sample.gain < 0 for sample in lost)


def test_the_method_names_mde_only_if_shown(comparison):
    assert "80 % power" in method_line(comparison)
    assert "MDE" not in method_line(comparison, detectable=False)


def test_the_method_names_p_only_if_shown(comparison):
    assert " p: " in method_line(comparison)
    assert " p: " not in method_line(comparison, tested=False)
    assert "a wider terminal or --json shows p" in " ".join(draw(comparison_report(comparison), 70).split())


def test_pairs_that_would_decide():
    near = Difference("near", "higher", (0.0, 1.0), 14, 0, 0, verdict="no evidence", effect=0.5, units=14)
    far = Difference("far", "higher", (0.0, 1.0), 14, 0, 0, verdict="no evidence", effect=0.0001, units=14)
    sure = Difference("sure", "higher", (0.0, 1.0), 14, 0, 0, verdict="better", effect=1.0, units=14)
    line = deciding_line([far, sure, near])
    assert line == "If the differences stay, about this many pairs would decide one metric tested alone: 18 for near."
    assert deciding_line([far, sure]) == ""


def test_equal_scores_are_told_with_the_pairs_that_lack_one(tmp_path):
    rows = [{"question": f"When {n}?", "answer": "At nine.", "references": ["At nine."]} for n in range(3)]
    short = [{**rows[0], "references": []}, *rows[1:]]
    runs = [ragstone.evaluate(data, ["token_f1"], tmp_path) for data in (rows, short)]
    assert headline(compare_runs(*runs)) == (
        "B and A have the same scores wherever both have one; in 1 of 3 pairs only one of them has a score."
    )


def test_fixed_and_newly_failing_samples_are_counted(worse, better):
    comparison = compare_runs(worse, better)
    moves = find_moves(comparison, 1_000)
    assert len(moves.fixed) > len(moves.newly_failing)
    text = " ".join(draw(comparison_report(comparison, moves=moves), 200).split())
    counts = [len(ids) for ids in moves]
    assert f"seem to fail: {counts[0]} fixed by B ({moves.fixed[0]}, " in text
    assert f"{counts[1]} newly failing" in text
    assert f"{counts[2]} still failing" in text
    assert find_moves(comparison, 10) is None
    assert comparison_dict(comparison, moves)["failing"] == {
        "fixed": moves.fixed,
        "newly_failing": moves.newly_failing,
        "still_failing": moves.still_failing,
    }
    assert comparison_dict(comparison)["failing"] is None
    assert moves_line(moves) in text
    assert f"{counts[0]} fixed by B ({moves.fixed[0]}, " in comparison_markdown(comparison, moves=moves)


def test_ten_failing_samples_are_named():
    names = [f"q{number}" for number in range(12)]
    assert moves_line(Moves([], names[:10], [])) == (
        f"Samples that seem to fail: 0 fixed by B, 10 newly failing ({', '.join(names[:10])}), 0 still failing."
    )
    assert "12 still failing (q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, 2 more)." in moves_line(Moves([], [], names))
    assert moves_line(Moves([], [], [])) == moves_line(None) == ""


def test_rows_that_one_run_skips_are_told():
    """A run that refuses more is compared on the samples that both runs answer, and one line says so."""
    item = Difference("quality", "higher", (0.0, 1.0), 15, 5, 0, skipped_before=1, skipped_after=4)
    [line] = failed_lines([item])
    assert "15 of 20 pairs" in line
    assert "1 only by A" in line
    assert "4 only by B" in line
