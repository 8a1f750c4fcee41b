"""Classic paired tests and effect sizes: equal to scipy's and statsmodels', right at the edges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.descriptivestats import sign_test as their_sign_test

from ragstone.stats.paired import (
    Tally,
    pairs_to_decide,
    pairs_to_differ,
    share_difference_interval,
    sign_test,
    standardised_difference,
    superiority,
    tally,
)
from ragstone.stats.power import rows_needed

WORDS = st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=40)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=40))
def test_sign_test_equals_statsmodels(differences):
    values = np.array(differences, dtype=float)
    expected = their_sign_test(values)[1] if values.any() else 1.0
    assert sign_test(values) == pytest.approx(expected)


@given(st.lists(st.tuples(st.sampled_from([0.0, 1.0]), st.sampled_from([0.0, 1.0])), min_size=1, max_size=40))
def test_sign_test_of_shares_equals_mcnemar(pairs):
    before, after = np.array(pairs).T
    table = [[np.sum((before == a) & (after == b)) for b in (0, 1)] for a in (0, 1)]
    assert sign_test(after - before) == pytest.approx(mcnemar(table, exact=True).pvalue)


def test_effect_sizes_by_hand():
    values = np.array([1.0, 2.0, 3.0, np.nan])
    assert standardised_difference(values) == pytest.approx(2.0)
    assert tally(np.array([1.0, 0.0, -1.0, 2.0, np.nan])) == (2, 1, 1)
    assert superiority(np.array([1.0, 0.0, -1.0, 2.0, np.nan])) == 2.5 / 4


def test_effect_sizes_without_variation():
    assert standardised_difference(np.ones(5)) is None
    assert standardised_difference(np.array([1.0])) is None
    assert superiority(np.zeros(0)) is None
    assert superiority(np.zeros(3)) == 0.5
    assert sign_test(np.zeros(3)) == 1


def test_share_difference_by_hand():
    before, after = np.array([1.0] * 4 + [0.0] * 21), np.zeros(25)
    # (0 + 1) / 27 and (4 + 1) / 27: -4/27 ± 1.96 * sqrt((6/27 - (4/27)²) / 27)
    assert share_difference_interval(before, after) == pytest.approx((-0.3170, 0.0207), abs=1e-4)
    assert share_difference_interval(np.array([1.0]), np.array([0.0])) is None
    low, high = share_difference_interval(np.ones(10), np.ones(10))
    assert -high == low < 0


@pytest.mark.parametrize(("n", "up", "down"), [(25, 0.05, 0.15), (40, 0.1, 0.3), (100, 0.05, 0.1)])
def test_share_difference_covers(n, up, down):
    draws = np.random.default_rng(2).random((2000, n))
    change = np.where(draws < up, 1.0, np.where(draws < up + down, -1.0, 0.0))
    found = [share_difference_interval((row < 0).astype(float), (row > 0).astype(float)) for row in change]
    assert 0.93 <= np.mean([low <= up - down <= high for low, high in found]) <= 0.985


def share_that_decides(up, down, rows, limit):
    draws = np.random.default_rng(5).random((1500, rows))
    change = np.where(draws < up, 1.0, np.where(draws < up + down, -1.0, 0.0))
    found = [share_difference_interval((row < 0).astype(float), (row > 0).astype(float)) for row in change]
    return np.mean([low > limit or high < limit for low, high in found])


@pytest.mark.parametrize(("up", "down", "limit"), [(0.0, 0.04, -0.1), (0.04, 0.04, -0.05), (0.08, 0.04, -0.02)])
def test_about_half_of_all_samples_of_that_size_decide(up, down, limit):
    """For means in general the estimate was a third too low where few rows change."""
    seen = np.r_[np.ones(round(25 * up)), -np.ones(round(25 * down)), np.zeros(25 - round(25 * up) - round(25 * down))]
    rows = pairs_to_decide(seen, limit, 1_000_000)
    assert 0.4 <= share_that_decides(up, down, rows, limit) <= 0.65
    general = rows_needed(float(seen.std(ddof=1)), abs(seen.mean() - limit))
    assert general < rows
    if (up, down) == (0.0, 0.04):
        assert general < 0.7 * rows
        assert share_that_decides(up, down, general, limit) < share_that_decides(up, down, rows, limit)


def test_a_limit_at_the_value_is_never_decided():
    assert pairs_to_decide(np.array([1.0, -1.0, 0.0, 0.0]), 0.0, 10_000) == 10_000


@pytest.mark.parametrize(("counts", "needed"), [((0, 3, 3), 11), ((0, 18, 2), 54), ((4, 15, 1), 54), ((2, 8, 2), 1000)])
def test_pairs_at_which_the_sign_test_differs(counts, needed):
    assert pairs_to_differ(Tally(*counts), 1000) == pytest.approx(needed, abs=1)
    size = sum(counts)
    grown = [round(count * needed / size * 1.3) for count in counts]
    assert needed == 1000 or stats.binomtest(grown[0], grown[0] + grown[2]).pvalue < 0.05
