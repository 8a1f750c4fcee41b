"""The calibration of a judge in words and as JSON."""

from io import StringIO

import numpy as np
from rich.console import Console

from ragstone.agreement.judge_check import Calibrated
from ragstone.report.judges import calibration_dict, calibration_report
from ragstone.stats.judge_error import JudgeError, Level
from ragstone.stats.logit import Platt, PlattFit

ERROR = JudgeError(Level(0.91, 0.02, 0.05, 30), Level(0.42, 0.03, 0.05, 20))


def fit(after):
    return PlattFit(Platt(0.5, -1.0), 0.6, after, 0.02, np.zeros(50))


def printed(*measured):
    stream = StringIO()
    Console(width=200, file=stream).print(calibration_report(measured))
    return stream.getvalue()


def test_a_gain_and_levels():
    one = Calibrated("answer_match", 50, 30, fit(0.4), ERROR)
    text = printed(one)
    assert "answer_match: cross-validated log-loss 0.600 → 0.400 (50 labels, 30 of them yes)" in text
    assert "later runs calibrate its probabilities" in text
    assert "mean 0.91 where people say yes, 0.42 where they say no" in text
    found = calibration_dict(one)
    assert (found["calibrated"], found["map"]) == (True, {"slope": 0.5, "intercept": -1.0})
    assert found["levels"]["accepted"]["mean"] == 0.91


def test_no_gain_and_no_levels():
    one = Calibrated("claims", 42, 14, fit(0.59), None, "no levels: why")
    text = printed(one)
    assert "no gain, probabilities stay as they are" in text
    assert "claims: no levels: why (42 labels, 14 of them yes)." in text
    found = calibration_dict(one)
    assert (found["calibrated"], found["map"], found["levels"]) == (False, None, None)
    assert found["why_not"] == "no levels: why"


def test_values_that_are_not_probabilities():
    text = printed(Calibrated("ragchecker.f1", 50, 30, None, ERROR))
    assert "log-loss" not in text
    assert "later runs show the estimated human score" in text
