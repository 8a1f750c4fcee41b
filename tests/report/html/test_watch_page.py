"""The series of a watch as one HTML file."""

from dataclasses import replace

import pytest

from ragstone.report.html.series_chart import watch_html
from ragstone.views.series import SeriesView
from ragstone.watch.series import estimate_series
from tests.report.pages import Page
from tests.watch.made_watch import ferry  # noqa: F401  (a fixture)


@pytest.mark.slow
def test_the_page_has_charts_alarms_and_periods(ferry):  # noqa: F811
    series = estimate_series(ferry)
    text = watch_html(SeriesView.of(series), "ferry")
    page = Page(text)
    assert "exact_match seems lower since" in page.text()
    charts = [chart for chart in page.find("svg") if "series" in chart.get("class", "")]
    assert len(charts) == 2
    assert "seems lower since" in charts[0]["aria-label"]
    assert all(record.period in page.text() for record in series.periods)
    assert "http" not in text.replace("http-equiv", "").replace("http://www.w3.org", "")


def test_a_hostile_name_is_text(ferry):  # noqa: F811
    assert "<script>alert(1)" not in watch_html(SeriesView.of(estimate_series(ferry)), "<script>alert(1)</script>")


def test_the_newest_periods_only(ferry):  # noqa: F811
    series = estimate_series(ferry)
    assert [len(metric["points"]) for metric in SeriesView.of(series).page(3)["metrics"]] == [3, 3]
    assert len(SeriesView.of(series).page()["metrics"][0]["points"]) == 9
    assert SeriesView.of(replace(series, alarms=())).page()["current"] == []
