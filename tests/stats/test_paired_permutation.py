"""The sign-flip test: exact where it can be, equal to scipy's, and as many false alarms as promised."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ragstone.stats.intervals import holm
from ragstone.stats.paired import flip_signs, sign_flip_test, sign_test

RANDOM = np.random.default_rng(5)


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=8))
def test_few_rows_are_exact(differences):
    values = np.array(differences, dtype=float)
    sums = [abs(np.dot(signs, values)) for signs in product((-1, 1), repeat=len(values))]
    assert sign_flip_test(values) == pytest.approx([np.mean(np.array(sums) >= abs(values.sum()))])


def test_exact_equals_scipy():
    values = RANDOM.normal(0.3, 1, (10, 3))
    expected = stats.permutation_test((values,), np.mean, permutation_type="samples", n_resamples=np.inf, axis=0)
    assert sign_flip_test(values) == pytest.approx(expected.pvalue)


def test_random_equals_scipy():
    values = RANDOM.normal(0.15, 1, (80, 3))
    expected = stats.permutation_test((values,), np.mean, permutation_type="samples", n_resamples=20_000, rng=1)
    assert sign_flip_test(values) == pytest.approx(expected.pvalue, abs=0.015)


@given(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=1, max_size=12))
def test_for_right_or_wrong_it_is_the_sign_test(differences):
    values = np.array(differences)
    p = sign_flip_test(values)[0]
    assert p == pytest.approx(sign_test(values))


def test_nothing_changed():
    assert sign_flip_test(np.zeros((20, 2))).tolist() == [1, 1]


def test_no_pair_no_p():
    values = np.array([[np.nan, 1.0], [np.nan, 2.0]])
    assert np.isnan(sign_flip_test(values)[0])
    assert sign_flip_test(values)[1] == 0.5


def test_missing_cells_count_for_nothing():
    values = np.array([0.1, np.nan, 0.3, 0.2, np.nan])
    assert sign_flip_test(values)[0] == sign_flip_test(values[~np.isnan(values)])[0] == 0.25


def test_a_random_p_is_never_0():
    assert sign_flip_test(np.ones(100), resamples=999)[0] == pytest.approx(0.001)


def test_clusters_change_sign_together():
    values, clusters = np.repeat([0.5, 0.4, 0.3, 0.6], 25), np.repeat(np.arange(4), 25)
    assert sign_flip_test(values)[0] < 0.001
    assert sign_flip_test(values, clusters)[0] == 2 / 16


def test_the_same_seed_gives_the_same_p():
    values = RANDOM.normal(0, 1, 50)
    assert sign_flip_test(values, seed=2) == sign_flip_test(values, seed=2)


@pytest.mark.parametrize(("n", "repeats"), [(12, 2000), (40, 1000)])
def test_false_alarms_on_equal_systems(n, repeats):
    """Scores of 0 to 1 of the same system twice, each with noise of its own."""
    random = np.random.default_rng(3)
    before, after = random.beta(4, 2, (2, n, repeats))
    p = np.concatenate([sign_flip_test(part, resamples=5000) for part in np.array_split(after - before, 20, axis=1)])
    assert 0.03 <= np.mean(p < 0.05) <= 0.07


@pytest.mark.slow
def test_false_alarms_with_clusters():
    random = np.random.default_rng(3)
    clusters = np.repeat(np.arange(20), 5)
    values = random.normal(0, 1, (20, 4000))[clusters] + random.normal(0, 0.5, (100, 4000))
    assert 0.03 <= np.mean(sign_flip_test(values, clusters, resamples=2000) < 0.05) <= 0.07
    assert np.mean(sign_flip_test(values[:, :400], resamples=2000) < 0.05) > 0.2  # what clusters are for


def test_joint_p_of_independent_columns_is_about_holms_and_of_copies_that_of_one():
    random = np.random.default_rng(4)
    values = random.normal(0.25, 1, (60, 8))
    apart = flip_signs(values)
    assert (apart.joint <= holm(apart.p) + 0.01).all()
    assert apart.joint == pytest.approx(holm(apart.p), abs=0.1)
    copies = flip_signs(np.repeat(values[:, :1], 8, axis=1))
    assert copies.joint == pytest.approx(copies.p)
    assert (holm(copies.p) >= copies.joint).all()


def test_joint_p_is_kept_to_its_family():
    values = np.random.default_rng(4).normal(0.25, 1, (40, 3))
    found = flip_signs(values, family=np.array([True, False, True]))
    assert np.isnan(found.joint[1])
    assert found.joint[[0, 2]] == pytest.approx(flip_signs(values[:, [0, 2]]).joint)


def test_joint_p_by_all_patterns():
    values = np.array([[1.0, 2.0], [2.0, -1.0], [3.0, 3.0], [1.0, 2.0]])
    scaled = values / np.sqrt((values**2).sum(axis=0))
    signs = np.array(list(product((-1, 1), repeat=4)))
    found, seen = np.abs(signs @ scaled), np.abs(scaled.sum(axis=0))
    first = np.mean(found.max(axis=1) >= seen[0] - 1e-9)
    second = max(first, np.mean(found[:, 1] >= seen[1] - 1e-9))
    assert seen[0] > seen[1]
    assert flip_signs(values).joint == pytest.approx([first, second])


def test_joint_false_alarms_of_a_family_stay_below_the_level():
    random = np.random.default_rng(6)
    alarms = []
    for _ in range(400):
        common = random.normal(0, 1, (30, 1))
        alarms.append((flip_signs(common + random.normal(0, 0.5, (30, 10)), resamples=400).joint < 0.05).any())
    assert np.mean(alarms) <= 0.08
