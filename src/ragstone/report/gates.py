"""A gate in the terminal, as JSON and as JUnit XML for CI servers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree as ET

from rich.console import Group, RenderableType
from rich.text import Text

from ragstone.analysis.gate_conditions import Checked
from ragstone.analysis.gates import Gate
from ragstone.number_format import interval_text, number, places_for, signed, signed_interval
from ragstone.report.table import TONES as STYLES
from ragstone.report.table import Cell, Column, Table, columns
from ragstone.report.text import indented
from ragstone.views.phrases import counted, visible

TONES = {"passes": "good", "fails": "bad", "cannot tell": "unsure"}
MARKS = {"passes": "✓", "fails": "✗", "cannot tell": "?"}
ORDER = ("fails", "cannot tell", "passes")


def gate_report(gate: Gate) -> RenderableType:
    """The outcome and the conditions; conditions that do not pass come first."""
    heading = Text("gate of ", style="bold")
    heading.append(visible(gate.run), style="not bold")
    if gate.baseline:
        heading.append(" against ")
        heading.append(visible(gate.baseline), style="not bold")
    heading.append(f"  {MARKS[gate.outcome]} {gate.said}", style=STYLES[TONES[gate.outcome]])
    if not gate.baseline and gate.outcome == "cannot tell" and any(item.check.is_change for item in gate.checks):
        heading.append(f": there is no baseline, so nothing was compared (exit code {gate.exit_code})")
    checks = sorted(gate.checks, key=lambda item: ORDER.index(item.outcome))
    parts: list[RenderableType] = [heading, Text(), gate_table(checks)]
    if reasons := [f"{item.condition}: {item.why}" for item in checks if item.why]:
        parts += [Text(), *map(indented, reasons)]
    return Group(*parts, *(Text(f"\n{note}", style="dim") for note in gate_notes(gate)))


def acceptance_report(gate: Gate) -> RenderableType:
    """The acceptance criteria of a run, with the reasons of those that are not decided."""
    reasons = [f"{item.condition}: {item.why}" for item in gate.checks if item.why]
    return Group(gate_table(list(gate.checks)), *map(indented, [*reasons, *gate.remarks]))


def gate_notes(gate: Gate) -> Iterator[str]:
    """How to read the values, and which metrics the gate leaves out."""
    if gate.note:
        yield visible(gate.note)
    if any(item.check.is_test for item in gate.checks):
        yield "not worse: the loss is not significant, as in `compare`; only a limit such as max-drop 0.02 excludes a larger loss"
    if any(item.check.is_change and item.interval is not None and item.raw is None for item in gate.checks):
        yield "B − A: this run minus the baseline, over pairs of rows, as in `ragstone compare`"
    if any(item.raw is not None for item in gate.checks):
        yield "value of a judged metric: estimated human score, by the judge's error on labelled rows; `compare` and --json (raw) have its own mean"
    yield from map(visible, gate.remarks)
    if gate.left_out:
        yield left_out_line(gate)
    if undecided := undecided_line(gate):
        yield undecided
    if gate.sequential:
        state = "finished" if gate.finished else "not finished"
        yield f"the run is {state}; the intervals are valid at every look if samples arrive in random order"


def value_texts(item: Checked) -> tuple[str, str]:
    """The value of a condition and its interval. A change is named as in `compare`: a bare sign reads like that of a drop."""
    low, high = item.interval or (None, None)
    places = places_for(item.value, ends=(low, high))
    if item.check.is_count:
        return number(item.value, 0), ""
    if item.check.is_change:
        change = "–" if item.value is None else f"B − A {signed(item.value, places)}"
        return change, signed_interval(low, high, places)
    return number(item.value, places), interval_text(low, high, places)


def gate_table(checks: list[Checked]) -> Table:
    """One row per condition."""
    table = Table(
        [Column("condition", wrap="name"), *columns("value", "95 % interval", "rows", "failed"), Column("outcome")]
    )
    for item in checks:
        value, interval = value_texts(item)
        table.add(
            item.condition,
            Cell(value, item.value),
            Cell(interval, item.interval),
            str(item.rows),
            Cell(str(item.failed), item.failed, "bad" if item.failed else "muted"),
            Cell(item.outcome, tone=TONES[item.outcome], mark=MARKS[item.outcome]),
        )
    return table


def left_out_line(gate: Gate) -> str:
    """The metrics that --max-drop without a name covers, and how to name others."""
    return (
        "--max-drop without a metric applies to the headline metrics that both runs have; "
        f"{counted(len(gate.left_out), 'other metric')} from 0 to 1 can be named: "
        f"--max-drop {visible(gate.left_out[0])}=VALUE"
    )


def undecided_line(gate: Gate) -> str:
    """The exit code of "cannot tell", and how to change it; empty if the gate is decided."""
    if gate.outcome != "cannot tell":
        return ""
    if gate.inconclusive == "pass" and gate.exit_code:
        return "rows of the baseline are missing or not judged: that is not a warning, exit code 4"
    if gate.inconclusive == "pass":
        return '"cannot tell" counts as a warning (inconclusive: pass); the exit code is 0'
    return (
        '"cannot tell" counts as a failure, exit code 4. To make it a warning: --inconclusive pass, or '
        'inconclusive = "pass" in [gate] of ragstone.toml'
    )


def gate_dict(gate: Gate) -> dict[str, Any]:
    """The gate as JSON."""
    same = ("outcome", "exit_code", "inconclusive", "note", "sequential", "finished")
    return {name: getattr(gate, name) for name in same} | {
        "run": gate.path,
        "name": gate.run,
        "against": gate.baseline,
        "left_out": list(gate.left_out),
        "remarks": list(gate.remarks),
        "checks": [_check_dict(item) for item in gate.checks],
    }


def _check_dict(item: Checked) -> dict[str, Any]:
    low, high = item.interval or (None, None)
    asked = {name: getattr(item.check, name) for name in ("kind", "metric", "limit")}
    same = ["condition", "outcome", "why", "value", "rows", "failed", "lost", "decided_after", "raw", "failing"]
    return {name: getattr(item, name) for name in [*same, "perhaps_wrong"]} | asked | {"low": low, "high": high}


def gate_junit(gate: Gate) -> str:
    """JUnit XML: one test per condition. "cannot tell" is an error, not a failure."""
    outcomes = [item.outcome for item in gate.checks]
    root = ET.Element("testsuites")
    suite = ET.SubElement(
        root,
        "testsuite",
        name=f"ragstone gate {_xml(gate.run)}",
        tests=str(len(outcomes)),
        failures=str(outcomes.count("fails")),
        errors=str(outcomes.count("cannot tell")),
    )
    if gate.remarks:
        properties = ET.SubElement(suite, "properties")
        for remark in gate.remarks:
            ET.SubElement(properties, "property", name="remark", value=_xml(remark))
    for item in gate.checks:
        name = f"ragstone.gate.{item.check.kind}"
        case = ET.SubElement(suite, "testcase", classname=name, name=_xml(item.condition))
        text = _xml(_sentence(item))
        if item.outcome == "passes":
            ET.SubElement(case, "system-out").text = text
        else:
            tag = "failure" if item.outcome == "fails" else "error"
            ET.SubElement(case, tag, type=item.outcome, message=text).text = text
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _sentence(item: Checked) -> str:
    shown, interval = value_texts(item)
    ends = f", 95 % interval {interval.replace(' – ', ' to ')}" if item.interval else ""
    value = "no value" if item.value is None else shown
    lost = f", {item.lost} lost" if item.lost else ""
    return f"{value}{ends}, {item.rows} rows, {item.failed} failed{lost}{f': {item.why}' if item.why else ''}"


def _xml(text: str) -> str:
    """Text without characters that XML does not allow."""
    return visible(text).encode("utf-8", "replace").decode()
