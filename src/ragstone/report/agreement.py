"""Agreement with people in the terminal: which metric to trust, how far people agree, and where to look."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ragstone.agreement.agreeing import FEW_METRICS, Agreement, MetricAgreement
from ragstone.report.agreeing import COEFFICIENT, LEVEL, MEASURE, headline, labelled_line, method_line, standing
from ragstone.report.comparison import number
from ragstone.report.plain import one_line, visible
from ragstone.report.terminal import DIRECTION
from ragstone.stats.correlation import COEFFICIENTS
from ragstone.stats.intervals import Interval
from ragstone.stats.levels import LEVELS, Level

_STRIP = 24
_ANY_WIDTH = 10_000
_STANDING = {"best": "bold green", "less": "red", "maybe": "dim"}
# So many metrics are shown unless all are asked for.
MOST_METRICS = 15
_MEASURES = ("roc_auc", "accuracy", "f1", "kappa", "weighted_kappa", "calibration_error")


def agreement_report(found: Agreement, full: bool = False, more: str = "--full") -> RenderableType:
    """The answer, a table of the metrics, people among themselves, and the worst disagreements; `more` shows the rest."""
    return _Report(found, len(found.metrics) if full else MOST_METRICS, more)


class _Report:
    """Fits the width of the terminal: first the picture goes, then the other levels."""

    def __init__(self, found: Agreement, most: int, more: str) -> None:
        self._found = found
        self._most = most
        self._more = more

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        found = self._found
        yield Text(visible(labelled_line(found)), style="dim")
        yield Text(f"\n{visible(headline(found))}\n", style="bold")
        if found.metrics:
            for extras in (("strip", "levels"), ("levels",), ("strip",), ()):
                table = _table(found, extras, self._most)
                if console.measure(table, options=options.update(max_width=_ANY_WIDTH)).maximum <= options.max_width:
                    break
            yield table
            yield from _verdict_parts(found, self._most)
            if len(found.metrics) <= FEW_METRICS and found.settings.full:
                yield from _grid_parts(found)
        yield from _remark_parts(found, self._most, self._more)
        yield from _disagreement_parts(found, options.max_width)
        yield Text(f"\n{method_line(found)}", style="dim")


def _table(found: Agreement, extras: Sequence[str], most: int) -> Table:
    settings, low = found.settings, _lowest(found)
    levels = _other_levels(found) if "levels" in extras else []
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("metric", overflow="fold")
    table.add_column(COEFFICIENT[settings.coefficient], justify="right", no_wrap=True)
    table.add_column(f"{settings.confidence:.0%} interval", justify="right", no_wrap=True)
    if "strip" in extras:
        table.add_column(f"{low:<{_STRIP // 2}g}{1:>{_STRIP // 2}}", no_wrap=True)
    for level in levels:
        table.add_column(LEVEL[level], justify="right", no_wrap=True)
    table.add_column("rows", justify="right", no_wrap=True)
    table.add_column("beside the best", no_wrap=True)
    for item in found.metrics[:most]:
        main = found.main(item)
        kind, words = standing(found, item)
        table.add_row(
            Text(f"{visible(item.metric)} {DIRECTION[item.better]}"),
            number(main.value),
            interval_text(main.interval),
            *([_strip(main.value, main.interval, low, kind)] if "strip" in extras else []),
            *(number(item.correlations[settings.coefficient, level].value) for level in levels),
            Text(f"{item.rows:,}", style="yellow" if item.rows < len(found.joined.inputs) else ""),
            Text(words, style=_STANDING[kind]),
        )
    if found.ceiling and found.ceiling.correlation is not None:
        table.add_row(*_ceiling_cells(found, extras, low, len(levels)))
    return table


def _other_levels(found: Agreement) -> list[Level]:
    """Those at which anything could be measured, beside the one by which metrics are sorted."""
    chosen = found.settings
    return [
        level
        for level in LEVELS
        if level != chosen.level
        and any(item.correlations[chosen.coefficient, level].value is not None for item in found.metrics)
    ]


def _ceiling_cells(found: Agreement, extras: Sequence[str], low: float, levels: int) -> list[RenderableType]:
    ceiling = found.ceiling
    if ceiling is None:
        return []
    picture = [_strip(ceiling.correlation, ceiling.correlation_interval, low, "maybe")] if "strip" in extras else []
    return [
        Text("one person", style="italic"),
        number(ceiling.correlation),
        interval_text(ceiling.correlation_interval),
        *picture,
        *("" for _ in range(levels)),
        f"{ceiling.shared:,}",
        Text("with the others", style="dim"),
    ]


def interval_text(interval: Interval | None) -> str:
    """Both ends, or a dash."""
    return "–" if interval is None else f"{interval.low:.3f} – {interval.high:.3f}"


def _lowest(found: Agreement) -> float:
    """Where the pictures begin: at 0 unless something lies below."""
    ends = [found.main(item) for item in found.metrics]
    return -1.0 if any((each.interval.low if each.interval else each.value or 0.0) < 0 for each in ends) else 0.0


def _strip(value: float | None, interval: Interval | None, low: float, kind: str) -> Text:
    if value is None:
        return Text()
    ends = interval or Interval(value, value)
    first, last, centre = (
        max(0, min(_STRIP - 1, int((at - low) / (1 - low) * _STRIP))) for at in (ends.low, ends.high, value)
    )
    marks = ["━" if first <= place <= last else "·" for place in range(_STRIP)]
    if low < 0 and not first <= _STRIP // 2 <= last:
        marks[_STRIP // 2] = "│"
    marks[centre] = "●"
    text = Text("".join(marks), style="dim")
    text.stylize(f"not dim {'green' if kind == 'best' else 'cyan'}", first, last + 1)
    text.stylize("bold", centre, centre + 1)
    return text


def _verdict_parts(found: Agreement, most: int) -> Iterator[RenderableType]:
    """Labels of yes and no, or of the metric's own steps."""
    judged = [(item, item.verdicts) for item in found.metrics[:most] if item.verdicts]
    names = [name for name in _MEASURES if any(name in verdicts.measures for _, verdicts in judged)]
    if not judged:
        return
    yield Text("\nagainst yes and no" if "roc_auc" in names else "\nstep by step", style="bold")
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("metric", overflow="fold")
    for name in names:
        table.add_column(MEASURE[name], justify="right", no_wrap=True)
    if "f1" in names:
        table.add_column("yes from", justify="right", no_wrap=True)
    for item, verdicts in judged:
        cells = [verdicts.measures.get(name) for name in names]
        row = [number(None if cell is None else cell.value) + _reach(cell.interval if cell else None) for cell in cells]
        threshold = [f"{verdicts.threshold:g}" if verdicts.threshold is not None else "–"] if "f1" in names else []
        table.add_row(Text(f"{visible(item.metric)} {DIRECTION[item.better]}"), *row, *threshold)
    yield table


def _reach(interval: Interval | None) -> str:
    return "" if interval is None else f" ±{(interval.high - interval.low) / 2:.2f}"


def _grid_parts(found: Agreement) -> Iterator[RenderableType]:
    """A few metrics in full: every coefficient at every level."""
    for item in found.metrics:
        yield Text(f"\n{visible(item.metric)}, every way", style="bold")
        table = Table(box=None, pad_edge=False, header_style="dim")
        table.add_column("")
        for level in LEVELS:
            table.add_column(LEVEL[level], justify="right", no_wrap=True)
        for coefficient in COEFFICIENTS:
            cells = [item.correlations[coefficient, level] for level in LEVELS]
            table.add_row(COEFFICIENT[coefficient], *(f"{number(cell.value)}{_reach(cell.interval)}" for cell in cells))
        yield table


def _remark_parts(found: Agreement, most: int, way: str) -> Iterator[RenderableType]:
    more = len(found.metrics) - most
    lines = (
        [f"{more} more metric{'s' if more > 1 else ''} that agree{'' if more > 1 else 's'} less, with {way}"]
        if more > 0
        else []
    )
    lines += [*found.joined.remarks, *(_skipped_lines(found.metrics[:1]))]
    reasons: dict[str, list[str]] = {}
    for metric, reason in found.lacking.items():
        reasons.setdefault(reason, []).append(metric)
    lines += [f"not held against people: {', '.join(names)}: {reason}" for reason, names in reasons.items()]
    if found.ceiling and found.ceiling.alpha is not None:
        ceiling = found.ceiling
        lines.append(
            f"{ceiling.annotators} annotators, {ceiling.shared:,} rows labelled by two or more: Krippendorff's alpha "
            f"({ceiling.scale}) {number(ceiling.alpha)} ({interval_text(ceiling.alpha_interval)})"
        )
    if lines:
        yield Text("\nremarks", style="bold")
    for line in lines:
        yield Padding(Text(visible(line)), (0, 0, 0, 2))


def _skipped_lines(items: Sequence[MetricAgreement]) -> Iterator[str]:
    for item in items:
        cells = [cell for (_, level), cell in item.correlations.items() if level == "sample"]
        if cells and cells[0].skipped and cells[0].units:
            yield (
                f"within inputs, {item.metric}: {cells[0].units:,} inputs, {cells[0].skipped:,} skipped because scores or "
                "labels are constant there"
            )


def _disagreement_parts(found: Agreement, width: int) -> Iterator[RenderableType]:
    if found.disagreements:
        yield Text(f"\n{visible(found.disagreements[0].metric)} and people differ most here", style="bold")
    for item in found.disagreements:
        head = Text(f"  people {item.label:.2f}, {visible(item.metric)} {item.score:.2f}")
        head.append(f"   {one_line(item.sample_id, 20)} of {one_line(item.system, 20)}", style="dim")
        yield head
        for name, text in (("asked", item.question), ("answered", item.answer)):
            if text:
                yield Text(f"    {name:<9}{one_line(text, max(20, width - 14))}", style="dim")
