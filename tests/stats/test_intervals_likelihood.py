"""Empirical likelihood intervals of bounded means."""

import numpy as np
import pytest

from ragstone.stats.intervals import bounded_mean_ends, mean_interval

RANDOM = np.random.default_rng(0)
HARM = np.where(RANDOM.random(100) < 0.95, 0.0, RANDOM.random(100))


def test_the_ends_are_where_the_likelihood_ratio_reaches_its_limit():
    """Against a direct maximisation: weights n_i / (1 + tilt (x_i - mean)) with the tilt that gives the mean."""
    from scipy import optimize, stats

    values, weights = np.concatenate([[0.0], HARM, [1.0]]), np.concatenate([[0.5], np.ones(100), [0.5]])

    def ratio(mean):
        away = values - mean
        tilt = optimize.brentq(
            lambda tilt: (weights * away / (1 + tilt * away)).sum(), -1 / away.max() + 1e-9, -1 / away.min() - 1e-9
        )
        return 2 * (weights * np.log1p(tilt * away)).sum()

    for end in bounded_mean_ends(HARM, (0.0, 1.0)):
        assert ratio(end) == pytest.approx(stats.chi2.ppf(0.95, 1), abs=1e-4)


def test_the_interval_follows_the_skew():
    low, high = bounded_mean_ends(HARM, (0.0, 1.0))
    assert 0 <= low < HARM.mean() < high
    assert high - HARM.mean() > 1.3 * (HARM.mean() - low)


@pytest.mark.parametrize("value", [0.0, 0.37, 1.0])
def test_equal_values_have_a_width(value):
    low, high = mean_interval(np.full(8, value), bounds=(0.0, 1.0))
    assert 0 <= low <= value <= high <= 1
    assert high - low > 0.1
    narrow = mean_interval(np.full(80, value), bounds=(0.0, 1.0))
    assert narrow.high - narrow.low < high - low


def test_other_bounds_and_mirrored_values():
    low, high = bounded_mean_ends(HARM, (0.0, 1.0))
    assert bounded_mean_ends(1 + 4 * HARM, (1.0, 5.0)) == pytest.approx((1 + 4 * low, 1 + 4 * high))
    assert bounded_mean_ends(1 - HARM, (0.0, 1.0)) == pytest.approx((1 - high, 1 - low))


def test_a_higher_level_is_wider():
    narrow, wide = (bounded_mean_ends(HARM, (0.0, 1.0), level) for level in (0.9, 0.99))
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


@pytest.mark.parametrize("bounds", [(0.0, 1.0), (0.0, None), (None, None)])
@pytest.mark.parametrize("values", [HARM, RANDOM.random(30), np.clip(RANDOM.normal(0.8, 0.05, 25), 0, 1)])
def test_the_order_of_the_rows_changes_nothing(values, bounds):
    assert mean_interval(values, bounds=bounds) == mean_interval(RANDOM.permutation(values), bounds=bounds)
