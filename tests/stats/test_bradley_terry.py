"""Strengths from duels, against a logistic regression of another library and against known players."""

import numpy as np
import pytest
import statsmodels.api as sm

from ragstone.stats.bradley_terry import Duels, rate, strengths


def test_two_players_have_the_log_odds_of_their_wins():
    values, smoothed = strengths(np.array([[0.0, 30.0], [10.0, 0.0]]))
    assert values == pytest.approx([np.log(3) / 2, -np.log(3) / 2])
    assert not smoothed


@pytest.mark.parametrize("seed", range(5))
def test_strengths_are_those_of_a_logistic_regression(seed):
    random = np.random.default_rng(seed)
    players = 5
    wins = random.integers(1, 12, (players, players)) + random.integers(0, 2, (players, players)) / 2
    np.fill_diagonal(wins, 0)
    pairs = [(i, j) for i in range(players) for j in range(i)]
    design = np.zeros((len(pairs), players))
    for row, (i, j) in enumerate(pairs):
        design[row, i], design[row, j] = 1, -1
    counts = np.array([[wins[i, j], wins[j, i]] for i, j in pairs])
    model = sm.GLM(
        counts[:, 0] / counts.sum(axis=1), design[:, 1:], sm.families.Binomial(), var_weights=counts.sum(axis=1)
    )
    expected = np.concatenate([[0.0], model.fit(tol=1e-14).params])
    assert strengths(wins)[0] == pytest.approx(expected - expected.mean(), abs=1e-9)


def test_who_wins_all_gets_half_a_loss_and_it_is_told():
    values, smoothed = strengths(np.array([[0.0, 7.0], [0.0, 0.0]]))
    assert smoothed
    assert values[0] - values[1] == pytest.approx(np.log(7.5 / 0.5))


def test_who_never_met_the_others_has_no_strength():
    duels = Duels(np.array([0, 1, 0]), np.array([1, 0, 1]), np.array([1.0, 1.0, 0.5]), np.arange(3))
    found = rate(duels, players=3, resamples=50)
    assert np.isnan(found.values[2])
    assert found.intervals[2] is None
    assert found.values[:2] == pytest.approx([0.0, 0.0])


@pytest.mark.slow
def test_intervals_cover_the_truth():
    truth = np.array([0.6, 0.1, -0.7])
    covered = 0
    for seed in range(60):
        random = np.random.default_rng(seed)
        one, other = np.array([(0, 1), (1, 2), (0, 2)] * 40).T
        chance = 1 / (1 + np.exp(truth[other] - truth[one]))
        duels = Duels(one, other, (random.random(len(one)) < chance).astype(float), np.repeat(np.arange(40), 3))
        found = rate(duels, 3, resamples=200, seed=seed)
        covered += sum(low <= value <= high for value, (low, high) in zip(truth, found.intervals, strict=True))
    assert covered / 180 >= 0.9


def test_resamples_that_leave_somebody_out_do_not_pull_to_the_middle():
    # The third player met the others on one question of six, which every third resample leaves out.
    one, other = np.array([0, 0, 0, 0, 0, 1]), np.array([1, 1, 1, 1, 1, 2])
    duels = Duels(one, other, np.array([1.0, 0, 1, 0, 1, 0.5]), np.arange(6))
    found = rate(duels, 3)
    assert np.isfinite(found.values).all()
    assert found.intervals == [None, None, None]
