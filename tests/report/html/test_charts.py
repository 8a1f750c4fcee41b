"""Plots by hand: where marks stand, what bars count, which ticks an axis has."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.report.html import charts as plots
from ragstone.report.html.charts import Scale, element, round_step, short


def numbers(name, drawing, tag):
    return [float(value) for value in re.findall(rf"<{tag} [^>]*?{name}=\"([-\d.]+)\"", drawing)]


def test_a_strip_by_hand():
    # From 8 to 232: 224 units are the line from 0 to 1.
    drawing = plots.interval_strip(plots.strip_scale(0, 1), 0.5, 0.25, 0.75)
    assert numbers("cx", drawing, "circle") == [120]
    interval = re.search(r'<line x1="([\d.]+)" y1="10" x2="([\d.]+)" y2="10" class="interval">', drawing)
    assert (float(interval[1]), float(interval[2])) == (64, 176)
    assert 'aria-label="0.500, 95 % interval 0.250 to 0.750"' in drawing


def test_what_lies_outside_is_put_at_the_end():
    scale = Scale(0, 1, 0, 100)
    assert [scale(value) for value in (-1, 0, 0.25, 1, 7)] == [0, 0, 25, 100, 100]


def test_a_strip_without_a_value_has_no_mark():
    drawing = plots.interval_strip(plots.strip_scale(0, 1), None, None, None)
    assert "circle" not in drawing
    assert 'aria-label="no value"' in drawing


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [(0, 1, [0, 0.25, 0.5, 0.75, 1]), (-0.2, 0.2, [-0.2, -0.1, 0, 0.1, 0.2]), (0, 100, [0, 25, 50, 75, 100])],
)
def test_ticks_are_round(low, high, ticks):
    assert Scale(low, high, 0, 1).ticks() == pytest.approx(ticks)


@given(st.floats(1e-9, 1e9))
def test_steps_are_round_and_large_enough(least):
    step = round_step(least)
    assert least * (1 - 1e-6) <= step <= least * 2.6
    assert f"{step:.0e}"[0] in "125" or f"{step:.1e}".startswith("2.5")


@given(st.lists(st.floats(-0.5, 1.5), max_size=60))
def test_every_value_is_counted_once(values):
    counts = plots.count_values(np.array([*values, np.nan]), 0.0, 1.0)
    assert counts.sum() == len(values)
    assert counts[0] >= sum(value < 0 for value in values)


def test_a_spread_counts_all_values_on_the_axis_of_its_interval():
    spread = {"low": 0.0, "high": 1.0, "counts": [2, 0, 0, 5]}
    drawn = str(plots.spread_strip(spread, 0.75, (0.5, 1.0)))
    assert drawn.count("<rect") == 2
    assert "<a " not in drawn
    assert 'cx="176"' in drawn, "three quarters of the way from 8 to 232, as the bars"
    assert "mean 0.750, 95 % interval 0.500 to 1.000; distribution: 2 from 0 to 0.25" in drawn
    assert "no values" in str(plots.spread_strip({"low": 0.0, "high": 1.0, "counts": []}, None, None))


def test_bars_link_to_their_ranges():
    spread = {"low": 0.0, "high": 2.0, "counts": [2, 0, 1, 5]}
    drawn = str(plots.spread_strip(spread, None, None, "`a b`", "?where=x+and+"))
    assert re.findall('href="([^"]*)"', drawn) == [
        "?where=x+and+%60a+b%60+%3C+0.5#samples",
        "?where=x+and+%60a+b%60+%3E%3D+1.0+and+%60a+b%60+%3C+1.5#samples",
        "?where=x+and+%60a+b%60+%3E%3D+1.5#samples",
    ]
    assert 'role="group"' in drawn


def test_limits_of_bins_are_numbers_that_people_write():
    assert [repr(float(edge)) for edge in plots.bin_edges(0.0, 1.0)][3:8] == ["0.15", "0.2", "0.25", "0.3", "0.35"]
    assert plots.count_values(np.array([0.15, 0.1499, 0.3, 1.0]), 0.0, 1.0).nonzero()[0].tolist() == [2, 3, 6, 19]
    for low, high in ((1e6, 1e6 + 1e-3), (-3e-9, 2e-9), (0.1, 1e12)):
        edges = plots.bin_edges(low, high)
        assert (np.diff(edges) > 0).all()
        assert (edges[0], edges[-1]) == (low, high)


def test_bars_by_hand():
    # Two values in the first part, one in the last: heights 2 to 1.
    drawing = plots.histogram(np.array([0.0, 0.01, 1.0]), 0, 1, 0.34)
    heights = numbers("height", drawing, "rect")
    assert len(heights) == 2
    assert heights[0] == pytest.approx(2 * heights[1])
    assert ">2</text>" in drawing


def test_gains_and_losses_are_set_apart():
    drawing = plots.histogram(np.array([-0.5, 0.5, 0.65]), -1, 1, 0.2, zero=True)
    assert drawing.count('class="bar bad"') == 1
    assert drawing.count('class="bar good"') == 2


def test_parts_of_a_whole_by_hand():
    drawing = plots.stacked([("said", 3, "good"), ("ignored", 0, "silent"), ("missing", 1, "bad")])
    assert numbers("width", drawing, "rect") == [538, 178]  # 540 and 180, less the gap
    assert 'aria-label="said 3, ignored 0, missing 1"' in drawing


def test_text_in_a_drawing_is_escaped():
    drawing = element("text", "<b>\u202e", class_='"x"')
    assert drawing == '<text class="&#34;x&#34;">&lt;b&gt;\\u202e</text>'


def test_axis_numbers_are_short():
    assert [short(value) for value in (0.1 + 0.2, -0.25, 1e-17, 1500, 6e-05, 1.25, 100, 250000)] == [
        *("0.3", "−0.25", "0", "1,500", "0.00006", "1.25", "100", "250,000"),
    ]
