"""Shrunk logistic regression: equal to scikit-learn's, right for labels between 0 and 1, folds that keep groups whole."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss as their_log_loss

from ragstone.stats.logit import choose_fit, fit_logit, log_loss, make_folds, predict_logit


def make_data(rows=200, seed=0):
    random = np.random.default_rng(seed)
    features = random.normal(size=(rows, 4))
    return features, (random.random(rows) < 1 / (1 + np.exp(-2 * features[:, 0] + 0.5))).astype(float)


@pytest.mark.parametrize("strength", [0.003, 0.1, 1.0])
def test_equals_scikit_learn(strength):
    features, labels = make_data()
    theirs = LogisticRegression(C=1 / (strength * 200), tol=1e-10, max_iter=5000).fit(features, labels)
    ours = fit_logit(features, labels, strength)
    assert ours[1:] == pytest.approx(theirs.coef_[0], abs=1e-6)
    assert ours[0] == pytest.approx(theirs.intercept_[0], abs=1e-6)
    predicted = predict_logit(features, ours)
    assert predicted == pytest.approx(theirs.predict_proba(features)[:, 1], abs=1e-6)
    assert log_loss(labels, predicted) == pytest.approx(their_log_loss(labels, predicted), abs=1e-9)


def test_a_label_in_between_is_as_good_as_its_two_ends():
    features, labels = make_data(60)
    twice = np.repeat(features, 2, axis=0), np.ravel(np.column_stack([labels, np.full(60, 1.0)]))
    assert fit_logit(features, (labels + 1) / 2, 0.1) == pytest.approx(fit_logit(*twice, 0.1), abs=1e-6)


def test_labels_that_are_all_alike_do_not_run_away():
    assert np.isfinite(fit_logit(np.random.default_rng(0).normal(size=(20, 3)), np.ones(20), 0.003)).all()


@given(st.lists(st.integers(0, 12), min_size=1, max_size=60), st.integers(2, 8))
def test_folds_keep_groups_whole_and_are_never_empty(groups, folds):
    groups = np.array(groups)
    found = make_folds(groups, folds)
    for group in np.unique(groups):
        assert len(set(found[groups == group])) == 1
    assert set(found) == set(range(min(folds, len(np.unique(groups)))))


def test_what_predicts_is_chosen_before_what_only_fits():
    features, labels = make_data(120)
    noise = np.random.default_rng(1).normal(size=(120, 80))
    groups = np.arange(120)
    assert choose_fit(labels, groups, [np.column_stack([features, noise]), features])[0] == 1
    assert choose_fit(labels, groups, [noise, features])[0] == 1
    assert choose_fit(labels, groups, [noise])[1] >= 0.1


def test_more_features_than_rows():
    features = np.random.default_rng(2).normal(size=(30, 200))
    labels = (features[:, 0] > 0).astype(float)
    theirs = LogisticRegression(C=1 / (0.1 * 30), tol=1e-12, max_iter=5000).fit(features, labels)
    assert fit_logit(features, labels, 0.1)[1:] == pytest.approx(theirs.coef_[0], abs=1e-5)
