"""A comparison of two runs in the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.text import Text

from ragstone.analysis.comparison import ChangedSample, Comparison, Slice
from ragstone.analysis.differences import Difference
from ragstone.number_format import number, p_value, places_for, signed, signed_interval
from ragstone.report.run import metric_label
from ragstone.report.table import TONES, Cell, Column, Table, columns, interval_strip
from ragstone.report.text import section, title
from ragstone.text.questions import MADE_ID
from ragstone.views.comparison import (
    MARKS,
    ComparisonView,
    MetricChange,
    deciding_line,
    method_line,
    not_compared_lines,
)
from ragstone.views.moved_rows import MovedRow
from ragstone.views.phrases import counted, one_line, visible

_TONES = {"better": "good", "worse": "bad", "no evidence": "muted", "too few rows": "unsure"}
_STRIP = 19
_SCALES = (0.1, 0.2, 0.5, 1.0)
_MOST_COLUMNS = 5
_MOST_TEXT = 300


class ComparisonReport:
    """All metrics or the headline metrics, and the samples that changed most. The width of the terminal cuts questions."""

    def __init__(self, view: ComparisonView, show: int = 3, full: bool = True) -> None:
        self._view = view
        self._items = view.brief(full)
        self._show, self._full = show, full

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        view, comparison, items = self._view, self._view.comparison, self._items
        yield Text(f"{visible(view.headline)}\n", style="bold")
        yield from _runs(comparison)
        yield from _moved(view.listed(self._show, self._full), view.moved, options.max_width)
        yield Text()
        more = "" if self._full or not view.moves else f"--full --show {len(view.moves.unclear)} lists them"
        for line in filter(None, [*view.lines(more), deciding_line(items)]):
            yield Text(visible(line))
        yield Text()
        table = difference_table(view, items)
        yield table
        if len(items) < len(view.metrics):
            yield Text(f"\n{view.others_text}; --full shows them")
        lines = [*not_compared_lines(comparison)]
        lines += ["--anyway compares metrics with different signatures"] if comparison.refused else []
        yield from section("not compared", lines)
        yield from section("remarks", view.noted(items))
        for column in dict.fromkeys(part.column for part in comparison.slices):
            yield from _slices([part for part in comparison.slices if part.column == column], comparison)
        # The rows above say more than mean scores do.
        changed = (("lost most", view.losses), ("gained most", view.gains)) if self._full or not view.moved else ()
        for heading, samples in changed:
            yield from _changed(heading, samples[: self._show], options.max_width)
        headings = table.fitted_headings(console, options)
        yield Text(f"\n{method_line(comparison, 'MDE' in headings, 'p' in headings)}", style="dim")


def _runs(comparison: Comparison) -> Iterator[RenderableType]:
    for letter, run in (("A", comparison.before), ("B", comparison.after)):
        params = "".join(f", {name} {value}" for name, value in (run.info.get("params") or {}).items())
        text = Text(f"{letter}  ", style="bold")
        text.append(visible(run.name))
        text.append(visible(f"  {run.id}, {counted(run.info['dataset']['rows'], 'sample')}{params}"), style="dim")
        yield text


def difference_table(view: ComparisonView, items: Sequence[MetricChange]) -> Table:
    """One row per metric: both means, the difference with its interval, p, MDE and verdict."""
    scale = _scale(items)
    side, end = (_STRIP - 1) // 2, f"{scale:g}".removeprefix("0")
    ruler = f"{f'-{end} worse':<{side}}│{f'better {end}':>{side}}"
    table = Table(
        [
            Column("metric", wrap="name"),
            *columns("A", "B", "B − A", f"{view.comparison.settings.level:.0%} interval"),
            Column(ruler, priority=1, drawn=True),
            Column("p", "right", priority=2),
            Column("MDE", "right", priority=3),
            Column("verdict"),
        ]
    )
    for item in items:
        interval = None if item.low is None or item.high is None else (item.low, item.high)
        places = places_for(item.before, item.after, ends=(item.low, item.high))
        table.add(
            metric_label(item.metric, item.better),
            Cell(number(item.before, places), item.before),
            Cell(number(item.after, places), item.after),
            Cell(signed(item.difference, places), item.difference),
            Cell(signed_interval(item.low, item.high, places), interval),
            _strip(item, scale),
            Cell(p_value(item.corrected_p), item.corrected_p),
            Cell(number(item.detectable, places), item.detectable),
            verdict_cell(item.word),
            group=visible(item.part),
        )
    return table


def verdict_cell(verdict: str | None) -> Cell:
    """A verdict with its mark; a dash for a metric without a direction."""
    return Cell(verdict or "–", tone=_TONES.get(verdict or "", "muted"), mark=MARKS.get(verdict or "", ""))


def _scale(items: Iterable[Difference]) -> float:
    """The end of the drawn line: the smallest round number that contains all intervals of metrics from 0 to 1."""
    ends = [abs(end) for item in items if _is_drawn(item) for end in (item.low or 0.0, item.high or 0.0)]
    return next((scale for scale in _SCALES if max(ends, default=0.0) <= scale), 1.0)


def _is_drawn(item: Difference) -> bool:
    return item.bounds == (0.0, 1.0) and item.better != "none" and item.low is not None


def _strip(item: Difference, scale: float) -> Text:
    """The interval on a line with 0 in the middle and better on the right."""
    if not _is_drawn(item) or item.gain_interval is None or item.gain is None:
        return Text()
    style = {"better": "green", "worse": "red"}.get(item.verdict or "", "cyan")
    return interval_strip(item.gain, item.gain_interval, (-scale, scale), style, _STRIP)


def _slices(slices: Sequence[Slice], comparison: Comparison) -> Iterator[RenderableType]:
    """The difference per slice, for the metrics with a verdict in a slice or over all samples."""
    groups = (comparison.metrics, *(part.metrics for part in slices))
    telling = {item.metric for group in groups for item in group if item.verdict in MARKS}
    names = [item.metric for item in slices[0].metrics if item.metric in telling or len(slices[0].metrics) <= 3]
    yield title(f"by {slices[0].column}, B − A")
    if not names:
        yield Text("  no metric shows a difference, over all samples or in a slice")
        return
    cells = {part.label: {item.metric: item for item in part.metrics} for part in slices}
    heads = {part.label: f"{one_line(part.label, 20)} ({part.pairs})" for part in slices}
    # Few slices are columns. Many slices are rows, so that the table stays narrow.
    if len(slices) <= _MOST_COLUMNS or len(slices) < len(names):
        table = Table([Column(wrap="name"), *(Column(head, "right", "words") for head in heads.values())], indent=2)
        for name in names:
            label = metric_label(name, cells[slices[0].label][name].better)
            table.add(label, *(_slice_cell(cells[label][name]) for label in heads))
    else:
        table = Table([Column(wrap="words"), *(Column(visible(name), "right", "words") for name in names)], indent=2)
        for label, head in heads.items():
            table.add(head, *(_slice_cell(cells[label][name]) for name in names))
    yield table
    yield Text("  ▲ better  ▼ worse  ? too few rows  no mark: no evidence", style="dim")


def _slice_cell(item: Difference) -> Text:
    mark = MARKS.get(item.verdict or "", "?" if item.verdict == "too few rows" else " ")
    return Text(
        f"{signed(item.difference, places_for(item.before, item.after))} {mark}",
        style=TONES.get(_TONES.get(item.verdict or "", ""), ""),
    )


def _moved(rows: Sequence[MovedRow], every: Sequence[MovedRow], width: int) -> Iterator[RenderableType]:
    """Rows by how they moved, with both answers; rows without a given id by their number."""
    for kind in dict.fromkeys(row.kind for row in rows):
        shown_rows, count = [one for one in rows if one.kind == kind], sum(one.kind == kind for one in every)
        more = f" ({len(shown_rows)} of {count}; --show {count} lists all)" if count > len(shown_rows) else ""
        yield title(f"{kind}{more}")
        for row in shown_rows:
            line = Text(f"  {f'row {row.row}' if MADE_ID.fullmatch(row.id) else one_line(row.id, 20)}  ")
            line.append(one_line(row.question, max(20, width - len(line) - 1)))
            yield line
            for letter, answer, chance, cause in zip("AB", row.answers, row.wrong, row.causes, strict=True):
                shown = Text(f"{letter}  wrong {100 * chance:.0f} %{f', {cause}' if cause else ''}", style="dim")
                yield Padding(shown.append(f"  {one_line(answer or '(no answer)', _MOST_TEXT)}"), (0, 0, 0, 4))
            yield Padding(Text(row.what_changed, style="dim"), (0, 0, 0, 7))


def _changed(heading: str, samples: Sequence[ChangedSample], width: int) -> Iterator[RenderableType]:
    if samples:
        yield title(heading)
    for sample in samples:
        line = Text(f"  {signed(sample.gain)}  {one_line(sample.id, 20)}  ")
        line.append(one_line(sample.question, max(20, width - len(line) - 1)))
        yield line
        scores = [f"{visible(name)} {old:.2f} → {new:.2f}" for name, old, new in sample.metrics]
        yield Padding(Text(", ".join(scores), style="dim"), (0, 0, 0, 10))
