"""A gate in the terminal, as JSON and as JUnit XML."""

from xml.etree import ElementTree as ET

from ragstone.analysis.gate_conditions import Check, Checked
from ragstone.analysis.gates import Gate
from ragstone.analysis.row_moves import FEW_CAN_FAIL
from ragstone.report.gates import gate_dict, gate_junit, gate_report, value_texts
from ragstone.report.markdown import gate_markdown
from ragstone.stats.intervals import Interval
from tests.report.drawing import draw

GATE = Gate(
    "new\x1b",
    "runs/1",
    "old",
    (
        Checked(Check("min", "a", 0.5), "passes", "", 0.6, Interval(0.55, 0.65), 20),
        Checked(Check("max-drop", "b", 0.02), "cannot tell", "too wide", -0.01, Interval(-0.05, 0.03), 20, 1),
        Checked(Check("max", "c", 0.1), "fails", "too high", 0.3, Interval(0.2, 0.4), 20),
    ),
)


def test_failed_conditions_come_first():
    lines = draw(gate_report(GATE)).splitlines()
    assert lines[0] == "gate of new\\x1b against old  ✗ fails"
    assert [line.split()[0] for line in lines[3:6]] == ["c", "b", "a"]
    assert "B − A -0.010  -0.050 to +0.030" in lines[4]
    assert "  b drop ≤ 0.02: too wide" in lines


def test_a_pass_says_what_it_cannot_show():
    weak = Checked(Check("max-new-failures", "", 0), "passes", f"1 fixed; {FEW_CAN_FAIL}", 0.0, rows=20)
    gate = Gate("new", "runs/1", "old", (weak,))
    assert draw(gate_report(gate)).splitlines()[0] == f"gate of new against old  ✓ passes, but {FEW_CAN_FAIL}"
    assert f"passes, but {FEW_CAN_FAIL}" in gate_markdown(gate).splitlines()[0]


def test_a_gain_does_not_read_like_a_drop():
    drop = Check("max-drop", "b", 0.02)
    changes = [Checked(drop, "passes", "", value) for value in (0.029, -0.5, 0.0, None)]
    assert [value_texts(item)[0] for item in changes] == ["B − A +0.029", "B − A -0.500", "B − A 0.000", "–"]


def test_junit_has_failures_and_errors():
    suite = ET.fromstring(gate_junit(GATE))[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "1")
    assert "\x1b" not in suite.get("name")


def test_json_has_all_conditions():
    checks = gate_dict(GATE)["checks"]
    assert [(check["metric"], check["outcome"], check["low"]) for check in checks] == [
        ("a", "passes", 0.55),
        ("b", "cannot tell", -0.05),
        ("c", "fails", 0.2),
    ]
