"""A run in the terminal: one table, a picture of each interval, and what could not be computed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from ragstone.data.summary import SummaryRow
from ragstone.engine.headlines import is_headline, pick_headlines, say_more
from ragstone.report.judged import judge_lines
from ragstone.report.names import MetricName
from ragstone.report.plain import indented, visible
from ragstone.storage.runs import Run

_STRIP = 24
_ANY_WIDTH = 10_000
DIRECTION = {"higher": "↑", "lower": "↓", "none": " "}


def run_report(run: Run, full: bool = True) -> RenderableType:
    """The summary of a run: all of it, or the headlines where it has many of them."""
    metrics = {metric["metric"]: metric for metric in run.info["metrics"]}
    rows, remarks = list(run.summary()), [*judge_lines(run.info)]
    picked = pick_headlines(metrics)
    shown = [row for row in rows if row.metric in picked or is_headline(row.metric) or row.n_failed]
    more = len(metrics) - sum(row.metric in metrics for row in shown)  # what was not computed is among the shown
    if full or not more:
        return _Report(rows, metrics, remarks)
    return _Report(shown, metrics, [say_more(more), *remarks])


class _Report:
    """Fits the width of the terminal: where it is narrow the pictures go, not the numbers."""

    def __init__(self, rows: list[SummaryRow], metrics: Mapping[str, Any], remarks: Sequence[str] = ()) -> None:
        self._remarks = remarks
        self._rows = rows
        self._metrics = metrics

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        table = self._table(pictures=True)
        if console.measure(table, options=options.update(max_width=_ANY_WIDTH)).maximum > options.max_width:
            table = self._table(pictures=False)
        yield table
        for remark in self._remarks:
            yield Text(f"\n{remark}")
        yield from _remarks(self._rows, self._metrics)

    def _table(self, pictures: bool) -> Table:
        table = Table(box=None, pad_edge=False, header_style="dim")
        table.add_column("metric", overflow="fold")
        table.add_column("mean", justify="right", no_wrap=True)
        table.add_column("95 % interval", justify="right", no_wrap=True)
        if pictures:
            table.add_column(f"0{' ' * (_STRIP - 2)}1", no_wrap=True)
        for head in ("scored", "skipped", "failed"):
            table.add_column(head, justify="right", no_wrap=True)
        known = [(row, self._metrics[row.metric]) for row in self._rows if row.metric in self._metrics]
        for part in dict.fromkeys(part_of(metric) for _, metric in known):
            table.add_row(Text(part, style="bold"))
            for row, metric in known:
                if part_of(metric) == part:
                    table.add_row(*_cells(row, metric, pictures))
        return table


def part_of(metric: Mapping[str, Any]) -> str:
    """Which part of the system a metric judges: what was found, or what was said."""
    if metric["judges"] in ("contexts", "ranking"):
        return "retrieval"
    return str(metric["judges"] or "other")


def _cells(row: SummaryRow, metric: Mapping[str, Any], pictures: bool) -> list[RenderableType]:
    picture = [_strip(row) if metric["bounds"] == [0.0, 1.0] else ""] if pictures else []
    return [
        MetricName(visible(row.metric), "  ", f" {DIRECTION[metric['better']]}"),
        "–" if row.mean is None else f"{row.mean:.3f}",
        "–" if row.ci_low is None or row.ci_high is None else f"{row.ci_low:.3f} – {row.ci_high:.3f}",
        *picture,
        str(row.n_ok),
        Text(str(row.n_skipped), style="dim" if not row.n_skipped else "yellow"),
        Text(str(row.n_failed), style="dim" if not row.n_failed else "bold red"),
    ]


def _strip(row: SummaryRow) -> Text:
    """Mean and interval on a line from 0 to 1."""
    if row.mean is None:
        return Text("·" * _STRIP, style="dim")
    low, high = (row.mean if end is None else end for end in (row.ci_low, row.ci_high))
    first, last, centre = (min(_STRIP - 1, int(value * _STRIP)) for value in (low, high, row.mean))
    marks = ["━" if first <= position <= last else "·" for position in range(_STRIP)]
    marks[centre] = "●"
    text = Text("".join(marks))
    text.stylize("dim", 0, first)
    text.stylize("cyan", first, last + 1)
    text.stylize("bold cyan", centre, centre + 1)
    text.stylize("dim", last + 1, _STRIP)
    return text


def _remarks(rows: list[SummaryRow], metrics: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Why cells are empty: first the metrics without any, then the rest."""
    lacking: dict[str, list[str]] = {}
    partly: dict[str, list[str]] = {}
    for row in rows:
        if row.reason:
            where = partly if row.metric in metrics else lacking
            where.setdefault(row.reason, []).append(row.metric)
    for title, found in (("not computed", lacking), ("empty cells", partly)):
        if found:
            yield Text(f"\n{title}", style="bold")
        for reason, names in found.items():
            yield indented(f"{', '.join(names)}: {reason}")
