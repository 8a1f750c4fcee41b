"""The exam of a judge in the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from ragstone.agreement.judge_check import LOCAL, TOKENS, Examined, JudgeCheck, RowCost
from ragstone.report.table import Cell, Column, Table, columns
from ragstone.report.text import visible
from ragstone.tools.judge_exam import AT_CHANCE, USABLE, WEAK

_TONES = {USABLE: "green", WEAK: "unsure", AT_CHANCE: "bad", "": "muted"}
_STYLES = {USABLE: "green", WEAK: "yellow", AT_CHANCE: "red"}
_WORDS = {
    USABLE: "usable",
    WEAK: "weak: better than chance, but it errs often",
    AT_CHANCE: "at chance: its verdicts are no better than guesses, as far as these items show",
}


def check_report(check: JudgeCheck) -> RenderableType:
    """The verdict, one table per way of asking, and which to use."""
    head = Text(f"{visible(check.judge)}: ", style="bold")
    head.append(_WORDS[check.verdict], _STYLES[check.verdict])
    parts: list[RenderableType] = [head]
    for one in check.ways:
        parts += [Text(), *_way(one)]
    parts.append(Text(f"\n{_advice(check)}"))
    note = "The exam has few items: it finds judges that guess, and does not rank good ones. Labels do: ragstone agree."
    return Group(*parts, Text(f"\n{note}", style="dim"))


def _way(one: Examined) -> Iterator[RenderableType]:
    if one.why_not:
        yield Text(f"{one.way}: {visible(one.why_not)}", style="dim")
        return
    first = "local judge" if one.way == LOCAL else "by tokens" if one.way == TOKENS else "as JSON"
    table = Table([Column(first), *columns("right", "of", "95 % interval", "by chance"), Column("verdict")])
    for row in one.marks:
        tone = _TONES[row.verdict]
        table.add(
            row.task,
            str(row.right),
            str(row.asked),
            f"{row.interval.low:.2f} – {row.interval.high:.2f}",
            "" if row.chance is None else f"{row.chance:.2f}",
            Cell(row.verdict, tone=tone),
        )
    yield table
    for pattern in one.patterns:
        yield Text(f"{pattern[0].upper()}{pattern[1:]}.", style="red")
    again = f", {one.repaired} of them after a second request" if one.repaired else ""
    yield Text(f"Usable replies: {one.usable} of {one.asked}{again}.", style="dim")
    if one.row_cost is not None:
        yield Text(_cost(one.row_cost), style="dim")


def _cost(cost: RowCost) -> str:
    """Calls, cost and time of 100 rows."""
    time = "time unknown" if cost.seconds is None else f"{cost.seconds:,.0f} s one after the other"
    rows = "100 rows of 3 claims and 3 chunks"
    if not cost.calls:
        return f"{rows}: no model calls, {time}."
    money = "cost unknown" if cost.cost_usd is None else f"{cost.cost_usd:,.4f} usd"
    tokens = f"{cost.input_tokens:,.0f} tokens in, {cost.output_tokens:,.0f} out"
    cached = " (replies came from the cache: --no-cache measures)" if cost.seconds is None else ""
    return f"Verdicts of {rows}: {cost.calls:,.0f} calls, {tokens}, {money}, {time}{cached}."


def _advice(check: JudgeCheck) -> str:
    if check.best.way == LOCAL:
        return "The local judge reads English items only. Its card comes from far more rows and counts more: docs/trust.md."
    if check.verdict == AT_CHANCE:
        return "Do not trust its verdicts. Choose a larger model, or the local judge: --judge local."
    return f"Use --verdicts {check.best.way}."
