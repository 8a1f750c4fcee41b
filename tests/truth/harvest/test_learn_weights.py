import numpy as np
import pytest
from scipy import optimize

from ragstone.truth.harvest import learn_weights as learning
from ragstone.truth.harvest.learn_weights import calibration, calibration_error, learn
from ragstone.truth.harvest.signals import FEATURES, Weights


def simulate(weights, n, seed=0, prior=0.0):
    """Answers with random signals, good with the probability that some weights give them."""
    random = np.random.default_rng(seed)
    features = (random.random((n, len(FEATURES))) < 0.3).astype(float)
    features[:, FEATURES.index("reading_time")] *= random.uniform(-1, 1, n)
    good = random.random(n) < Weights(weights, prior).probabilities(features)
    return features, good


TRUE = {
    "like": 1.0,
    "dislike": -4.0,
    "copy": 3.0,
    "regenerate": 0.0,
    "reading_time": 2.0,
    "thanks": 0.2,
    "complaint": -1.0,
}


@pytest.mark.parametrize("pull", [0.1, 3.0, 30.0])
def test_the_fit_is_the_least_penalised_loss(pull):
    features, good = simulate(TRUE, 200)
    start = Weights(prior=0.4)
    found = learning._fit(features, good, start, pull)
    home = np.concatenate([[start.prior], start.vector()])

    def loss(weights):
        margins = np.where(good, 1, -1) * (weights[0] + features @ weights[1:])
        return np.log1p(np.exp(-margins)).sum() + pull / 2 * ((weights - home) ** 2).sum()

    expected = optimize.minimize(loss, home, method="BFGS", options={"gtol": 1e-6}).x
    assert np.concatenate([[found.prior], found.vector()]) == pytest.approx(expected, abs=1e-4)


def test_separable_labels_do_no_harm():
    features = np.eye(len(FEATURES))[[0] * 50 + [1] * 50]
    good = np.array([True] * 50 + [False] * 50)
    found = learning._fit(features, good, Weights(), 0.1)
    assert found.weights["like"] > 3.0
    assert found.weights["dislike"] < -3.0
    assert np.isfinite(found.vector()).all()


def test_weights_that_are_far_from_the_usual_are_learned():
    features, good = simulate(TRUE, 1500, prior=0.5)
    learned = learn(features, good, Weights())
    assert learned.won
    assert learned.loss_after < learned.loss_before
    assert learned.gain_in_errors > 3
    assert learned.labels == 1500
    assert learned.good == good.sum()
    for name, weight in TRUE.items():
        assert learned.weights.weights[name] == pytest.approx(weight, abs=0.8), name
    # On answers that nobody has seen they are better as well.
    fresh, truth = simulate(TRUE, 4000, seed=9, prior=0.5)

    def loss(weights):
        probabilities = weights.probabilities(fresh)
        return -np.log(np.where(truth, probabilities, 1 - probabilities)).mean()

    assert loss(learned.weights) < loss(Weights())
    assert loss(learned.weights) == pytest.approx(learned.loss_after, abs=0.03)


def test_the_usual_weights_stay_where_they_are_right():
    stayed = 0
    for seed in range(8):
        features, good = simulate(Weights().weights, 80, seed=seed)
        learned = learn(features, good, Weights())
        if not learned.won:
            stayed += 1
            assert learned.weights == Weights()
            assert "standard error" in learned.reason
    assert stayed >= 6


def test_too_few_labels_teach_nothing():
    features, good = simulate(TRUE, 19)
    learned = learn(features, good, Weights())
    assert not learned.won
    assert learned.loss_after is None
    assert learned.weights == Weights()
    assert learned.reason.startswith("too few labels: ")
    features, _ = simulate(TRUE, 100)
    assert not learn(features, np.ones(100, dtype=bool), Weights()).won


def test_the_same_labels_teach_the_same():
    features, good = simulate(TRUE, 120)
    assert learn(features, good, Weights()) == learn(features, good, Weights())


def test_calibration_by_hand():
    bins = calibration(np.array([0.05, 0.08, 0.95, 1.0, 0.55]), np.array([False, True, True, True, False]))
    assert [(one.low, one.count, one.good) for one in bins] == [(0.0, 2, 0.5), (0.5, 1, 0.0), (0.9, 2, 1.0)]
    assert bins[0].said == pytest.approx(0.065)
    assert calibration_error(bins) == pytest.approx((2 * 0.435 + 0.55 + 2 * 0.025) / 5)
