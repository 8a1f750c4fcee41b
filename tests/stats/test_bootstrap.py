"""Bootstrap intervals: equal to scipy's, clusters kept together, missing cells without weight, the promised coverage."""

import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ragstone.stats import bootstrap as units_module
from ragstone.stats.bootstrap import bootstrap_means, clustered_interval, draw, make_units, resample_means
from ragstone.stats.intervals import mean_interval

RANDOM = np.random.default_rng(5)
SKEWED = RANDOM.exponential(1.0, 60)


@pytest.mark.parametrize(("ours", "theirs"), [("percentile", "percentile"), ("bca", "BCa")])
def test_equals_scipy(ours, theirs):
    found = bootstrap_means(SKEWED, method=ours, resamples=20_000)[0]
    expected = stats.bootstrap((SKEWED,), np.mean, n_resamples=20_000, method=theirs, rng=1).confidence_interval
    assert found == pytest.approx((expected.low, expected.high), abs=0.01)


def test_bca_moves_the_ends_of_skewed_data_upwards():
    percentile, bca = (bootstrap_means(SKEWED, method=method)[0] for method in ("percentile", "bca"))
    assert bca.low > percentile.low
    assert bca.high > percentile.high


def test_expanded_is_wider_where_rows_are_few():
    few = np.array([0.1, 0.5, 0.4, 0.9, 0.3])
    plain, wide = (bootstrap_means(few, method=method)[0] for method in ("percentile", "expanded"))
    assert wide.low < plain.low < plain.high < wide.high


def test_the_same_seed_gives_the_same_interval():
    assert bootstrap_means(SKEWED, seed=3) == bootstrap_means(SKEWED, seed=3)
    assert bootstrap_means(SKEWED, seed=3) != bootstrap_means(SKEWED, seed=4)


@given(st.integers(1, 30), st.integers(1, 20))
def test_every_resample_draws_as_many_as_there_are(size, resamples):
    times = draw(np.random.default_rng(0), resamples, size)
    assert times.shape == (resamples, size)
    assert (times.sum(axis=1) == size).all()


def test_columns_do_not_disturb_each_other():
    other = np.where(RANDOM.random(60) < 0.3, np.nan, RANDOM.random(60))
    alone = bootstrap_means(SKEWED)[0]
    both = bootstrap_means(np.column_stack([SKEWED, other]))
    assert both[0] == pytest.approx(alone, abs=1e-12)


def test_missing_cells_weigh_nothing():
    values = np.array([0.2, np.nan, 0.8, 0.4, np.nan, 0.9])
    means = resample_means(make_units(values), 500)[:, 0]
    found = means[~np.isnan(means)]
    assert found.min() >= 0.2
    assert found.max() <= 0.9
    assert make_units(values).means == pytest.approx([np.nanmean(values)])


def test_too_few_values_have_no_interval():
    assert bootstrap_means(np.zeros((0, 2))) == [None, None]
    assert bootstrap_means(np.array([0.4])) == [None]
    assert bootstrap_means(np.array([0.4, np.nan, np.nan])) == [None]


@pytest.mark.parametrize("method", ["expanded", "percentile", "bca"])
def test_all_equal_values_have_a_point(method):
    assert bootstrap_means(np.full(7, 0.25), method=method) == [(0.25, 0.25)]


def test_clusters_of_copies_tell_no_more_than_one_of_each():
    values = RANDOM.random(30)
    one = bootstrap_means(values)[0]
    copies = bootstrap_means(np.repeat(values, 10), clusters=np.repeat(np.arange(30), 10))[0]
    assert copies == pytest.approx(one, abs=1e-9)
    naive = bootstrap_means(np.repeat(values, 10))[0]
    assert naive.high - naive.low < 0.5 * (one.high - one.low)


def test_clusters_may_have_any_names_and_sizes():
    values, names = np.array([1.0, 0.0, 0.5, 0.25]), np.array(["b", "a", "b", "c"])
    units = make_units(values, names)
    assert units.sums[:, 0].tolist() == [0.0, 1.5, 0.25]
    assert units.counts[:, 0].tolist() == [1, 2, 1]


def test_many_rows_are_resampled_in_groups(monkeypatch):
    values = RANDOM.exponential(1.0, 9000)
    exact = bootstrap_means(values, resamples=2000)[0]
    monkeypatch.setattr(units_module, "MOST_UNITS", 1000)
    grouped = bootstrap_means(values, resamples=2000)[0]
    assert len(make_units(values).sums) == 2000
    assert grouped == pytest.approx(exact, abs=0.005)


def test_memory_stays_bounded():
    values = RANDOM.random((10_000, 20))
    tracemalloc.start()
    bootstrap_means(values, resamples=200)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 << 20


def coverage(method, n, repeats, clusters=None, resamples=1000):
    random = np.random.default_rng(11)
    hits = []
    for _ in range(repeats // 20):
        values = random.beta(4, 2, (n, 20))
        if clusters is not None:
            values = (values + random.beta(4, 2, (clusters.max() + 1, 20))[clusters]) / 2
        found = bootstrap_means(values, method=method, clusters=clusters, resamples=resamples)
        hits += [interval.low <= 4 / 6 <= interval.high for interval in found]
    return np.mean(hits)


def test_covers_the_mean_of_few_rows():
    assert 0.93 <= coverage("expanded", 12, 2000) <= 0.97


@pytest.mark.slow
@pytest.mark.parametrize(("method", "n"), [("expanded", 25), ("percentile", 60), ("bca", 60), ("expanded", 300)])
def test_covers_the_mean(method, n):
    assert 0.93 <= coverage(method, n, 4000, resamples=2000) <= 0.97


@pytest.mark.slow
def test_covers_the_mean_of_clustered_rows():
    clusters = np.repeat(np.arange(40), 8)
    assert 0.93 <= coverage("expanded", 320, 4000, clusters) <= 0.97
    assert coverage("expanded", 320, 1000, None) > 0.9  # independent rows need no clusters


@pytest.mark.slow
def test_twenty_metrics_of_ten_thousand_rows_take_seconds():
    values = RANDOM.random((10_000, 20))
    values[RANDOM.random(values.shape) < 0.1] = np.nan
    started = time.process_time()
    bootstrap_means(values, resamples=10_000)
    assert time.process_time() - started < 10


def test_clusters_widen_an_interval_and_never_narrow_it():
    random = np.random.default_rng(1)
    clusters = np.repeat([f"c{number}" for number in range(12)], 5)
    alike = np.repeat(random.uniform(size=12), 5)
    alone = mean_interval(alike, bounds=(0.0, 1.0))
    together = clustered_interval(alike, clusters, (0.0, 1.0))
    # By hand: the standard error of twelve means, by Student's t with eleven degrees of freedom.
    reach = 2.200985 * alike[::5].std(ddof=1) / 12**0.5
    assert clustered_interval(alike, clusters) == pytest.approx((alike.mean() - reach, alike.mean() + reach), abs=1e-5)
    assert together.low < alone.low < alone.high < together.high
    apart = np.tile([0.1, 0.3, 0.5, 0.7, 0.9], 12)
    assert clustered_interval(apart, clusters) == mean_interval(apart)


def test_clusters_that_agree_count_as_clusters():
    # Three questions, asked ten times each, all answered rightly: Wilson with n = 3, not 30.
    found = clustered_interval(np.ones(30), np.repeat(["a", "b", "c"], 10), (0.0, 1.0))
    assert found == pytest.approx((3 / (3 + 1.959964**2), 1.0), abs=1e-5)


@pytest.mark.parametrize(
    ("count", "size", "mean", "alike"),
    [
        (2, 20, 0.9, 0.8),
        (5, 20, 0.9, 0.8),
        (10, 20, 0.9, 0.8),
        (10, 20, 0.9, 0.3),
        (20, 20, 0.97, 0.5),
        (20, 4, 0.7, 0.05),
    ],
)
def test_clustered_intervals_cover_the_mean(count, size, mean, alike):
    """Also near a bound and if the rows of a cluster are much alike."""
    random, hits, rounds = np.random.default_rng(count), 0, 400
    odds = (1 - alike) / alike
    clusters = np.repeat(np.arange(count), size)
    for _ in range(rounds):
        shares = random.beta(mean * odds, (1 - mean) * odds, size=count)
        values = random.binomial(1, np.repeat(shares, size)).astype(float)
        low, high = clustered_interval(values, clusters, (0.0, 1.0))
        hits += low <= mean <= high
    assert hits / rounds >= 0.9


def test_one_large_cluster_counts_little():
    random, hits = np.random.default_rng(0), 0
    sizes = np.array([100, *[2] * 19])
    for _ in range(300):
        values = random.binomial(1, np.repeat(random.beta(0.8 * 7 / 3, 0.2 * 7 / 3, size=20), sizes)).astype(float)
        low, high = clustered_interval(values, np.repeat(np.arange(20), sizes), (0.0, 1.0))
        hits += low <= 0.8 <= high
    assert hits / 300 >= 0.93


def test_one_cluster_has_no_interval():
    assert clustered_interval(np.array([0.0, 1.0, np.nan]), np.array(["a", "a", "b"])) is None


@pytest.mark.parametrize("rows", [0, 1, 7, 70_000])
def test_products_in_pieces_are_the_whole_product(rows):
    draws, table = RANDOM.integers(0, 4, (9, rows)).astype(float), RANDOM.random((rows, 3))
    assert units_module.multiply(draws, table) == pytest.approx(draws @ table, rel=1e-12)
