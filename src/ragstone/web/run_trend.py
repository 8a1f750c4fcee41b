"""The trend of a metric over the runs of one name on one data set: its data, and the chart whose points link to the runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from markupsafe import Markup

from ragstone.data.summary import SummaryRow
from ragstone.report.html.charts import Scale, element, line, picture, short, text
from ragstone.report.html.series_chart import vertical_scale
from ragstone.storage.runs import Run
from ragstone.views.phrases import one_line
from ragstone.views.run import headline_metrics

DATE, COMMIT = "date", "commit"
MOST_RUNS = 100
_SIZE = (900.0, 250.0)
_LEFT, _RIGHT, _TOP, _FLOOR = 46.0, 30.0, 14.0, 28.0
_MOST_LABELS = 8


def trend_data(
    runs: Sequence[Run], summary: Callable[[Run], Mapping[str, SummaryRow]], metric: str, by: str
) -> dict[str, Any] | None:
    """Return a metric of runs, which come newest first; None if fewer than two runs have a value."""
    if not runs:
        return None
    choices = [item.metric for item in runs[0].info.metrics]
    main = headline_metrics(runs[0].info.metrics, 1)
    metric = metric if metric in choices else main[0].metric if main else ""
    known = next((item for item in runs[0].info.metrics if item.metric == metric), None)
    points = [
        _point(run, row) for run in runs[:MOST_RUNS] if (row := summary(run).get(metric)) and row.mean is not None
    ][::-1]
    if known is None or len(points) < 2:
        return None
    commits = all(point["commit"] for point in points)
    by = by if by in (DATE, COMMIT) and (commits or by == DATE) else DATE
    axes = [DATE, COMMIT] if commits else [DATE]
    return {"metric": metric, "bounds": known.bounds, "choices": choices, "by": by, "axes": axes, "points": points}


def _point(run: Run, row: SummaryRow) -> dict[str, Any]:
    code = run.info.get("code") or {}
    return {
        "run": run.id,
        "address": f"/runs/{run.id}",
        "finished": str(run.info["finished_at"]),
        "commit": one_line(str(code.get("commit") or ""), 40)[:8],
        "estimate": row.mean,
        "low": row.ci_low,
        "high": row.ci_high,
    }


def trend_chart(data: Mapping[str, Any]) -> Markup:
    """Draw the means with the band of their intervals; each point links to its run."""
    width, height = _SIZE
    points, floor = data["points"], height - _FLOOR
    places = _places(data)
    over = Scale(min(places), max(places), _LEFT + 20, width - _RIGHT)
    up = vertical_scale(data, points, Scale(0.0, 1.0, floor, _TOP))
    parts = [line(_LEFT, up(tick), width - _RIGHT, up(tick), "grid") for tick in up.ticks()]
    parts += [text(_LEFT - 6, up(tick) + 4, short(tick), "end") for tick in up.ticks()]
    spots = [(over(place), point) for place, point in zip(places, points, strict=True)]
    held = [(x, point) for x, point in spots if point["low"] is not None and point["high"] is not None]
    if len(held) > 1:
        edge = [f"{x:.1f},{up(point['high']):.1f}" for x, point in held]
        edge += [f"{x:.1f},{up(point['low']):.1f}" for x, point in reversed(held)]
        parts.append(element("polygon", points=" ".join(edge), class_="band"))
    path = " ".join(f"{x:.1f},{up(point['estimate']):.1f}" for x, point in spots)
    parts.append(element("polyline", points=path, class_="trace"))
    free = -1000.0
    for x, point in spots:
        label = point["commit"] if data["by"] == COMMIT else point["finished"][:10]
        if x - free > (width - _LEFT) / _MOST_LABELS:
            parts.append(text(x, height - 8, label))
            free = x
        ends = "" if point["low"] is None else f", {short(point['low'])} to {short(point['high'])}"
        title = element("title", f"{short(point['estimate'])}{ends}, {label}, {point['run']}")
        dot = element("circle", cx=x, cy=up(point["estimate"]), r=5, class_="dot")
        parts.append(element("a", title, dot, href=point["address"], tabindex=-1))
    first, last = points[0], points[-1]
    words = (
        f"{data['metric']} over {len(points)} runs: {short(first['estimate'])} on {first['finished'][:10]}, "
        f"{short(last['estimate'])} on {last['finished'][:10]}"
    )
    return picture(width, height, words, *parts, class_="curve runtrend", role="group")


def _places(data: Mapping[str, Any]) -> list[float]:
    """Positions on the horizontal axis: by time, or one step per run."""
    steps = [float(number) for number in range(len(data["points"]))]
    if data["by"] == COMMIT:
        return steps
    try:
        times = [datetime.fromisoformat(point["finished"]).timestamp() for point in data["points"]]
    except ValueError:  # a run of another program
        return steps
    return times if max(times) > min(times) else steps
