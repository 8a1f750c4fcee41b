"""The series of a watch in the terminal."""

import json

from rich.console import Console

from ragstone.report.watch import course, watch_report
from ragstone.views.series import SeriesView
from ragstone.watch.series import estimate_series
from ragstone.watch.store import WatchStore
from tests.watch.made_watch import ferry  # noqa: F401  (a fixture)


def printed(report, width=120):
    console = Console(width=width, record=True, file=None, quiet=False)
    with console.capture() as captured:
        console.print(report)
    return captured.get()


def test_alarms_metrics_and_periods(ferry):  # noqa: F811
    series = estimate_series(ferry)
    text = printed(watch_report(SeriesView.of(series)))
    assert f"▼ exact_match seems lower since {series.periods[6].period}" in text
    assert "newest day" in text
    line = next(line for line in text.splitlines() if line.startswith(series.periods[0].period))
    point = series.points["exact_match"][0]
    assert line.split()[1:5] == ["400", "60", "60", f"{point.estimate:.3f}"]
    assert f"{point.low:.3f} – {point.high:.3f}" in line
    last = next(line for line in text.splitlines() if line.startswith(series.periods[-1].period))
    assert last.rstrip().endswith("open")
    assert "at most 5 % per year" in text


def test_a_narrow_terminal_keeps_names_and_means(ferry):  # noqa: F811
    text = printed(watch_report(SeriesView.of(estimate_series(ferry))), 60)
    assert max(map(len, text.splitlines())) <= 60
    assert "exact_match ↑" in text
    assert "requests" in text


def test_without_alarms_and_without_periods(tmp_path):
    store = WatchStore(tmp_path)
    store.write_settings({"period": "week"})
    assert (
        printed(watch_report(SeriesView.of(estimate_series(store)))).strip()
        == "No change found in 0 metrics over 0 weeks."
    )


def test_the_course_is_scaled_to_at_least_a_tenth():
    assert course([0.0, 1.0, 0.5]) == "▁█▅"
    assert set(course([0.90, 0.901, 0.899])) <= set("▄▅")
    assert course([None]) == ""


def test_the_series_for_programs(ferry):  # noqa: F811
    numbers = json.loads(json.dumps(SeriesView.of(estimate_series(ferry)).as_dict()))
    assert numbers["periods"][0]["requests"] == 400
    assert numbers["metrics"][0]["points"][0]["rows"] == 60
    assert numbers["alarms"][0]["direction"] == "lower"
    assert numbers["false_alarms_per_year"] == 0.05
