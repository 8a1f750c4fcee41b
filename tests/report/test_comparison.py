"""A comparison in the terminal and as JSON."""

import pytest

import ragstone
from ragstone.analysis.comparison import compare_runs
from ragstone.analysis.differences import Difference
from ragstone.report.comparison import ComparisonReport
from ragstone.report.html.comparison_page import comparison_html
from ragstone.report.markdown import comparison_markdown
from ragstone.views.comparison import ComparisonView, deciding_line, failed_lines, headline, method_line
from tests.analysis.scored import declare, make_run
from tests.report.drawing import draw


@pytest.fixture(scope="module")
def comparison(worse, better):
    return compare_runs(worse, better, slices=["topic"])


@pytest.fixture(scope="module")
def view(comparison):
    return ComparisonView.diagnosed(comparison)


@pytest.mark.parametrize("width", [60, 80, 200])
def test_the_report_fits_and_shows_verdicts(view, width):
    text = draw(ComparisonReport(view), width)
    assert max(map(len, text.splitlines())) <= width
    assert "▲ better" in text
    assert ("●" in text, "MDE:" in " ".join(text.split())) == (width == 200, width == 200)


def test_numbers_are_those_of_the_comparison(comparison, view):
    text = draw(ComparisonReport(view), 200)
    for item in comparison.metrics:
        assert f"{item.before:.3f}" in text
        assert f"{item.after:.3f}" in text
    found = view.as_dict()
    assert headline(comparison) in (found["headline"], found["summary"])
    assert text.startswith(found["headline"])


def test_losses_come_before_gains_everywhere(view):
    assert [sample.gain for sample in view.losses] == sorted(sample.gain for sample in view.losses)
    assert [-sample.gain for sample in view.gains] == sorted(-sample.gain for sample in view.gains)
    changed = view.changed(2)
    assert [sample.id for sample in changed] == [sample.id for sample in (*view.losses[:2], *view.gains[:2])]
    text = draw(ComparisonReport(view, 2), 200)
    assert 0 < text.index("lost most") < text.index("gained most")


def test_the_method_names_mde_only_if_shown(comparison):
    assert "80 % power" in method_line(comparison)
    assert "MDE" not in method_line(comparison, detectable=False)


def test_the_method_names_p_only_if_shown(comparison, view):
    assert " p: " in method_line(comparison)
    assert " p: " not in method_line(comparison, tested=False)
    assert "a wider terminal or --json shows p" in " ".join(draw(ComparisonReport(view), 70).split())


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
    assert headline(compare_runs(*runs)).endswith(
        " have the same scores wherever both have one; in 1 of 3 pairs only one of them has a score."
    )


def test_fixed_and_newly_failing_rows_come_first(comparison, view):
    moves = view.moves
    assert len(moves.fixed) > len(moves.newly_failing)
    text = " ".join(draw(ComparisonReport(view), 200).split())
    assert f"{len(moves.fixed)} fixed, {len(moves.newly_failing)} newly failing, " in text
    assert view.moved[0].answers[0][:40] in text
    found = view.as_dict()
    assert found["failing"]["fixed"] == moves.fixed
    assert found["failing"]["p"] == moves.p
    assert {row["kind"] for row in found["moved"]} == {row.kind for row in moves.rows}
    unknown = ComparisonView.of(comparison).as_dict()
    assert (unknown["failing"], unknown["causes"], unknown["moved"]) == (None, None, [])
    written = comparison_markdown(view)
    assert f"{len(moves.fixed)} fixed, " in written
    assert "| fixed |" in written


def test_rows_that_one_run_skips_are_told():
    """A run that refuses more is compared on the samples that both runs answer, and one line says so."""
    item = Difference("quality", "higher", (0.0, 1.0), 15, 5, 0, skipped_before=1, skipped_after=4)
    [line] = failed_lines([item])
    assert "15 of 20 pairs" in line
    assert "1 only by A" in line
    assert "4 only by B" in line


@pytest.mark.parametrize("value", [1.0, 0.25, 0.00014])
def test_equal_runs_are_identical_in_every_output(tmp_path, catalogue, value):
    """A metric of 0 and 1, one of shares and a tiny one: the same interval, digits and word."""
    declare(catalogue)
    runs = [make_run(tmp_path, name, ["quality"], quality=[value] * 25) for name in "ab"]
    found = compare_runs(*runs)
    [item] = found.metrics
    assert (item.low, item.high) == (0.0, 0.0)
    drawn = draw(ComparisonReport(ComparisonView.of(found)), 160)
    assert drawn.count("identical") == 1
    for text in (drawn, comparison_markdown(ComparisonView.of(found)), comparison_html(found)):
        assert "identical" in text or "have the same scores" in text
        assert "0.103" not in text
        assert value >= 0.01 or "0.000140" in text
