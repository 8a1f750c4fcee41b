import numpy as np
import pytest
from scipy import stats

from ragstone.stats.weighted import weighted_mean


def test_a_stratified_mean_by_the_textbook():
    """Cochran 1977, 5.3: the mean is Σ W_h ȳ_h, its variance Σ W_h² (1 − f_h) s_h² / n_h."""
    random = np.random.default_rng(0)
    sizes, draws = np.array([1000, 200, 50]), np.array([10, 8, 5])
    strata = np.repeat([0, 1, 2], draws)
    values = random.normal(strata, 1.0)
    found = weighted_mean(values, (sizes / draws)[strata], strata)
    groups = [values[strata == stratum] for stratum in range(3)]
    shares = sizes / sizes.sum()
    mean = sum(share * group.mean() for share, group in zip(shares, groups, strict=True))
    variance = sum(
        share**2 * (1 - n / size) * group.var(ddof=1) / n
        for share, group, n, size in zip(shares, groups, draws, sizes, strict=True)
    )
    assert found.mean == pytest.approx(mean)
    reach = stats.t.ppf(0.975, 23 - 3) * variance**0.5
    assert found.interval == pytest.approx((mean - reach, mean + reach))


def test_one_stratum_without_weights_is_the_usual_interval():
    values = np.array([0.2, 0.5, 0.9, 0.4])
    found = weighted_mean(values, np.full(4, 1e12), np.zeros(4))
    expected = stats.t.interval(0.95, 3, values.mean(), stats.sem(values))
    assert found.interval == pytest.approx(expected)


def test_what_was_drawn_completely_has_no_error():
    found = weighted_mean(np.array([0.0, 1.0, 1.0]), np.ones(3), np.array([0, 0, 1]))
    assert found.interval == pytest.approx((2 / 3, 2 / 3))
    alone = weighted_mean(np.array([0.3]), np.ones(1), np.zeros(1))
    assert alone.interval == (0.3, 0.3)


def test_missing_values_are_no_zeros():
    values = np.array([1.0, np.nan, 0.0, 1.0])
    found = weighted_mean(values, np.array([2.0, 2.0, 2.0, 2.0]), np.zeros(4))
    assert found.mean == pytest.approx(2 / 3)
    assert weighted_mean(np.array([np.nan]), np.ones(1), np.zeros(1)) is None


def test_single_draws_are_put_together_since_one_tells_nothing():
    values = np.array([0.0, 1.0, 0.0])
    assert weighted_mean(values[:1], np.array([9.0]), np.zeros(1)).interval is None
    found = weighted_mean(values, np.array([9.0, 9.0, 9.0]), np.array([0, 1, 2]))
    together = weighted_mean(values, np.array([9.0, 9.0, 9.0]), np.zeros(3))
    assert found == together
    with_pair = weighted_mean(np.array([0.0, 0.0, 1.0]), np.full(3, 9.0), np.array([0, 0, 1]))
    assert with_pair.interval.high > with_pair.mean
