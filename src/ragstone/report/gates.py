"""A gate for people, for programs and for the test page of a CI server."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as ET

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ragstone.compare.gates import Checked, Gate
from ragstone.report.comparison import number, signed
from ragstone.report.names import MetricName
from ragstone.report.plain import indented, visible

_STYLES = {"passes": "bold green", "fails": "bold red", "cannot tell": "bold yellow"}
_MARKS = {"passes": "✓ passes", "fails": "✗ fails", "cannot tell": "? cannot tell"}


def gate_report(found: Gate) -> RenderableType:
    """The outcome and each condition, those that do not pass first."""
    title = Text("gate of ", style="bold")
    title.append(visible(found.run), style="not bold")
    if found.baseline:
        title.append(" against ")
        title.append(visible(found.baseline), style="not bold")
    title.append(f"  {_MARKS[found.outcome]}", style=_STYLES[found.outcome])
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("condition", overflow="fold")
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("95 % interval", justify="right", no_wrap=True)
    for head in ("rows", "failed"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("outcome", no_wrap=True)
    order = ("fails", "cannot tell", "passes")
    checks = sorted(found.checks, key=lambda item: order.index(item.outcome))
    for item in checks:
        table.add_row(*_cells(item))
    parts: list[RenderableType] = [title, Text(), table]
    if reasons := [f"{item.check}: {item.why}" for item in checks if item.why]:
        parts += [Text(), *map(indented, reasons)]
    if any(item.check.kind == "max-drop" for item in found.checks):
        parts.append(
            Text("\nvalue of a drop: how much better than the baseline, in pairs; below 0 is worse", style="dim")
        )
    if found.left_out:
        parts.append(Text(f"\n{left_out_line(found)}", style="dim"))
    if found.sequential:
        state = "finished" if found.finished else "not finished"
        parts.append(
            Text(
                f"\nthe run is {state}; these intervals hold at every look, if samples come in random order",
                style="dim",
            )
        )
    return Group(*parts)


def left_out_line(found: Gate) -> str:
    """For which metrics a drop without a name is, and how to hold the run to others."""
    count = len(found.left_out)
    return (
        f"--max-drop without a metric is for the headlines that both runs have; {count} other metric{'s' if count != 1 else ''} "
        f"from 0 to 1 can be named: --max-drop {visible(found.left_out[0])}=VALUE"
    )


def _cells(item: Checked) -> list[RenderableType]:
    drop = item.check.kind == "max-drop"
    ends = [signed(end) if drop else number(end) for end in item.interval or ()]
    return [
        MetricName(visible(str(item.check))),
        signed(item.value) if drop else number(item.value),
        " to ".join(ends) or "–",
        str(item.rows),
        Text(str(item.failed), style="dim" if not item.failed else "bold red"),
        Text(_MARKS[item.outcome], style=_STYLES[item.outcome]),
    ]


def gate_dict(found: Gate) -> dict[str, Any]:
    """For programs: everything."""
    return {
        "outcome": found.outcome,
        "exit_code": found.exit_code,
        "run": found.path,
        "name": found.run,
        "against": found.baseline,
        "sequential": found.sequential,
        "finished": found.finished,
        "left_out": list(found.left_out),
        "checks": [
            {
                "condition": str(item.check),
                "kind": item.check.kind,
                "metric": item.check.metric,
                "limit": item.check.limit,
                "outcome": item.outcome,
                "why": item.why,
                "value": item.value,
                "low": item.interval.low if item.interval else None,
                "high": item.interval.high if item.interval else None,
                "rows": item.rows,
                "failed": item.failed,
                "decided_after": item.decided_after,
            }
            for item in found.checks
        ],
    }


def gate_junit(found: Gate) -> str:
    """JUnit XML: a test a condition; what cannot be told is an error, not a failure."""
    outcomes = [item.outcome for item in found.checks]
    suite = ET.Element(
        "testsuite",
        name=f"ragstone gate {_xml(found.run)}",
        tests=str(len(outcomes)),
        failures=str(outcomes.count("fails")),
        errors=str(outcomes.count("cannot tell")),
    )
    for item in found.checks:
        case = ET.SubElement(
            suite, "testcase", classname=f"ragstone.gate.{item.check.kind}", name=_xml(str(item.check))
        )
        text = _xml(_sentence(item))
        if item.outcome != "passes":
            tag = "failure" if item.outcome == "fails" else "error"
            ET.SubElement(case, tag, type=item.outcome, message=text).text = text
        else:
            ET.SubElement(case, "system-out").text = text
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _sentence(item: Checked) -> str:
    ends = f", 95 % interval {item.interval.low:.3f} to {item.interval.high:.3f}" if item.interval else ""
    value = "no value" if item.value is None else f"{item.value:.3f}"
    return f"{value}{ends}, {item.rows} rows, {item.failed} failed{f': {item.why}' if item.why else ''}"


def _xml(text: str) -> str:
    """Text that XML can hold: control characters are spelled out."""
    return visible(text).encode("utf-8", "replace").decode()
