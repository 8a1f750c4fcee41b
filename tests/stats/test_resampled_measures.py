"""Bootstrap intervals of measures: whole inputs are drawn, and undefined measures have no interval."""

import numpy as np
import pytest

from ragstone.stats.resampled_measures import draw_rows, estimate, estimate_mean, spread, take_measure

VALUES = np.random.default_rng(3).normal(0.5, 0.1, 60)


def mean(times):
    return times @ VALUES / times.sum(axis=1)


def test_the_estimate_uses_every_row_once():
    assert take_measure(mean, len(VALUES)) == pytest.approx(VALUES.mean())
    assert take_measure(lambda times: np.full(len(times), np.nan), 3) is None


def test_the_interval_contains_the_estimate():
    result = estimate(mean, np.arange(60))
    assert result.interval.low < result.value < result.interval.high
    assert len(result.drawn) == 2000


def test_rows_of_an_input_are_drawn_together():
    groups = np.repeat(np.arange(5), 3)
    times = np.concatenate(list(draw_rows(groups, 50)))
    assert times.shape == (50, 15)
    assert (times[:, ::3] == times[:, 1::3]).all()
    assert (times[:, ::3].sum(axis=1) == 5).all()


def test_no_rows_and_one_input():
    assert estimate(mean, np.array([])).value is None
    assert estimate(mean, np.zeros(60)).interval is None


def test_too_few_resamples_with_a_value():
    assert spread(np.array([1.0] * 7 + [np.nan] * 3), 10) is None
    assert spread(np.array([1.0] * 9 + [np.nan]), 10) == (1, 1)


def test_equal_values_are_not_certain():
    interval = estimate_mean(np.ones(10), np.arange(10), (0.0, 1.0)).interval
    assert interval.low < 1
    assert interval.high == 1
