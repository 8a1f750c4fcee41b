"""A run in the terminal: a summary of at most 25 lines, or everything; the judges, repeated questions, missing scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from ragstone.analysis.diagnosis import Diagnosis
from ragstone.engine.metric_choice import say_more
from ragstone.report.table import Cell, Column, Table, columns, interval_strip
from ragstone.report.text import plain, section
from ragstone.storage.run_info import RunInfo
from ragstone.storage.runs import MOST_FAILED, Run
from ragstone.views.diagnosis import DiagnosisView, lacks_metric
from ragstone.views.phrases import by_reason, counted, one_line, visible
from ragstone.views.run import DIRECTION, MetricView, RunView, consistency_lines
from ragstone.views.worst import WorstView, worst_views

# Metrics named by the user are all shown if they are no more than this.
_MOST_NAMED = 8


def run_report(run: Run, most_failed: float = MOST_FAILED) -> RenderableType:
    """All metrics of a run, and all remarks about them."""
    view = RunView.of(run, most_failed)
    return Group(
        *_warnings(view),
        metrics_table(view.metrics, raw=True),
        *(Text(f"\n{remark}") for remark in (*view.explanations, *view.counts)),
        *section("consistency", consistency_lines(run)),
        *section("not computed", _reasons(view.not_computed())),
        *section("missing scores", _reasons(by_reason((metric.metric, metric.reason) for metric in view.metrics))),
    )


def run_summary(view: RunView, diagnosis: Diagnosis, named: bool = False) -> RenderableType:
    """The verdict, some numbers and the three worst rows. The numbers are all metrics if a few were `named`."""
    shown = list(view.metrics) if len(view.metrics) <= _MOST_NAMED and named else view.first
    lacking = [metric for metric in view.metrics if metric.failed or (not metric.ok and metric in shown)]
    shown += [metric for metric in lacking[: _MOST_NAMED - len(shown)] if metric not in shown]
    more = len(view.metrics) - len(shown)
    found = DiagnosisView.of(diagnosis)
    lacks = lacks_metric(diagnosis)
    lines = [
        found.statuses_text if diagnosis.has_content or lacks or not named else "",
        found.headline if diagnosis.has_content and not lacks else "",
        found.disagreement,
    ]
    reasons = [*by_reason((metric.metric, metric.reason) for metric in lacking).items()]
    reasons += [*view.not_computed().items()] if named or not shown else []
    worst = worst_views(view.run, diagnosis)
    return Group(
        *_warnings(view),
        *(Text(line, style="bold") for line in lines if line),
        *([Text()] if any(lines) else []),
        _short_table(shown, view.run.info.rows, say_more(more) if more else ""),
        *(plain(f"{one_line(', '.join(names), 60)}: {one_line(reason, 200)}", "red") for reason, names in reasons[:3]),
        *([Text()] if worst else []),
        *worst_part(worst),
    )


def _warnings(view: RunView) -> Iterator[RenderableType]:
    if view.failure:
        yield Text(f"{view.failure}\n", style="bold red")
    for warning in view.run.info.judge_warnings:
        yield Text(visible(f"{warning[0].upper()}{warning[1:]}.\n"), style="bold yellow")


def _short_table(metrics: Sequence[MetricView], rows: int, more: str) -> Table:
    """Name, number, interval and, if scores are missing, the number of scored rows. `more` is part of the heading."""
    counts = [Column("rows", align="right")] if any(one.ok != rows for one in metrics) else []
    ruler = Column(f"0{' ' * 22}1", priority=1, drawn=True)
    heading = f"metric ({more})" if more else "metric"
    table = Table([Column(heading, wrap="name"), *columns("score", "95 % interval"), ruler, *counts])
    for one in metrics:
        count = [f"{one.ok:,}" if one.ok == rows else f"{one.ok:,} of {rows:,}"] if counts else []
        table.add(metric_label(one.metric, one.better), one.shown, one.interval, _strip(one), *count)
    return table


def worst_part(rows: Sequence[WorstView]) -> Iterator[RenderableType]:
    """Two lines per row, cut to the width of the screen."""
    for row in rows:
        yield Text.assemble(
            plain(f"{row.label}  "),
            (row.status_text, "bold red" if row.status == "wrong" else "bold yellow"),
            plain(f"  {row.cause}  " if row.cause else "  "),
            plain(row.question, "dim"),
            no_wrap=True,
            overflow="ellipsis",
        )
        reason = plain(row.reason)
        reason.no_wrap, reason.overflow = True, "ellipsis"
        yield Padding(reason, (0, 0, 0, 4), expand=False)


def rows_part(rows: Sequence[WorstView]) -> Iterator[RenderableType]:
    """One line per row, in full."""
    heads = [(row.label, row.status_text, row.cause) for row in rows]
    widths = [max(map(len, part)) for part in zip(*heads, strict=True)]
    for row, head in zip(rows, heads, strict=True):
        padded = "  ".join(word.ljust(width) for word, width in zip(head, widths, strict=True))
        yield Text(visible(f"{padded}  {row.question}  {row.reason}"), no_wrap=True, overflow="ignore")


def metrics_table(metrics: Iterable[MetricView], raw: bool = False) -> Table:
    """One row per metric, grouped by the part of the system that it judges.

    The score is the estimated human score if the judge's error was measured; with `raw`, the mean follows below.
    """
    ruler = Column(f"0{' ' * 22}1", priority=1, drawn=True)
    means, counts = columns("score", "95 % interval"), columns("scored", "skipped", "failed")
    table = Table([Column("metric", wrap="name"), *means, ruler, *counts])
    for one in metrics:
        table.add(
            Cell(metric_label(one.metric, one.better), one.metric),
            Cell(one.shown, one.quoted),
            Cell(one.interval, one.quoted_interval),
            _strip(one),
            Cell(str(one.ok), one.ok),
            Cell(str(one.skipped), one.skipped, "unsure" if one.skipped else "muted"),
            Cell(str(one.failed), one.failed, "bad" if one.failed else "muted"),
            group=visible(one.part),
        )
        if raw and one.is_estimate:
            table.add(Cell(f"  {one.raw}", tone="muted"), *[""] * 6, group=visible(one.part))
    return table


def _strip(metric: MetricView) -> Text | str:
    is_share = metric.bounds == (0.0, 1.0)
    return interval_strip(metric.quoted, metric.quoted_interval) if is_share else ""


def metric_label(name: str, better: str) -> str:
    """A metric with its arrow. A no-break space keeps both on one line."""
    return f"{name}\xa0{DIRECTION[better]}"


def call_line(info: RunInfo) -> str | None:
    """The model calls of a run with their cost, or with their tokens if a price is unknown. None without calls."""
    totals = info["totals"]
    calls, cached = totals.get("calls", 0), totals.get("cached_calls", 0)
    if not calls and not cached:
        return None
    stored = f"{cached:,} from the cache" if cached else ""
    if not calls:
        return f"no model calls, {stored}"
    cost, tokens = totals.get("cost_usd"), f"{totals['input_tokens']:,} tokens in, {totals['output_tokens']:,} out"
    paid = f"{tokens}, price unknown" if cost is None else f"{cost:,.4f} usd" if cost else "no cost"
    return ", ".join(filter(None, [counted(calls, "model call"), stored, paid]))


def _reasons(reasons: Mapping[str, list[str]]) -> list[str]:
    return [f"{', '.join(names)}: {reason}" for reason, names in reasons.items()]
