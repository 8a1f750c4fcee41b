"""A stress test in the terminal: each ability as a curve over the noise, what it is worth, and what was left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ragstone.report.plain import counted, one_line, visible
from ragstone.stress.beds import BEDS
from ragstone.stress.comparing import Contrast
from ragstone.stress.curves import Curve, Placed
from ragstone.stress.results import StressTest

MEANINGS = {
    "noise": "noise robustness: does it find the answer among passages that do not hold it",
    "rejection": "negative rejection: does it decline where no passage holds the answer",
    "integration": "information integration: does it put together what lies in several passages",
    "counterfactual": "counterfactual robustness: does it notice that the passages are wrong",
}
_LEVELS = "▁▂▃▄▅▆▇█"
_MOST_SHOWN = 3
_ANY_WIDTH = 10_000
_VERDICTS = {"the second is more robust": "bold green", "the first is more robust": "bold red"}


def stress_report(tests: Sequence[StressTest], contrasts: Sequence[Sequence[Contrast]] = ()) -> RenderableType:
    """One generator or several on the same beds."""
    parts: list[RenderableType] = []
    for number, test in enumerate(tests):
        head = Text(f"{'ABCDEFGH'[number % 8]}  " if len(tests) > 1 else "", style="bold")
        head.append(visible(test.system), style="bold")
        head.append(f"  {test.run.id}, {counted(len(test.rows.ids), 'row')}", style="dim")
        parts += [head, *_abilities(test), *_places(test.places), Text("")]
    for number, found in enumerate(contrasts):
        parts += _contrasts(found, "ABCDEFGH"[(number + 1) % 8])
    return Group(*parts, *_remarks(tests[0]))


def _abilities(test: StressTest) -> Iterator[RenderableType]:
    for bed in BEDS:
        curves = [curve for curve in test.curves if curve.bed == bed]
        if curves:
            yield Text(f"\n{MEANINGS[bed]}", style="bold")
            yield _Fitting(partial(_table, curves))
            yield from _uncounted(curves[0])


class _Fitting:
    """A table as it is if there is room, else its narrow form."""

    def __init__(self, make: Callable[..., Table]) -> None:
        self._make = make

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        wide = self._make(narrow=False)
        needed = console.measure(wide, options=options.update(max_width=_ANY_WIDTH)).maximum
        yield wide if needed <= options.max_width else self._make(narrow=True)


def _uncounted(curve: Curve) -> Iterator[RenderableType]:
    """Why the last points are no part of the number beside them."""
    if curve.rates and len(curve.rates) < len(curve.points):
        last = f"{curve.rates[0]:g} to {curve.rates[-1]:g}" if len(curve.rates) > 1 else f"{curve.rates[0]:g}"
        words = f"robustness is over the rates at which a passage holds the answer: {last}"
        yield Padding(Text(words, style="dim"), (0, 0, 0, 2))


def _table(curves: Sequence[Curve], narrow: bool) -> Table:
    rates = [point.rate for point in curves[0].points]
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(Text("  noise rate"), no_wrap=True)
    for rate in rates:
        table.add_column(f"{rate:g}", justify="center", no_wrap=True)
    if len(rates) > 1:
        table.add_column("", no_wrap=True)
    table.add_column("robustness" if len(rates) > 1 else "", justify="right", no_wrap=True)
    table.add_column("n", justify="right", no_wrap=True)
    for curve in curves:
        several = len(rates) > 1
        robust = curve.robustness
        value = f"{robust.value:.3f}" if several and robust else ""
        table.add_row(
            Text(f"  {curve.metric}"),
            *(Text(_mean(point.mean), style="bold") for point in curve.points),
            *([sparkline([point.mean for point in curve.points])] if several else []),
            Text(value, style="bold cyan"),
            str(max(point.questions for point in curve.points)),
        )
        table.add_row(
            Text("    95 % from\n           to" if narrow else "", style="dim"),
            *(Text(_between(point.low, point.high, narrow), style="dim") for point in curve.points),
            *([""] if several else []),
            Text(_between(robust.low, robust.high, narrow) if several and robust else "", style="dim"),
            _missing(curve, narrow),
        )
    return table


def sparkline(means: Sequence[float | None]) -> Text:
    """A curve as small as a word, on a scale from 0 to 1."""
    marks = [" " if mean is None else _LEVELS[min(7, int(max(0.0, min(1.0, mean)) * 8))] for mean in means]
    return Text("".join(marks), style="cyan")


def _mean(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _between(low: float | None, high: float | None, narrow: bool = False) -> str:
    """Both ends of an interval, one below the other where there is little room."""
    dash = "\n" if narrow else "–"
    return "" if low is None or high is None else f"{low:.2f}{dash}{high:.2f}"


def _missing(curve: Curve, narrow: bool) -> Text:
    failed = sum(point.failed for point in curve.points)
    skipped = sum(point.skipped for point in curve.points)
    words = [f"{skipped:,} skipped"] if skipped else []
    words += [f"{failed:,} failed"] if failed else []
    return Text(("\n" if narrow else ", ").join(words), style="bold red" if failed else "dim")


def _places(places: Sequence[Placed]) -> Iterator[RenderableType]:
    if len(places) < 2:
        return
    yield Text("\nwhere the answer stands, when one passage holds it", style="bold")
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(Text("  place"), no_wrap=True)
    for place in places:
        table.add_column(f"{place.place} of {place.of}", justify="center", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_row(
        Text("  rgb.accuracy"),
        *(Text(_mean(place.mean), style="bold") for place in places),
        sparkline([place.mean for place in places]),
    )
    table.add_row("", *(Text(_between(place.low, place.high), style="dim") for place in places), "")
    table.add_row(Text("  rows", style="dim"), *(Text(f"{place.rows:,}", style="dim") for place in places), "")
    yield table


def _contrasts(found: Sequence[Contrast], letter: str) -> Iterator[RenderableType]:
    yield Text(f"{letter} against A: the area under each curve, question by question", style="bold")
    yield _Fitting(partial(_contrast_table, found, letter))
    yield Text("")


def _contrast_table(found: Sequence[Contrast], letter: str, narrow: bool) -> Table:
    """A line a curve; with little room without the two values, which stand above already."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("", no_wrap=True)
    for head in (*(() if narrow else ("A", letter)), f"{letter} − A", "95 % interval", "p", "n"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("", no_wrap=not narrow)
    for bed in dict.fromkeys(item.bed for item in found):
        table.add_row(Text(f"{'' if narrow else '  '}{bed}"))
        for item in found:
            if item.bed == bed:
                table.add_row(*_contrast_cells(item, letter, narrow))
    return table


def _contrast_cells(item: Contrast, letter: str, narrow: bool) -> list[RenderableType]:
    interval = "–" if item.low is None or item.high is None else f"{item.low:+.3f} – {item.high:+.3f}"
    verdict = item.verdict.replace("the second is", letter).replace("the first is", "A")
    return [
        Text(f"{'  ' if narrow else '    '}{item.metric}"),
        *([] if narrow else [f"{item.first:.3f}", f"{item.second:.3f}"]),
        f"{item.difference:+.3f}".replace("-", "−"),
        interval.replace("-", "−"),
        f"{item.p:.3f}" if item.p >= 0.001 else "< 0.001",
        str(item.questions),
        Text(verdict, style=_VERDICTS.get(item.verdict, "dim")),
    ]


def _remarks(test: StressTest) -> Iterator[RenderableType]:
    lines = list(remark_lines(test))
    if lines:
        yield Text("before you trust it", style="bold")
    yield from (Padding(Text(visible(line)), (0, 0, 0, 2)) for line in lines)


def remark_lines(test: StressTest) -> Iterator[str]:
    """Which questions have no place in which bed, and whose passages are not what was asked for."""
    if test.holding:
        fate = (
            "they are used all the same, and their rows are marked contaminated"
            if test.kept
            else "they were not used as noise"
        )
        yield (
            f"the answer stands in {counted(test.holding, 'passage')} of {counted(test.holding_questions, 'question')} "
            f"that should not hold it: {fate}"
        )
    for report in test.beds:
        for reason, ids in report.left_out.items():
            yield f"{report.bed}: {_questions(ids)} left out: {reason}"
        if report.short:
            yield f"{report.bed}: {_questions(report.short)} with fewer passages than asked for"
        if report.filled:
            yield (
                f"{report.bed}: {_questions(report.filled)} with too few passages of one kind at some rate; "
                "the other kind fills up, so that some rates show the same passages"
            )
        if report.contaminated:
            yield f"{report.bed}: {_questions(report.contaminated)} with the answer in a passage that counts as noise"


def _questions(ids: Sequence[str]) -> str:
    shown = ", ".join(one_line(name, 30) for name in ids[:_MOST_SHOWN])
    more = ", …" if len(ids) > _MOST_SHOWN else ""
    return f"{counted(len(ids), 'question')} ({shown}{more})"
