"""The chart of a series."""

import re

import pytest

from ragstone.report.html.series_chart import series_chart


def metric(estimates, alarms=(), breaks=(), bounds=(0.0, 1.0), **last):
    points = [
        {
            "period": f"2026-11-{at + 1:02d}",
            "estimate": value,
            "low": None if value is None else value - 0.05,
            "high": None if value is None else value + 0.05,
            "complete": True,
        }
        for at, value in enumerate(estimates)
    ]
    points[-1] |= last
    return {
        "metric": "faithfulness",
        "bounds": bounds,
        "points": points,
        "alarms": list(alarms),
        "breaks": list(breaks),
    }


def test_line_band_and_dots():
    drawn = series_chart(metric([0.8, 0.85, 0.9]))
    assert drawn.count("<circle") == 3
    assert drawn.count("<polyline") == drawn.count("<polygon") == 1
    assert 'aria-label="faithfulness over 3 periods: 0.8 in 2026-11-01, 0.9 in 2026-11-03"' in drawn


def test_a_period_without_a_value_is_a_gap():
    drawn = series_chart(metric([0.8, 0.85, None, 0.9, 0.8]))
    assert drawn.count("<polyline") == 2
    assert series_chart(metric([None])).count("<line") == 0


def test_an_open_period_is_hollow():
    assert series_chart(metric([0.8, 0.9], complete=False)).count("dot unsure") == 1


@pytest.mark.parametrize(
    ("direction", "worse", "sign", "tone"),
    [("lower", True, "▼", "bad"), ("higher", False, "▲", "good"), ("higher", None, "▲", "none")],
)
def test_an_alarm_is_marked_where_the_change_began(direction, worse, sign, tone):
    alarm = {"since": "2026-11-02", "direction": direction, "worse": worse}
    drawn = series_chart(metric([0.8, 0.5, 0.5], [alarm]))
    assert f'class="alarm {tone}"' in drawn
    assert f"{sign} seems {direction}" in drawn
    assert f"seems {direction} since 2026-11-02" in drawn
    elsewhere = series_chart(metric([0.8, 0.5], [alarm | {"since": "2026-10-01"}]))
    assert 'class="alarm' not in elsewhere


def test_another_judge_is_marked():
    assert "judge changed" in series_chart(metric([0.8, 0.5], breaks=["2026-11-02"]))


def test_small_changes_do_not_fill_the_chart():
    drawn = series_chart(metric([0.900, 0.901]))
    heights = [float(y) for y in re.findall(r'<circle cx="[\d.]+" cy="([\d.]+)"', drawn)]
    assert abs(heights[0] - heights[1]) < 3


def test_scores_without_bounds_and_many_points():
    drawn = series_chart(metric([300.0 + at % 7 for at in range(90)], bounds=(0.0, None)))
    assert drawn.count("<circle") == 0
    assert ">310<" in drawn or ">305<" in drawn


def test_hostile_names_are_text():
    assert "<script>" not in series_chart(metric([0.5]) | {"metric": "<script>"})
