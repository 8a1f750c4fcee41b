"""Prediction-powered means: the formula by hand and by ppi-python, and what the intervals promise, by simulation."""

import numpy as np
import pytest
from scipy import special

from ragstone.stats.intervals import wilson_interval
from ragstone.stats.paired import share_difference_interval
from ragstone.stats.ppi import effective_freedom, powered_mean

ROWS = np.arange(40)
LABELS = ((ROWS * 7) % 10 < 6).astype(float)
SCORES = ((ROWS * 3) % 11) / 11 * 0.5 + LABELS * 0.4
OTHERS = ((np.arange(200) * 5) % 13) / 13 * 0.9


@pytest.mark.parametrize(
    # ppi_py 0.2.3: ppi_mean_pointestimate(LABELS, SCORES, OTHERS, lam=…), ppi_mean_ci(…, alpha=0.05, lam=…)
    ("tuning", "mean", "low", "high"),
    [(1.0, 0.55171678, 0.44302249, 0.66041108), (0.5, 0.57585839, 0.45040099, 0.70131579)],
)
def test_the_formula_is_that_of_ppi_python(tuning, mean, low, high):
    found = powered_mean(LABELS, SCORES, OTHERS, tuning=tuning)
    assert found.mean == pytest.approx(mean, abs=1e-8)
    # They divide by n, we by n - 1.
    assert found.error == pytest.approx((high - low) / 2 / special.ndtri(0.975), rel=0.015)
    by_hand = tuning**2 * OTHERS.var(ddof=1) / 200 + (LABELS - tuning * SCORES).var(ddof=1) / 40
    assert found.error == pytest.approx(by_hand**0.5, abs=1e-12)


def test_the_tuning_is_the_best_one():
    random = np.random.default_rng(0)
    labels = random.normal(size=2000)
    scores = 2 * labels + random.normal(size=2000)
    others = 2 * random.normal(size=8000) + random.normal(size=8000)
    found = powered_mean(labels, scores, others)
    slope = np.cov(labels, scores)[0, 1] / scores.var(ddof=1)
    assert found.tuning == pytest.approx(slope * 8000 / 10_000, rel=2e-3)
    for other in (0.5, 0.8, 1.2, 1.5):
        assert powered_mean(labels, scores, others, tuning=found.tuning * other).error > found.error


def test_a_bias_of_the_judge_is_taken_out():
    random = np.random.default_rng(1)
    truth = random.random(3000) < 0.6
    scores = np.where(truth, 0.95, 0.55) + 0.02 * random.normal(size=3000)
    found = powered_mean(truth[:60].astype(float), scores[:60], scores[60:])
    assert found.judge_mean == pytest.approx(0.79, abs=0.02)
    assert found.interval.low < 0.6 < found.interval.high
    assert found.worth > 500


def test_without_a_judge_it_is_the_labels_alone():
    constant = powered_mean(LABELS, np.full(40, 0.5), np.full(100, 0.5))
    assert (constant.mean, constant.interval, constant.tuning) == (LABELS.mean(), wilson_interval(24, 40), 0.0)
    assert constant.worth == 40
    assert powered_mean(LABELS, SCORES, np.zeros(0)).interval == wilson_interval(24, 40)
    assert powered_mean(LABELS[:1], SCORES[:1], OTHERS) is None


def test_labels_that_all_agree_do_not_claim_certainty():
    found = powered_mean(np.ones(30), SCORES[:30], OTHERS)
    assert found.interval == wilson_interval(30, 30)


def test_heavy_tails_leave_few_degrees_of_freedom():
    assert effective_freedom(np.array([-1.0, 1.0] * 20)) == 39
    assert effective_freedom(np.append(np.zeros(39), 1.0)) < 5


def make_share(random, size, judge):
    """Labels of 0 and 1; a share that differs from data set to data set, so that its grid does not matter."""
    share = random.uniform(0.5, 0.92)
    cut, hidden, noise = special.ndtri(share), random.normal(size=size), random.normal(size=size)
    labels = (hidden < cut).astype(float)
    scores = {
        "good": special.ndtr((cut - hidden + 0.4 * noise) * 2),
        "useless": random.random(size),
        "biased": np.clip(special.ndtr(cut - hidden + 0.8 * noise) + 0.25, 0, 1),
        "verdicts": np.where(random.random(size) < 0.15, 1 - labels, labels),
        "perfect": labels,
    }[judge]
    return labels, scores, share


def make_number(random, size, judge):
    """Labels that are numbers with a skew."""
    labels = random.beta(4, 1.5, size)
    scores = {
        "good": labels + 0.1 * random.normal(size=size),
        "useless": random.random(size),
        "opposite": -5 * labels + random.normal(size=size),
    }[judge]
    return labels, scores, 4 / 5.5


def make_stars(random, size, judge):
    """One to five stars; hidden quality and its noise make 3.86 on the mean of millions."""
    hidden = 4 + 0.9 * random.normal(size=size)
    labels = np.clip(np.round(hidden + 0.5 * random.normal(size=size)), 1, 5)
    return labels, hidden if judge == "good" else random.random(size), STARS


HIDDEN = 4 + np.sqrt(0.9**2 + 0.5**2) * special.ndtri((np.arange(100_000) + 0.5) / 100_000)
STARS = np.clip(np.round(HIDDEN), 1, 5).mean()


def simulate(make, judge, size, times, others=400):
    random = np.random.default_rng(size)
    held, widths, alone = 0, 0.0, 0.0
    for _ in range(times):
        labels, scores, truth = make(random, size + others, judge)
        found = powered_mean(labels[:size], scores[:size], scores[size:])
        held += found.interval.low <= truth <= found.interval.high
        widths += found.interval.high - found.interval.low
        alone += found.labels_interval.high - found.labels_interval.low
    return held / times, widths / alone


CASES = [
    *((make_share, judge) for judge in ("good", "useless", "biased", "verdicts", "perfect")),
    *((make_number, judge) for judge in ("good", "useless", "opposite")),
    *((make_stars, judge) for judge in ("good", "useless")),
]


@pytest.mark.slow
@pytest.mark.parametrize(("make", "judge"), CASES)
def test_coverage_from_30_labels_up(make, judge):
    """The promise: 93 to 97 of 100 intervals hold the truth, and no judge makes them wider than labels alone."""
    coverage, ratio = simulate(make, judge, 30, 600)
    assert 0.93 <= coverage <= 0.97
    assert ratio <= 1.0 if judge == "useless" else ratio < 0.9


@pytest.mark.slow
@pytest.mark.parametrize(("make", "judge"), CASES)
def test_coverage_of_100_labels(make, judge):
    coverage, ratio = simulate(make, judge, 100, 600)
    assert 0.925 <= coverage <= 0.975
    assert ratio <= 1.0


def make_change(random, size, judge):
    """The change of a label of 0 and 1 from one system to the other; few change."""
    share = random.uniform(0.08, 0.3)
    rose, fell = random.random(size) < share, random.random(size) < 0.06
    labels = np.where(rose & ~fell, 1.0, np.where(fell & ~rose, -1.0, 0.0))
    scores = 0.6 * labels + 0.3 * random.normal(size=size) if judge == "good" else random.normal(size=size)
    return labels, scores, share * 0.94 - 0.06 * (1 - share)


@pytest.mark.parametrize("judge", ["good", "useless"])
def test_coverage_of_changes_of_shares(judge):
    random, held = np.random.default_rng(3), 0
    for _ in range(600):
        labels, scores, truth = make_change(random, 440, judge)
        found = powered_mean(labels[:40], scores[:40], scores[40:], scale="change")
        held += found.interval.low <= truth <= found.interval.high
    assert 0.93 <= held / 600 <= 0.98  # a little more than promised, as Bonett and Price have it where few change


def test_pairs_that_never_change_do_not_claim_certainty():
    found = powered_mean(np.zeros(40), np.zeros(40), np.zeros(100), scale="change")
    assert found.mean == 0
    assert found.interval.low < -0.05 < 0.05 < found.interval.high
    assert found.interval == pytest.approx(share_difference_interval(np.zeros(40), np.zeros(40)))
