"""The series of a watch in the terminal: alarms, one line per metric with its course, and the newest periods."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from ragstone.engine.metric_choice import say_more
from ragstone.number_format import interval_text, number, places_for, with_interval
from ragstone.report.run import metric_label
from ragstone.report.table import Cell, Column, Table, columns
from ragstone.report.text import indented, plain, section
from ragstone.storage.run_info import MetricInfo
from ragstone.views.series import SeriesView
from ragstone.watch.series import Series

_TONES = {True: "bold red", False: "bold green", None: "bold"}
_BARS = "▁▂▃▄▅▆▇█"
# The newest periods in the table, and those in a course.
_MOST_PERIODS = 14
_MOST_DRAWN = 30
# Metrics with a column in the table of periods; narrow terminals show fewer.
_MOST_COLUMNS = 3


def watch_report(view: SeriesView, full: bool = False) -> RenderableType:
    """Alarms, metrics and periods; `full` shows all metrics and periods."""
    series, shown = view.series, view.metrics if full else view.headlines
    parts: list[RenderableType] = [
        plain(f"{'▼' if alarm.direction == 'lower' else '▲'} {alarm}", _TONES[alarm.worse]) for alarm in view.alarms
    ]
    if not view.alarms:
        parts.append(plain(view.quiet))
    if not series.periods:
        return Group(*parts)
    parts += [Text(), _metrics_table(series, shown)]
    if left := len(view.metrics) - len(shown):
        parts.append(indented(say_more(left), "dim"))
    parts += [Text(), _periods_table(series, shown[:_MOST_COLUMNS], None if full else _MOST_PERIODS)]
    return Group(*parts, *section("remarks", view.remarks), plain(f"\n{view.explanation}", "dim"))


def _metrics_table(series: Series, metrics: Sequence[MetricInfo]) -> Table:
    table = Table(
        [
            Column("metric", wrap="name"),
            *columns(f"newest {series.period}", "95 % interval"),
            Column("before it", "right", priority=2),
            Column("course", priority=0, drawn=True),
            Column("", priority=1),
        ]
    )
    newest = {alarm.metric: alarm for alarm in series.alarms}
    for info in metrics:
        points = [point for point in series.points[info.metric] if point.estimate is not None]
        if not points:
            continue
        last, earlier = points[-1], points[-2] if len(points) > 1 else None
        places = places_for(*(point.estimate for point in points))
        alarm = newest.get(info.metric)
        table.add(
            metric_label(info.metric, info.better),
            number(last.estimate, places),
            interval_text(last.low, last.high, places),
            number(earlier.estimate if earlier else None, places),
            course([point.estimate for point in points[-_MOST_DRAWN:]]),
            Cell(f"seems {alarm.direction} since {alarm.since}", tone="bad" if alarm.worse else "strong")
            if alarm
            else "",
        )
    return table


def course(values: Sequence[float | None]) -> str:
    """Values as a line of bars; the height spans at least 0.1, so that noise does not look like a change."""
    known = [value for value in values if value is not None]
    if not known:
        return ""
    middle, reach = (min(known) + max(known)) / 2, max(0.1, max(known) - min(known))
    steps = [(value - middle) / reach + 0.5 for value in known]
    return "".join(_BARS[min(len(_BARS) - 1, max(0, round(step * (len(_BARS) - 1))))] for step in steps)


def _periods_table(series: Series, metrics: Sequence[MetricInfo], most: int | None) -> Table:
    table = Table(
        [
            Column(series.period),
            *columns("requests", "drawn", "evaluated"),
            *(
                Column(heading, "right", "name", priority=at)
                for at, info in enumerate(metrics)
                for heading in (metric_label(info.metric, info.better), "95 %")
            ),
            Column(""),
        ]
    )
    start = 0 if most is None else max(0, len(series.periods) - most)
    for at, record in enumerate(series.periods[start:], start):
        found = [series.points[info.metric][at] for info in metrics]
        table.add(
            record.period,
            f"{record.requests:,}",
            f"{sum(record.drawn.values()):,}",
            f"{sum(record.evaluated.values()) or len(record.weights):,}",
            *(cell for point in found for cell in with_interval(point.estimate, point.low, point.high)),
            "" if record.complete else Cell("open", tone="muted"),
        )
    return table
