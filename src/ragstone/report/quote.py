"""What a run would cost, for people."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ragstone.engine.quoting import Quote, QuoteLine


def quote_report(quote: Quote) -> RenderableType:
    """A line a metric and one for all of them, and what the figures rest on."""
    if not quote.total.calls:
        parts: list[RenderableType] = [Text("no call of a model would be made")]
    else:
        parts = [_table(quote), Text(f"\n{_basis(quote)}", style="dim")]
    if quote.skipped:
        parts.append(Text("\nnot computed", style="bold"))
    parts += [Text(f"  {name}: {reason}") for name, reason in quote.skipped.items()]
    return Group(*parts)


def line_report(line: QuoteLine) -> RenderableType:
    """One line for work that is not made of metrics."""
    if not line.calls:
        return Text("no call of a model would be made")
    table = _empty_table("")
    table.add_row(*_cells(line))
    basis = "With guesses for replies; what is in the cache costs nothing. The time is a rule of thumb."
    return Group(table, Text(f"\n{basis}", style="dim"))


def _empty_table(first: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(first)
    for head in ("calls", "tokens in", "tokens out", "usd", "time"):
        table.add_column(head, justify="right", no_wrap=True)
    return table


def _table(quote: Quote) -> Table:
    table = _empty_table("metric, by itself")
    for line in quote.metrics:
        table.add_row(*_cells(line))
    table.add_row(*(Text(cell, style="bold") for cell in _cells(quote.total)))
    return table


def _cells(line: QuoteLine) -> list[str]:
    cost = (
        "unknown"
        if line.cost_usd is None
        else f"{line.cost_usd:,.4f}"
        if line.cost_usd < 1
        else f"{line.cost_usd:,.2f}"
    )
    return [
        line.name,
        f"{line.calls:,.0f}",
        f"{line.input_tokens:,.0f}",
        f"{line.output_tokens:,.0f}",
        cost,
        _duration(line.seconds),
    ]


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:,.0f} s"
    return f"{seconds / 60:,.0f} min" if seconds < 5400 else f"{seconds / 3600:,.1f} h"


def _basis(quote: Quote) -> str:
    seen = "all" if quote.sampled_rows == quote.rows else f"{quote.sampled_rows} of the"
    return (
        f"From {seen} {quote.rows:,} rows, with guesses for replies; metrics share calls, so all together take less than "
        "their sum. The time is a rule of thumb."
    )
