"""Corrections for many tests: equal to statsmodels', no test stays no test.

Intervals of a mean: equal to scipy's, right at the edges, and covering what they promise.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from ragstone.stats.intervals import (
    correct,
    exact_share_interval,
    mean_interval,
    studentised_interval,
    unanimous_interval,
    wilson_interval,
)

P = st.lists(st.floats(0, 1), min_size=1, max_size=30)


@pytest.mark.parametrize(("ours", "theirs"), [("holm", "holm"), ("bh", "fdr_bh")])
@given(p=P)
def test_equals_statsmodels(ours, theirs, p):
    assert correct(np.array(p), ours) == pytest.approx(multipletests(p, method=theirs)[1])


@given(P)
def test_no_correction_makes_p_smaller(p):
    for correction in ("holm", "bh", "none"):
        assert (correct(np.array(p), correction) >= np.array(p) - 1e-15).all()


def test_what_was_not_tested_does_not_count():
    assert correct(np.array([0.01, np.nan, 0.04]), "holm") == pytest.approx([0.02, np.nan, 0.04], nan_ok=True)
    assert correct(np.array([np.nan]), "bh") == pytest.approx([np.nan], nan_ok=True)
    assert len(correct(np.zeros(0))) == 0


def test_holm_keeps_false_alarms_of_the_whole_family_below_the_level():
    p = np.random.default_rng(2).random((4000, 20))
    alarms = [(correct(row) < 0.05).any() for row in p]
    assert 0.03 <= np.mean(alarms) <= 0.07
    assert np.mean((p < 0.05).any(axis=1)) > 0.5


SHARE = (0.0, 1.0)


@given(st.lists(st.floats(0.45, 0.55), min_size=5, max_size=30), st.sampled_from([0.5, 0.9, 0.95]))
def test_t_equals_scipy_far_from_the_bounds(values, level):
    values = np.array(values)
    if values.std(ddof=1) < 1e-3:
        values[0] += 0.02
    expected = stats.t.interval(level, len(values) - 1, values.mean(), stats.sem(values))
    assert mean_interval(values, level, bounds=SHARE) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@given(st.data(), st.integers(1, 500), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_wilson_equals_scipy(data, n, level):
    successes = data.draw(st.integers(0, n))
    expected = stats.binomtest(successes, n).proportion_ci(level, method="wilson")
    assert wilson_interval(successes, n, level) == pytest.approx((expected.low, expected.high), abs=1e-12)
    values = np.repeat([1.0, 0.0], [successes, n - successes])
    assert mean_interval(values, level, SHARE) == wilson_interval(successes, n, level)


def test_an_interval_stays_within_the_bounds():
    values = np.array([0.1, 0.9, 0.95])
    assert mean_interval(values).low < 0
    inside = mean_interval(values, bounds=SHARE)
    assert 0 < inside.low < values.mean() < inside.high < 1
    assert mean_interval(values, bounds=(None, 1.0)).high <= 1
    assert mean_interval(values, bounds=(0.0, None)).low >= 0


def test_zeros_and_ones_are_no_share_if_the_metric_has_other_bounds():
    values = np.array([0.0, 1.0, 1.0])
    assert mean_interval(values, bounds=(0.0, None)) != mean_interval(values, bounds=SHARE)


@pytest.mark.parametrize("bounds", [SHARE, (None, None)], ids=["share", "free"])
def test_no_rows_no_interval(bounds):
    assert mean_interval(np.zeros(0), bounds=bounds) is None


def test_one_row():
    assert mean_interval(np.array([0.5]), bounds=SHARE) is None
    low, high = mean_interval(np.array([1.0]), bounds=SHARE)
    assert 0 < low < 0.5
    assert high == 1


def test_all_equal():
    low, high = mean_interval(np.full(8, 0.3), bounds=SHARE)
    assert low < 0.25
    assert high > 0.35
    assert mean_interval(np.full(8, 0.3)) is None
    assert mean_interval(np.ones(5), bounds=SHARE).low == pytest.approx(0.5655, abs=1e-4)
    assert mean_interval(np.zeros(5), bounds=SHARE) == (0, pytest.approx(0.4345, abs=1e-4))


@given(st.lists(st.floats(0, 1), min_size=2, max_size=20))
def test_the_mean_is_inside(values):
    low, high = mean_interval(np.array(values), bounds=SHARE)
    assert 0 <= low <= np.mean(values) + 1e-12
    assert np.mean(values) - 1e-12 <= high <= 1


@pytest.mark.slow
def test_t_covers_the_mean_of_normal_data():
    draws = np.random.default_rng(7).normal(3, 2, size=(4000, 50))
    hits = [low <= 3 <= high for low, high in map(mean_interval, draws)]
    assert 0.93 <= np.mean(hits) <= 0.97


def test_wilson_covers_the_share():
    counts = np.random.default_rng(7).binomial(50, 0.3, size=20_000)
    intervals = np.array([wilson_interval(successes, 50) for successes in range(51)])[counts]
    assert 0.93 <= np.mean((intervals[:, 0] <= 0.3) & (intervals[:, 1] >= 0.3)) <= 0.97


def test_that_all_agree_is_no_certainty():
    # None of ten seen: Wilson allows z² / (n + z²), 0.2775 of them, to be as far off as can be.
    share = 1.959963984540054**2 / (10 + 1.959963984540054**2)
    assert unanimous_interval(1.0, 10, (0.0, 1.0)) == pytest.approx((1 - share, 1.0))
    assert unanimous_interval(0.5, 10, (0.0, 1.0)) == pytest.approx((0.5 - share / 2, 0.5 + share / 2))
    assert unanimous_interval(0.0, 10, (-1.0, 1.0)) == pytest.approx((-share, share))


def test_tiny_differences_have_an_interval():
    low, high = mean_interval(np.array([0.0, 2.9647615051022726e-120]), bounds=SHARE)
    assert 0 <= low <= high <= 1


def test_rounding_of_equal_values_does_not_stretch_a_resampled_interval():
    values = np.array([0.1 + 0.2 + 0.7 / 3] * 14 + [0.2])
    found = studentised_interval(float(values.mean()), values, 0.0, 0.95)
    assert -1.0 < found.low < values.mean() < found.high < 2.0


def test_exact_share_intervals_are_those_of_scipy():
    for successes, n, level in ((0, 7, 0.95), (16, 17, 0.99), (7, 7, 0.95), (3, 40, 0.9)):
        theirs = stats.binomtest(successes, n).proportion_ci(level, "exact")
        assert exact_share_interval(successes, n, level) == pytest.approx(tuple(theirs))


@pytest.mark.parametrize("value", [0.7, 0.1, 1e6 + 0.1])
def test_equal_values_that_rounding_makes_different(value):
    assert studentised_interval(value, np.full(35, value), 0.0, 0.95) == (value, value)
