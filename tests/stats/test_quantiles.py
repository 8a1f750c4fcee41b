"""Intervals of quantiles: ranks by hand, and simulated coverage."""

from statistics import NormalDist

import numpy as np
import pytest

from ragstone.stats.bootstrap import clustered_interval
from ragstone.stats.quantiles import compare_quantiles, quantile_interval, quantile_of, rows_for_interval

NORMAL = NormalDist()


def test_the_median_of_ten_values_by_hand():
    """Bin(10, 1/2): P(B ≤ 1) = 11/1024 is below 2.5 %, P(B ≤ 2) = 56/1024 is not; so ranks 2 and 9 (Conover 1999)."""
    values = np.array([5.0, 1, 9, 3, 7, 2, 8, 4, 10, 6])
    assert quantile_of(values, 0.5) == 5.5
    assert quantile_interval(values, 0.5) == (2.0, 9.0)


def test_the_fewest_rows_by_hand():
    """1 − 0.95ⁿ reaches 97.5 % at n = 72, 1 − 0.9ⁿ at 36, 1 − 0.5ⁿ at 6."""
    assert [rows_for_interval(q) for q in (0.5, 0.9, 0.95, 0.1)] == [6, 36, 72, 36]
    for q, rows in ((0.5, 6), (0.9, 36), (0.95, 72)):
        assert quantile_interval(np.arange(rows - 1.0), q) is None
        low, high = quantile_interval(np.arange(float(rows)), q)
        assert low < quantile_of(np.arange(float(rows)), q) <= high


def test_no_rows_and_equal_rows():
    assert quantile_interval(np.zeros(0), 0.5) is None
    assert quantile_interval(np.full(80, 2.0), 0.95) == (2.0, 2.0)


def test_clusters_of_one_row_change_little_and_large_ones_widen():
    values = np.random.default_rng(0).lognormal(size=300)
    alone = quantile_interval(values, 0.9)
    single = quantile_interval(values, 0.9, clusters=np.arange(300))
    assert single.low <= alone.low
    assert single.high >= alone.high
    copies = np.repeat(values[:60], 5)
    wide = quantile_interval(copies, 0.9, clusters=np.repeat(np.arange(60), 5))
    naive = quantile_interval(copies, 0.9)
    assert wide.low <= naive.low
    assert wide.high >= naive.high
    assert wide.high - wide.low > 1.5 * (naive.high - naive.low)
    assert quantile_interval(values, 0.9, clusters=np.zeros(300)) is None


@pytest.mark.parametrize(("rows", "q"), [(80, 0.5), (80, 0.95), (200, 0.9)])
def test_coverage(rows, q):
    random, true = np.random.default_rng(1), -np.log(1 - q)
    ends = [quantile_interval(random.exponential(size=rows), q) for _ in range(600)]
    assert np.mean([low <= true <= high for low, high in ends]) > 0.93


@pytest.mark.parametrize("q", [0.5, 0.9])
def test_coverage_with_clusters(q):
    random, true, covered, naive = np.random.default_rng(2), NORMAL.inv_cdf(q), [], []
    clusters = np.repeat(np.arange(60), 5)
    for _ in range(400):
        values = 0.8 * np.repeat(random.normal(size=60), 5) + 0.6 * random.normal(size=300)
        low, high = quantile_interval(values, q, clusters=clusters)
        covered.append(low <= true <= high)
        low, high = quantile_interval(values, q)
        naive.append(low <= true <= high)
    assert np.mean(covered) > 0.93
    assert np.mean(naive) < np.mean(covered)


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "q"), [(80, 0.5), (80, 0.95), (200, 0.9)])
def test_coverage_and_error_rate_of_a_difference(rows, q):
    random, covered, false = np.random.default_rng(3), [], []
    true = np.exp(0.3 + NORMAL.inv_cdf(q)) - np.exp(NORMAL.inv_cdf(q))
    for seed in range(300):
        shared = 0.8 * random.normal(size=rows)
        before, after, same = (np.exp(shift + shared + 0.6 * random.normal(size=rows)) for shift in (0, 0.3, 0))
        found = compare_quantiles(before, after, q, resamples=600, seed=seed)
        covered.append(found.interval.low <= true <= found.interval.high)
        false.append(compare_quantiles(before, same, q, resamples=300, seed=seed).p < 0.05)
    assert np.mean(covered) > 0.92
    assert np.mean(false) < 0.09


def test_a_large_shift_is_found_and_too_few_rows_are_not_compared():
    values = np.random.default_rng(4).lognormal(size=120)
    found = compare_quantiles(values, values + 3, 0.95, resamples=400)
    assert found.p < 0.01
    assert found.interval.low <= 3 <= found.interval.high
    assert found.interval.low > 0
    assert compare_quantiles(values[:60], values[:60] + 3, 0.95) is None
    clustered = compare_quantiles(values, values + 3, 0.5, clusters=np.repeat(np.arange(24), 5), resamples=400)
    assert clustered.p < 0.01


def test_the_mean_of_clusters_of_one_size_is_that_of_their_means():
    values = np.array([1.0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 0])
    clusters = np.repeat(np.arange(6), 2)
    low, high = clustered_interval(values, clusters, bounds=(0.0, 1.0))
    assert 0 < low < values.mean() < high < 1
    assert clustered_interval(values[:11], clusters[:11], bounds=(0.0, 1.0)).high <= 1
    assert clustered_interval(np.ones(3), np.zeros(3)) is None
