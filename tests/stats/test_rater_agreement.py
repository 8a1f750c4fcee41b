"""Kappa, alpha, accuracy, F1, AUC and calibration: equal to scikit-learn's and krippendorff's."""

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.calibration import calibration_curve

from ragstone.stats.rater_agreement import (
    make_accuracy,
    make_alpha,
    make_auc,
    make_calibration_error,
    make_f1,
    make_kappa,
)
from ragstone.stats.resampled_measures import estimate, take_measure

RATINGS = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=40)
JUDGED = st.lists(st.tuples(st.integers(0, 1), st.floats(0, 1)), min_size=2, max_size=40)


@given(RATINGS, st.sampled_from(["none", "linear", "quadratic"]))
def test_kappa_equals_scikit_learn(pairs, weights):
    first, second = np.array(pairs, dtype=float).T
    assume(len(np.unique([first, second])) > 1)
    found = take_measure(make_kappa(first, second, weights), len(first))
    names = None if weights == "none" else weights
    assert found == pytest.approx(metrics.cohen_kappa_score(first, second, weights=names), abs=1e-9)


def test_kappa_of_raters_who_never_vary_means_nothing():
    assert take_measure(make_kappa(np.ones(4), np.ones(4)), 4) is None


@given(JUDGED)
def test_scores_against_yes_and_no_equal_scikit_learn(pairs):
    labels, scores = np.array(pairs).T
    assume(0 < labels.sum() < len(labels))
    verdicts = (scores >= 0.5).astype(float)
    rows = len(labels)
    assert take_measure(make_auc(labels, scores), rows) == pytest.approx(
        metrics.roc_auc_score(labels, scores), abs=1e-9
    )
    assert take_measure(make_accuracy(labels, verdicts), rows) == pytest.approx(
        metrics.accuracy_score(labels, verdicts), abs=1e-9
    )
    assert take_measure(make_f1(labels, verdicts), rows) == pytest.approx(metrics.f1_score(labels, verdicts), abs=1e-9)
    true, said = calibration_curve(labels, scores, n_bins=10)
    counts = np.bincount(np.searchsorted(np.linspace(0, 1, 11)[1:-1], scores), minlength=10)
    expected = np.sum(np.abs(true - said) * counts[counts > 0]) / rows
    assert take_measure(make_calibration_error(labels, scores), rows) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval"])
@given(
    st.lists(st.lists(st.sampled_from([1.0, 2.0, 3.0, 5.0, np.nan]), min_size=3, max_size=3), min_size=2, max_size=30)
)
def test_alpha_equals_krippendorff(scale, rows):
    ratings = np.array(rows)
    pairable = ratings[(~np.isnan(ratings)).sum(axis=1) > 1]
    found = take_measure(make_alpha(ratings, scale), len(ratings))
    if len(np.unique(pairable[~np.isnan(pairable)])) < 2:
        assert found is None
    else:
        theirs = krippendorff.alpha(reliability_data=ratings.T, level_of_measurement=scale)
        assert found == pytest.approx(theirs, abs=1e-9)


def test_alpha_of_a_resample_is_that_of_the_rows_repeated():
    random = np.random.default_rng(0)
    ratings = random.integers(1, 5, (30, 3)).astype(float)
    ratings[random.random((30, 3)) < 0.2] = np.nan
    times = random.integers(0, 3, 30)
    for scale in ("nominal", "ordinal", "interval"):
        expected = krippendorff.alpha(reliability_data=np.repeat(ratings, times, axis=0).T, level_of_measurement=scale)
        assert make_alpha(ratings, scale)(times[None].astype(float))[0] == pytest.approx(expected, abs=1e-9)


def test_the_interval_of_kappa_holds_the_truth():
    random, held = np.random.default_rng(1), 0
    # Two raters see the same thing and each errs with chance 0.2: they agree in 0.68, by chance in 0.5.
    for seed in range(100):
        truth = random.integers(0, 2, 100)
        first, second = (np.where(random.random(100) < 0.2, 1 - truth, truth).astype(float) for _ in range(2))
        low, high = estimate(make_kappa(first, second), np.arange(100), resamples=300, seed=seed).interval
        held += low <= (0.68 - 0.5) / 0.5 <= high
    assert 88 <= held <= 100
