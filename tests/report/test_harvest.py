"""Harvested logs in the terminal."""

import numpy as np

from ragstone.report.harvest import calibration_report, left_out_report
from tests.report.drawing import draw


def test_reasons_are_sorted_by_count():
    report = left_out_report({"no answer": 2, "damaged\x1b": 1_500}, {"damaged\x1b": "part 1, line 3"})
    lines = draw(report).splitlines()
    assert lines[1].split() == ["damaged\\x1b", "1,500", "part", "1,", "line", "3"]
    assert lines[2].split() == ["no", "answer", "2"]


def test_nothing_was_left_out():
    assert left_out_report({}, {}) is None


def test_calibration_counts_every_label():
    text = draw(calibration_report(np.array([0.05, 0.95, 0.95]), np.array([False, True, True])))
    assert "0.9 to 1.0" in text
    assert "over 3 labelled answers" in text
