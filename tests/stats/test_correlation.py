"""Correlations: equal to scipy's, honest where nothing varies, and in resamples the same as with the rows repeated."""

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from ragstone.stats.correlation import (
    COEFFICIENTS,
    Scored,
    correlate_at,
    correlate_each,
    make_correlation,
    make_partial,
)
from ragstone.stats.rater_agreement import make_auc
from ragstone.stats.resampled_measures import estimate, take_measure


def correlate(first, second, coefficient="spearman"):
    return take_measure(make_correlation(first, second, coefficient), len(first))


def somers(first, second):
    """Theirs takes the labels first, and divides 0 by 0 for the p of some symmetric tables."""
    with np.errstate(invalid="ignore"):
        return (stats.somersd(second, first).statistic,)


THEIRS = {"spearman": stats.spearmanr, "pearson": stats.pearsonr, "kendall": stats.kendalltau, "somers": somers}
NUMBERS = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e3, 1e3))


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@example([(0.0, 1.0), (-1.0, 0.0), (-1.0, 2.0), (-2.0, 1.0)])
@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=3, max_size=40))
def test_equals_scipy(coefficient, pairs):
    first, second = np.array(pairs).T
    found = correlate(first, second, coefficient)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        assert found is None
    elif min(np.ptp(first), np.ptp(second)) > 1e-6:  # scipy warns of what is nearly constant
        assert found == pytest.approx(THEIRS[coefficient](first, second)[0], abs=1e-9)
        assert correlate_each(first[None], second[None], coefficient)[0] == pytest.approx(found, abs=1e-9)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_a_resample_is_the_rows_repeated(coefficient):
    random = np.random.default_rng(0)
    first, second = random.integers(0, 6, 50).astype(float), random.normal(size=50)
    times = random.integers(0, 3, (4, 50))
    found = make_correlation(first, second, coefficient)(times.astype(float))
    for row, value in zip(times, found, strict=True):
        expected = THEIRS[coefficient](np.repeat(first, row), np.repeat(second, row))[0]
        assert value == pytest.approx(expected, abs=1e-9)


def test_what_is_constant_but_for_rounding_does_not_vary():
    nearly = np.array([0.1 + 0.2, 0.3, 0.3]) * 1e6
    assert correlate(nearly, np.array([1.0, 2.0, 3.0]), "pearson") is None
    assert correlate(np.ones(5), np.arange(5.0)) is None
    assert correlate(np.ones(1), np.ones(1)) is None


def test_partial_is_the_correlation_of_residuals():
    random = np.random.default_rng(1)
    strata = random.integers(0, 4, 80)
    first = strata + random.normal(size=80)
    second = 2 * strata + 0.5 * first + random.normal(size=80)
    dummies = np.eye(4)[strata]
    for coefficient, prepared in (("pearson", (first, second)), ("spearman", map(stats.rankdata, (first, second)))):
        left = [sm.OLS(values, dummies).fit().resid for values in prepared]
        found = take_measure(make_partial(first, second, strata, coefficient), 80)
        assert found == pytest.approx(stats.pearsonr(*left)[0], abs=1e-9)


def test_partial_sees_through_systems_that_differ():
    random = np.random.default_rng(2)
    strata = np.repeat([0, 1, 2], 100)
    first, second = strata * 5 + random.normal(size=(2, 300))
    assert correlate(first, second, "pearson") > 0.9
    assert abs(take_measure(make_partial(first, second, strata, "pearson"), 300)) < 0.2
    assert take_measure(make_partial(strata * 1e3, second, strata, "pearson"), 300) is None


@pytest.mark.slow
@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_the_interval_holds_a_known_correlation(coefficient):
    """Of 200 samples with known correlation the interval should hold it in about 190; rows of one input are alike."""
    random = np.random.default_rng(3)
    shared = 0.5  # share of the variance that belongs to the input
    rho = 0.6
    true = (
        rho
        if coefficient == "pearson"
        else (6 if coefficient == "spearman" else 2) / np.pi * np.arcsin(rho / 2 if coefficient == "spearman" else rho)
    )
    held = 0
    mix = np.linalg.cholesky([[1, rho], [rho, 1]])
    groups = np.repeat(np.arange(40), 3)
    for seed in range(200):
        common, own = random.normal(size=(40, 2)) @ mix.T, random.normal(size=(120, 2)) @ mix.T
        first, second = (np.sqrt(shared) * common[groups] + np.sqrt(1 - shared) * own).T
        low, high = estimate(make_correlation(first, second, coefficient), groups, resamples=400, seed=seed).interval
        held += low <= true <= high
    assert 180 <= held <= 198


def test_somers_is_twice_the_auc_less_one_for_yes_and_no():
    random = np.random.default_rng(4)
    labels, scores = random.integers(0, 2, 60).astype(float), random.integers(0, 7, 60).astype(float)
    auc = take_measure(make_auc(labels, scores), 60)
    assert correlate(scores, labels, "somers") == pytest.approx(2 * auc - 1)


def test_somers_does_not_prefer_scores_that_are_yes_and_no_themselves():
    labels = np.repeat([0.0, 1.0], 20)
    fine = labels + np.linspace(0, 0.5, 40)
    assert correlate(labels, labels, "spearman") > correlate(fine, labels, "spearman")
    assert correlate(labels, labels, "somers") == correlate(fine, labels, "somers") == 1


def test_given_the_stratum_only_its_own_pairs_count():
    random = np.random.default_rng(5)
    first, second = random.integers(0, 5, (2, 40)).astype(float)
    strata = random.integers(0, 3, 40)
    pairs = [(one, other) for one in range(40) for other in range(one) if strata[one] == strata[other]]
    signs = np.array([[np.sign(side[one] - side[other]) for side in (first, second)] for one, other in pairs])
    order, ours, theirs = signs.prod(axis=1).sum(), np.abs(signs[:, 0]).sum(), np.abs(signs[:, 1]).sum()
    assert take_measure(make_partial(first, second, strata, "kendall"), 40) == pytest.approx(
        order / (ours * theirs) ** 0.5
    )
    assert take_measure(make_partial(first, second, strata, "somers"), 40) == pytest.approx(order / theirs)


def test_perfect_agreement_of_few_units_has_no_interval():
    for count, is_known in ((4, False), (40, True)):
        labels = np.arange(count) % 2.0
        rows = Scored(labels.copy(), labels, np.arange(count), np.zeros(count))
        found = correlate_at("dataset", rows, "somers")
        assert found.value == 1.0
        assert (found.interval is not None) is is_known
