"""The series of a watch as one HTML file."""

from __future__ import annotations

from typing import Any

from ragstone.engine.metric_choice import pick_headlines
from ragstone.report.html.page import render_page
from ragstone.report.html.series_chart import series_chart
from ragstone.report.run import DIRECTION
from ragstone.report.watch import current_alarms, explanation, no_alarm_line, remark_lines, series_dict
from ragstone.watch.series import Series


def watch_html(series: Series, name: str) -> str:
    """One self-contained file."""
    found = watch_data(series)
    for metric in found["metrics"]:
        metric["plot"] = series_chart(metric)
    embedded = {"schema": "ragstone.watch", "version": 1, **series_dict(series)}
    return render_page("watch.html", {"title": f"Watch {name}", "name": name, **found}, embedded)


def watch_data(series: Series, last: int | None = None) -> dict[str, Any]:
    """The series as page data; `last` keeps the newest periods in the charts."""
    numbers = series_dict(series)
    kept = len(series.periods) if last is None else last
    complete = {record.period: record.complete for record in series.periods}
    headlines = pick_headlines([info.metric for info in series.metrics])
    metrics = [
        {
            **metric,
            "arrow": DIRECTION[metric["better"]].strip(),
            "headline": metric["metric"] in headlines,
            "points": [{**point, "complete": complete[point["period"]]} for point in metric["points"][-kept:]],
            "alarms": [alarm for alarm in numbers["alarms"] if alarm["metric"] == metric["metric"]],
            "breaks": [one["period"] for one in numbers["breaks"] if one["metric"] == metric["metric"]],
        }
        for metric in numbers["metrics"]
    ]
    return {
        "period": series.period,
        "periods": list(reversed(numbers["periods"])),
        "metrics": sorted(metrics, key=lambda metric: not metric["headline"]),
        "alarms": [
            {**alarm, "words": str(found)} for alarm, found in zip(numbers["alarms"], series.alarms, strict=True)
        ],
        "current": [
            {"worse": alarm.worse, "direction": alarm.direction, "words": str(alarm)}
            for alarm in current_alarms(series)
        ],
        "quiet": no_alarm_line(series),
        "labelled": numbers["labelled"],
        "remarks": remark_lines(series),
        "explanation": explanation(series),
    }
