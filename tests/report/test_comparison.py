"""A comparison in the terminal and as JSON."""

import pytest

from ragstone.compare.comparison import compare_runs
from ragstone.compare.differences import Difference
from ragstone.report.comparison import (
    changed_most,
    comparison_dict,
    comparison_report,
    failed_lines,
    headline,
    method_line,
)
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


def test_rows_that_one_run_skips_are_told():
    """A run that refuses more is compared on the samples that both runs answer, and one line says so."""
    item = Difference("quality", "higher", (0.0, 1.0), 15, 5, 0, skipped_before=1, skipped_after=4)
    [line] = failed_lines([item])
    assert "15 of 20 pairs" in line
    assert "1 only by A" in line
    assert "4 only by B" in line
