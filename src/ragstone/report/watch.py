"""The series of a watch in the terminal: alarms, one line per metric with its course, and the newest periods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from ragstone.engine.metric_choice import pick_headlines, say_more
from ragstone.report.run import metric_label
from ragstone.report.table import Cell, Column, Table, columns
from ragstone.report.text import counted, indented, interval_text, number, places_for, plain, section
from ragstone.storage.run_info import MetricInfo
from ragstone.watch.series import FALSE_ALARMS, Alarm, Point, Series

_BARS = "▁▂▃▄▅▆▇█"
# The newest periods in the table, and those in a course.
_MOST_PERIODS = 14
_MOST_DRAWN = 30
# Metrics with a column in the table of periods; narrow terminals show fewer.
_MOST_COLUMNS = 3


def watch_report(series: Series, full: bool = False) -> RenderableType:
    """Alarms, metrics and periods; `full` shows all metrics and periods."""
    names = [info.metric for info in series.metrics]
    headlines = set(names) if full else pick_headlines(names)
    shown = [info for info in series.metrics if info.metric in headlines]
    parts: list[RenderableType] = [
        plain(f"{'▼' if alarm.direction == 'lower' else '▲'} {alarm}", _tone(alarm)) for alarm in current_alarms(series)
    ]
    if not series.alarms:
        parts.append(plain(no_alarm_line(series)))
    if not series.periods:
        return Group(*parts)
    parts += [Text(), _metrics_table(series, shown)]
    if left := len(names) - len(shown):
        parts.append(indented(say_more(left), "dim"))
    parts += [Text(), _periods_table(series, shown[:_MOST_COLUMNS], None if full else _MOST_PERIODS)]
    return Group(*parts, *section("remarks", remark_lines(series)), plain(f"\n{explanation(series)}", "dim"))


def current_alarms(series: Series) -> list[Alarm]:
    """The newest alarm of each metric, newest first."""
    newest = {alarm.metric: alarm for alarm in series.alarms}
    return sorted(newest.values(), key=lambda alarm: alarm.period, reverse=True)


def no_alarm_line(series: Series) -> str:
    """The line in place of alarms if there are none."""
    complete = sum(record.complete for record in series.periods)
    return f"No change found in {counted(len(series.metrics), 'metric')} over {counted(complete, series.period)}."


def explanation(series: Series) -> str:
    """The meaning of the figures, for a reader who sees them for the first time."""
    return (
        "Means are estimates for all requests of a period, from the rows that were drawn and evaluated, with 95 % intervals. "
        f"Without any change, a false alarm in any of the metrics has a probability of at most {100 * FALSE_ALARMS:g} % per year "
        f"if the {series.period}s are independent."
    )


def remark_lines(series: Series) -> list[str]:
    """Remarks about the series: other judges, labels of people, requests without a row."""
    lines = [
        f"{period}: {metric} was computed differently from before (metric, judge or prompts), so levels are compared from here on"
        for period, metric in series.breaks
    ]
    lines += [
        f"{one.metric} and {counted(one.labels, 'label')}: people would give {one.mean:.3f} "
        f"({interval_text(one.low, one.high)}) over all periods; the metric alone gives {one.judge_mean:.3f}"
        for one in series.labelled
        if not one.period
    ]
    unseen = sum(record.requests for record in series.periods if record.complete and not record.weights)
    if unseen:
        lines.append(f"{counted(unseen, 'request')} are in complete periods without an evaluated row")
    return [*lines, *series.remarks]


def series_dict(series: Series) -> dict[str, Any]:
    """The series for programs."""
    return {
        "period": series.period,
        "periods": [
            {
                "period": record.period,
                "requests": record.requests,
                "drawn": sum(record.drawn.values()),
                "evaluated": sum(record.evaluated.values()) or len(record.weights),
                "late": record.late,
                "complete": record.complete,
                "spent_usd": record.spent_usd,
                "runs": list(record.runs),
            }
            for record in series.periods
        ],
        "metrics": [
            {
                "metric": info.metric,
                "better": info.better,
                "bounds": list(info.bounds),
                "points": [asdict(point) for point in series.points[info.metric]],
            }
            for info in series.metrics
        ],
        "alarms": [asdict(alarm) for alarm in series.alarms],
        "breaks": [{"period": period, "metric": metric} for period, metric in series.breaks],
        "labelled": [asdict(one) for one in series.labelled],
        "remarks": list(series.remarks),
        "false_alarms_per_year": FALSE_ALARMS,
    }


def _tone(alarm: Alarm) -> str:
    return {True: "bold red", False: "bold green", None: "bold"}[alarm.worse]


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
        places = places_for(info.bounds, *(point.estimate for point in points))
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
            *(cell for info, point in zip(metrics, found, strict=True) for cell in _cells(info, point)),
            "" if record.complete else Cell("open", tone="muted"),
        )
    return table


def _cells(info: MetricInfo, point: Point) -> tuple[str, str]:
    places = places_for(info.bounds, point.estimate)
    return number(point.estimate, places), interval_text(point.low, point.high, places)
