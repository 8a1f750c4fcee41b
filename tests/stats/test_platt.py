"""Platt scaling: a biased or overconfident judge is mended, a good one is left alone, few labels do nothing."""

import math

import numpy as np
import pytest

from ragstone.stats.logit import LEAST_PAIRS, Platt, PlattFit


def draw(seed, size, slope=1.0, shift=0.0):
    """True probabilities, labels by them, and what a judge says: log-odds times slope, plus shift."""
    random = np.random.default_rng(seed)
    odds = random.normal(0.0, 2.0, size)
    labels = random.random(size) < 1 / (1 + np.exp(-odds))
    return 1 / (1 + np.exp(-(slope * odds + shift))), labels.astype(float), np.arange(size) // 2


def test_the_map_is_found_again():
    likely, labels, groups = draw(1, 4000, slope=3.0, shift=3.0)
    found = PlattFit.measure(likely, labels, groups)
    assert found.map.slope == pytest.approx(1 / 3, abs=0.06)
    assert found.map.intercept == pytest.approx(-1.0, abs=0.25)
    assert found.improves
    assert found.after < found.before - 0.2


@pytest.mark.parametrize(("size", "least"), [(60, 0.85), (300, 1.0)])
def test_a_biased_judge_is_mended(size, least):
    fits = [PlattFit.measure(*draw(seed, size, slope=3.0, shift=3.0)) for seed in range(8)]
    assert np.mean([fit.improves for fit in fits]) >= least
    mended = []
    for fit in fits:
        likely, labels, _ = draw(999, 600, slope=3.0, shift=3.0)
        mended.append(abs(np.mean([fit.map(one) for one in likely]) - labels.mean()))
    assert np.mean(mended) < 0.08 < abs(likely.mean() - labels.mean())


@pytest.mark.slow
def test_a_calibrated_judge_is_mostly_left_alone():
    fits = [PlattFit.measure(*draw(seed, 80)) for seed in range(25)]
    assert np.mean([fit.improves for fit in fits]) <= 0.2
    assert np.mean([abs(fit.map.slope - 1) for fit in fits]) < 0.25


def test_few_labels_of_one_kind_give_nothing():
    likely, labels, groups = draw(3, LEAST_PAIRS - 1)
    assert PlattFit.measure(likely, labels, groups) is None
    likely, labels, groups = draw(3, 50)
    assert PlattFit.measure(likely, np.zeros(50), groups) is None
    assert PlattFit.measure(likely, labels, np.zeros(50)) is None


def test_balanced_labels_do_not_carry_their_share_over():
    """Pairs of which few are true must not make a calibrated judge say no more often."""
    likely, labels, groups = draw(5, 6000)
    kept = (labels == 0) | (np.random.default_rng(5).random(6000) < 0.2)
    plain = PlattFit.measure(likely[kept], labels[kept], groups[kept])
    balanced = PlattFit.measure(likely[kept], labels[kept], groups[kept], is_balanced=True)
    assert plain.map.intercept == pytest.approx(math.log(0.2), abs=0.25)
    assert abs(balanced.map.intercept) < 0.25


def test_certain_replies_stay_finite_and_in_order():
    found = Platt(0.5, -0.25)
    values = [found(one) for one in (0.0, 0.01, 0.5, 0.99, 1.0)]
    assert values == sorted(values)
    assert 0 < values[0] < values[-1] < 1
    assert str(found) == "0.5000/-0.2500"
    assert Platt(1.0, 0.0)(0.3) == pytest.approx(0.3)
