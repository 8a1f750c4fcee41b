"""The HTML report of a comparison."""

import re

import pytest

from ragstone.compare.cause_moves import find_moves
from ragstone.compare.comparison import compare_runs
from ragstone.report import comparison as comparing
from tests.report.pages import Page


@pytest.mark.slow
def test_a_comparison_says_what_the_comparison_says(pages, worse, better):
    found = compare_runs(worse, better, slices=["topic"])
    text = re.sub(r"\s+", " ", Page(pages["comparison"]).text("main"))
    assert comparing.headline(found) in text
    for item in found.metrics:
        assert f"{item.difference:+.3f}".replace("-", "−") in text
    assert text.count("▲ better") >= len(found.having("better")) > 0
    changed = [sample for sample in found.changed if sample.gain > 0][:5]
    assert [sample.id for sample in changed if sample.question not in text] == []
    fixed = find_moves(found, 25).fixed
    assert f"fixed by B{len(fixed)}: {', '.join(fixed)}" in text


def test_equal_runs_make_a_calm_page(pages):
    text = Page(pages["hostile comparison"]).text("main")
    assert "have the same scores in all 3 pairs" in text
    assert "▲" not in text
    assert "▼" not in text
