"""The HTML report of a comparison."""

import re

import pytest

from ragstone.analysis.comparison import compare_runs
from ragstone.views.comparison import ComparisonView
from tests.report.pages import Page


@pytest.mark.slow
def test_a_comparison_says_what_the_comparison_says(pages, worse, better):
    found = compare_runs(worse, better, slices=["topic"])
    view = ComparisonView.diagnosed(found)
    text = re.sub(r"\s+", " ", Page(pages["comparison"]).text("main"))
    assert view.headline in text
    for item in found.metrics:
        assert f"{item.difference:+.3f}".replace("-", "−") in text
    assert text.count("▲ better") >= len(found.having("better")) > 0
    changed = [sample for sample in found.changed if sample.gain > 0][:5]
    assert [sample.id for sample in changed if sample.question not in text] == []
    assert f"{len(view.moves.fixed)} fixed" in text
    assert [name for name in view.moves.newly_failing if name not in text] == []


def test_equal_runs_make_a_calm_page(pages):
    text = Page(pages["hostile comparison"]).text("main")
    assert "have the same scores in all 3 pairs" in text
    assert "▲" not in text
    assert "▼" not in text
