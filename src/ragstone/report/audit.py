"""What was found out about a judge, for the terminal and for programs."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ragstone.agreement.audit.auditing import Audit
from ragstone.agreement.audit.findings import Finding
from ragstone.report.plain import visible

_STYLES = {"biased": "bold red", "fair": "green", "unclear": "yellow", "not tested": "dim", "for information": "dim"}
_MARKS = {"biased": "✗", "fair": "✓", "unclear": "?", "not tested": "–", "for information": "i"}


def audit_report(found: Audit) -> RenderableType:
    """A line a bias, and for each that was found what to do."""
    count = len(found.biased)
    head = Text(f"{visible(found.judge)}: ", style="bold")
    if not found.tested:
        head.append("nothing could be found out", "yellow")
    elif count:
        head.append(f"{count} bias{'es' if count > 1 else ''} found", "red")
    else:
        head.append("no bias found", "green")
    parts: list[RenderableType] = [head, Text(), _table(found)]
    told = [finding for finding in found.findings if finding.advice]
    if told:
        parts.append(Text())
        for finding in told:
            line = Text(f"{finding.name}: ", style=_STYLES[finding.verdict])
            parts.append(line.append(visible(finding.advice), style="not bold default"))
    if found.undecided:
        why = visible(found.reason or "no reason given")
        duels = (
            "1 duel was not decided,"
            if found.undecided == 1
            else f"{found.undecided:,} duels were not decided, most of them"
        )
        parts.append(Text(f"\n{duels} since {why}", style="yellow"))
    parts.append(
        Text(
            "\nFair is what the interval allows: few answers cannot rule out a small bias. -n asks about more.",
            style="dim",
        )
    )
    return Group(*parts)


def audit_dict(found: Audit) -> dict[str, Any]:
    """The same for programs."""
    return {
        "judge": found.judge,
        "biased": [finding.name for finding in found.biased],
        "undecided": found.undecided,
        "reason": found.reason,
        "findings": [_plain(finding) for finding in found.findings],
        "runs": [run.path for run in found.runs],
    }


def _plain(finding: Finding) -> dict[str, Any]:
    values = {name: getattr(finding, name) for name in finding.__dataclass_fields__}
    return {**values, "interval": None if finding.interval is None else list(finding.interval)}


def _table(found: Audit) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("")
    table.add_column("bias", no_wrap=True)
    table.add_column("measured", justify="right", no_wrap=True)
    table.add_column("95 % interval", justify="right", no_wrap=True)
    table.add_column("fair", justify="right", no_wrap=True)
    table.add_column("n", justify="right", no_wrap=True)
    table.add_column("how often it", overflow="fold")
    for finding in found.findings:
        style, interval = _STYLES[finding.verdict], finding.interval
        table.add_row(
            Text(_MARKS[finding.verdict], style=style),
            Text(finding.name, style=style),
            "–" if finding.value is None else f"{finding.value:.2f}",
            "–" if interval is None else f"{interval.low:.2f} – {interval.high:.2f}",
            f"{finding.fair:.1f}",
            str(finding.n),
            Text(visible(finding.words), style="dim"),
        )
    return table
