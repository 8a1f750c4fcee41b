"""Paired differences of metrics, and their verdicts."""

import numpy as np
import pytest

from ragstone.analysis.differences import Settings, judge, measure
from ragstone.storage.run_info import MetricInfo
from ragstone.storage.scores import FAILED, OK, SKIPPED, Scores


def column(values, states=None):
    values = np.array(values, dtype=float)
    return Scores(values, np.full(len(values), OK, dtype=np.int8) if states is None else np.array(states, np.int8))


def compare(before, after, **declared):
    [item] = judge(
        [measure([MetricInfo.declare("m", **declared)], {"m": before}, {"m": after}, Settings())], Settings()
    )[0]
    return item


def test_a_clear_gain_is_better_and_for_a_low_metric_worse():
    before, after = column(np.linspace(0.1, 0.5, 40)), column(np.linspace(0.1, 0.5, 40) + 0.2)
    assert compare(before, after).verdict == "better"
    low = compare(before, after, better="lower")
    assert (low.verdict, low.gain) == ("worse", pytest.approx(-0.2))
    assert low.gain_interval.high <= 0


def test_without_a_direction_there_is_no_verdict():
    item = compare(column(np.zeros(40)), column(np.ones(40)), better="none")
    assert (item.verdict, item.gain, item.difference) == (None, None, 1.0)


def test_five_pairs_are_too_few():
    assert compare(column([0.0] * 5), column([1.0] * 5)).verdict == "too few rows"
    assert compare(column([0.0] * 6), column([1.0] * 6)).verdict == "better"


def test_pairs_without_values_are_counted_by_reason():
    nan = float("nan")
    item = compare(column([0.1, nan, nan, 0.4], [OK, SKIPPED, FAILED, OK]), column([0.2, 0.3, 0.4, 0.5]))
    assert (item.pairs, item.skipped, item.failed) == (2, 1, 1)
    assert (item.skipped_before, item.skipped_after) == (1, 0)


def test_no_metrics_no_differences():
    assert measure([], {}, {}, Settings()) == []
