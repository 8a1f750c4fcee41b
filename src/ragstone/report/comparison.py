"""Two runs side by side in the terminal: the answer, a table with a picture of each difference, what changed most."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ragstone.compare.changes import ChangedSample
from ragstone.compare.comparison import Comparison, Slice
from ragstone.compare.differences import Difference
from ragstone.engine.headlines import pick_headlines, say_more
from ragstone.report.comparing import failed_lines, headline, method_line
from ragstone.report.names import MetricName
from ragstone.report.plain import indented, one_line, visible
from ragstone.report.terminal import DIRECTION, part_of

_STRIP = 19
_ANY_WIDTH = 10_000
_STYLES = {"better": "bold green", "worse": "bold red", "no evidence": "dim", "too few rows": "yellow"}
_MARKS = {"better": "▲ better", "worse": "▼ worse", "no evidence": "no evidence", "too few rows": "too few rows"}
_MARK = {"better": "▲", "worse": "▼"}
_MOST_COLUMNS = 5
_SCALES = (0.1, 0.2, 0.5, 1.0)


def comparison_report(found: Comparison, show: int = 3, full: bool = True) -> RenderableType:
    """What changed from one run to the other, in all metrics or in those that matter most; samples that changed most."""
    picked = pick_headlines([item.metric for item in found.metrics])
    first = [item for item in found.metrics if item.metric in picked]
    # What shows a difference or failed is never left out.
    told = [item for item in found.metrics if item.metric not in picked and (item.verdict in _MARK or item.failed)]
    return _Report(found, found.metrics if full else [*first, *told], show)


class _Report:
    """Fits the width of the terminal: first the pictures go, then what is least needed; verdicts always stay."""

    def __init__(self, found: Comparison, items: Sequence[Difference], show: int) -> None:
        self._found = found
        self._items = items
        self._show = show

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        found, items = self._found, self._items
        more = len(found.metrics) - len(items)
        yield from _heads(found)
        yield Text(f"\n{visible(headline(found))}{_counted(found) if more else ''}\n", style="bold")
        table, extras = _fitting(console, options, found, items)
        yield table
        if more:
            yield Text(f"\n{say_more(more)}")
        yield from _not_compared(found, items)
        for column in dict.fromkeys(part.column for part in found.slices):
            yield from _slice_parts([part for part in found.slices if part.column == column], found)
        yield from _changed_parts(found.changed, self._show, options.max_width)
        yield Text(f"\n{method_line(found, 'MDE' in extras)}", style="dim")


def _counted(found: Comparison) -> str:
    """What the sentence at the top counts, where fewer are shown."""
    count = sum(item.verdict is not None for item in found.metrics)
    return f" That counts all {count} metrics with a better direction." if count else ""


def _heads(found: Comparison) -> Iterator[RenderableType]:
    for letter, run in (("A", found.before), ("B", found.after)):
        params = "".join(f", {name} {value}" for name, value in (run.info.get("params") or {}).items())
        text = Text(f"{letter}  ", style="bold")
        text.append(visible(run.name))
        rows = run.info["dataset"]["rows"]
        text.append(visible(f"  {run.id}, {rows:,} sample{'s' if rows != 1 else ''}{params}"), style="dim")
        yield text


def _fitting(
    console: Console, options: ConsoleOptions, found: Comparison, items: Sequence[Difference]
) -> tuple[Table, Sequence[str]]:
    """The richest table that is not wider than the terminal, and which columns it has beside those that always stay."""
    choices: list[tuple[str, ...]] = [("strip", "p", "MDE"), ("strip", "p"), ("strip",), ("p",), ()]
    for extras in choices:
        table = _table(found, items, extras)
        if console.measure(table, options=options.update(max_width=_ANY_WIDTH)).maximum <= options.max_width:
            break
    return table, extras


def _table(found: Comparison, items: Sequence[Difference], extras: Sequence[str]) -> Table:
    scale = _scale(items)
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("metric", overflow="fold")
    for head in ("A", "B", "B − A"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column(f"{found.settings.level:.0%} interval", justify="right", no_wrap=True)
    if "strip" in extras:
        side = (_STRIP - 1) // 2
        end = f"{scale:g}".removeprefix("0")
        table.add_column(f"{f'-{end} worse':<{side}}│{f'better {end}':>{side}}", no_wrap=True)
    for head in ("p", "MDE"):
        if head in extras:
            table.add_column(head, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    parts = {metric["metric"]: part_of(metric) for metric in found.after.info["metrics"]}
    for part in dict.fromkeys(parts[item.metric] for item in items):
        table.add_row(Text(part, style="bold"))
        for item in items:
            if parts[item.metric] == part:
                table.add_row(*_cells(item, extras, scale))
    return table


def _cells(item: Difference, extras: Sequence[str], scale: float) -> list[RenderableType]:
    cells: list[RenderableType] = [
        MetricName(visible(item.metric), "  ", f" {DIRECTION[item.better]}"),
        number(item.before),
        number(item.after),
        signed(item.difference),
        "–" if item.low is None or item.high is None else f"{signed(item.low)} to {signed(item.high)}",
    ]
    if "strip" in extras:
        cells.append(_strip(item, scale))
    if "p" in extras:
        cells.append(chance(item.corrected_p))
    if "MDE" in extras:
        cells.append(number(item.detectable))
    cells.append(verdict_text(item.verdict))
    return cells


def verdict_text(verdict: str | None) -> Text:
    """A verdict as a word; nothing for a metric without direction."""
    return Text(_MARKS[verdict], style=_STYLES[verdict]) if verdict else Text("–", style="dim")


def number(value: float | None) -> str:
    """Three decimals, or a dash for nothing."""
    return "–" if value is None else f"{value:.3f}"


def signed(value: float | None) -> str:
    """Three decimals with a sign."""
    return "–" if value is None else f"{value:+.3f}" if round(value, 3) else "0.000"


def chance(p: float | None) -> str:
    """A p-value as people read it."""
    return "–" if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"


def _scale(items: Sequence[Difference]) -> float:
    """The end of the strips: the smallest round number that holds all intervals of metrics from 0 to 1."""
    ends = [abs(end) for item in items if _has_strip(item) for end in (item.low or 0.0, item.high or 0.0)]
    return next((scale for scale in _SCALES if max(ends, default=0.0) <= scale), 1.0)


def _has_strip(item: Difference) -> bool:
    return item.bounds == (0.0, 1.0) and item.better != "none" and item.low is not None


def _strip(item: Difference, scale: float) -> Text:
    """The interval on a line with 0 in the middle, better to the right."""
    if not _has_strip(item) or item.gain_interval is None or item.gain is None:
        return Text()
    low, high = item.gain_interval
    middle = (_STRIP - 1) // 2
    first, last, centre = (
        max(0, min(_STRIP - 1, round(middle + value / scale * middle))) for value in (low, high, item.gain)
    )
    marks = ["━" if first <= place <= last else "│" if place == middle else "·" for place in range(_STRIP)]
    marks[centre] = "●"
    style = {"better": "green", "worse": "red"}.get(item.verdict or "", "cyan")
    text = Text("".join(marks), style="dim")
    text.stylize(f"not dim {style}", first, last + 1)
    text.stylize("bold", centre, centre + 1)
    return text


def _not_compared(found: Comparison, items: Sequence[Difference]) -> Iterator[RenderableType]:
    lines: list[str] = []
    if found.refused:
        changes: dict[str, list[str]] = {}
        for name, what in found.refused.items():
            changes.setdefault(what, []).append(name)
        lines += [f"{', '.join(names)}: made in different ways: {what}" for what, names in changes.items()]
        lines.append("--anyway compares them nevertheless")
    for word, only in (("A", found.only_before), ("B", found.only_after)):
        if only:
            lines.append(f"only in {word}: {', '.join(only)}")
    yield from _titled("not compared", lines)
    notes: dict[str, list[str]] = {}
    for item in items:
        if item.note:
            notes.setdefault(item.note, []).append(item.metric)
    noted = [f"{', '.join(names)}: {note}" for note, names in notes.items()]
    yield from _titled("remarks", [*found.remarks, *failed_lines(items), *noted])


def _titled(title: str, lines: Sequence[str]) -> Iterator[RenderableType]:
    if lines:
        yield Text(f"\n{title}", style="bold")
    for line in lines:
        yield indented(line)


def _slice_parts(slices: Sequence[Slice], found: Comparison) -> Iterator[RenderableType]:
    """The metrics that show something in a slice or over all samples: the difference in each slice, with a mark."""
    column = slices[0].column
    told = [
        item for part in (found.metrics, *(part.metrics for part in slices)) for item in part if item.verdict in _MARK
    ]
    telling = {item.metric for item in told}
    names = [item.metric for item in slices[0].metrics if item.metric in telling or len(slices[0].metrics) <= 3]
    yield Text(f"\nby {visible(column)}, B − A", style="bold")
    if not names:
        yield Text("  no metric shows a difference, over all samples or in a slice")
        return
    cells = {part.label: {item.metric: item for item in part.metrics} for part in slices}
    heads = {part.label: f"{one_line(part.label, 20)} ({part.pairs})" for part in slices}
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("")
    # Few labels are columns; many are rows, so that the table stays narrow.
    if len(slices) <= _MOST_COLUMNS or len(slices) < len(names):
        for head in heads.values():
            table.add_column(head, justify="right")
        for name in names:
            direction = DIRECTION[cells[slices[0].label][name].better]
            table.add_row(
                MetricName(visible(name), "  ", f" {direction}"), *(_slice_cell(cells[label][name]) for label in heads)
            )
    else:
        for name in names:
            table.add_column(visible(name), justify="right")
        for label, head in heads.items():
            table.add_row(Text(f"  {head}"), *(_slice_cell(cells[label][name]) for name in names))
    yield table
    yield Text("  ▲ better  ▼ worse  ? too few rows  no mark: no evidence", style="dim")


def _slice_cell(item: Difference) -> Text:
    mark = _MARK.get(item.verdict or "", "?" if item.verdict == "too few rows" else " ")
    return Text(f"{signed(item.difference)} {mark}", style=_STYLES.get(item.verdict or "", ""))


def _changed_parts(changed: Sequence[ChangedSample], show: int, width: int) -> Iterator[RenderableType]:
    gained = [sample for sample in changed if sample.gain > 0][:show]
    lost = [sample for sample in reversed(changed) if sample.gain < 0][:show]
    for title, samples in (("gained most", gained), ("lost most", lost)):
        if samples:
            yield Text(f"\n{title}", style="bold")
        for sample in samples:
            line = Text(f"  {signed(sample.gain)}  {one_line(sample.id, 20)}  ")
            line.append(one_line(sample.question, max(20, width - len(line) - 1)))
            yield line
            scores = [f"{visible(name)} {old:.2f} → {new:.2f}" for name, old, new in sample.metrics]
            yield Padding(Text(", ".join(scores), style="dim"), (0, 0, 0, 10))
