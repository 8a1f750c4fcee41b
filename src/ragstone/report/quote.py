"""The estimated cost of a run, in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from ragstone.engine.quote import Quote, QuoteLine
from ragstone.number_format import duration
from ragstone.report.table import Cell, Column, Table, columns
from ragstone.report.text import section

_NO_CALLS = "The run makes no model calls."
# More are only counted: they would hide the price.
_MOST_SKIPPED = 3


def quote_report(quote: Quote, full: bool = True) -> RenderableType:
    """One row per metric, the total, and the basis of the estimate; with `full` also every metric that is not computed."""
    if not quote.total.calls:
        parts: list[RenderableType] = [Text(_NO_CALLS)]
    else:
        table = _table("metric, by itself", quote.metrics)
        table.add(*(Cell(cell, tone="strong") for cell in _cells(quote.total)))
        parts = [table, Text(f"\n{_basis(quote)}", style="dim")]
    if not full and len(quote.skipped) > _MOST_SKIPPED:
        return Group(*parts, Text(f"\n{len(quote.skipped)} metrics are not computed: --full lists them and why"))
    skipped = (f"{name}: {reason}" for name, reason in quote.skipped.items())
    return Group(*parts, *section("not computed", skipped))


def line_report(line: QuoteLine) -> RenderableType:
    """The cost of work other than metrics, in one row."""
    if not line.calls:
        return Text(_NO_CALLS)
    basis = "The length of replies is estimated. Replies from the cache are free. The time is a rough estimate, from earlier calls if there were any."
    return Group(_table("", [line]), Text(f"\n{basis}", style="dim"))


def _table(heading: str, lines: Sequence[QuoteLine]) -> Table:
    table = Table([Column(heading, wrap="words"), *columns("calls", "tokens in", "tokens out", "usd", "time")])
    for line in lines:
        table.add(*_cells(line))
    return table


def _cells(line: QuoteLine) -> list[str]:
    cost = "unknown" if line.cost_usd is None else f"{line.cost_usd:,.{4 if line.cost_usd < 1 else 2}f}"
    counts = (line.calls, line.input_tokens, line.output_tokens)
    return [line.name, *(f"{count:,.0f}" for count in counts), cost, duration(line.seconds)]


def _basis(quote: Quote) -> str:
    time = "The time is a rough estimate, from earlier calls if there were any."
    if quote.in_batches:
        time = (
            "Prices are those of batches, except for the exam. The time is that of calls: a batch can take up to a day."
        )
    rows = "all" if quote.sampled_rows == quote.rows else f"{quote.sampled_rows} of the"
    return (
        f"From {rows} {quote.rows:,} rows. The length of replies is estimated. Metrics share calls, so the total is less "
        f"than the sum. {time}"
    )
