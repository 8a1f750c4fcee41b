"""Rows picked with known chances: the means stay right, and the intervals are narrower than with rows picked evenly."""

import numpy as np
import pytest

from ragstone.stats.ppi import Rows, guess_errors, make_chances, pick, powered_mean, powered_rounds

UNLABELLED = -1


def blank(scores):
    size = len(scores)
    return Rows(scores, np.full(size, np.nan), np.full(size, UNLABELLED), np.full(size, np.nan))


def label(rows, places, said, number, chances=None):
    rows.labels[places], rows.rounds[places] = said[places], number
    if chances is not None:
        rows.chances[places] = chances
    return rows


def test_one_even_round_is_the_plain_case():
    random = np.random.default_rng(0)
    scores, said = random.random(200), random.normal(size=200)
    rows = label(blank(scores), np.arange(40), said, 0)
    assert powered_rounds(rows) == powered_mean(said[:40], scores[:40], scores[40:])


def test_one_round_by_hand():
    """Four rows, two picked with chances 1 and 1/2, the prediction 0 everywhere: (2 + 6 / 0.5) / 4."""
    rows = label(blank(np.zeros(4)), np.array([0, 1]), np.array([2.0, 6.0, 0, 0]), 1, [1.0, 0.5])
    found = powered_rounds(rows)
    # Without a varying score the prediction is the weighted mean of the labels: (2 + 2 · 6) / 3.
    mean = 14 / 3
    assert found.mean == pytest.approx((4 * mean + (2 - mean) + (6 - mean) / 0.5) / 4)
    assert found.tuning == 0


def test_chances_add_up_and_none_is_above_one():
    errors = np.array([0.0, 0.1, 0.1, 5.0, 9.0, 0.3])
    for size in (1, 3, 5):
        chances = make_chances(errors, size)
        assert chances.sum() == pytest.approx(size)
        assert (chances > 0).all()
        assert (chances <= 1).all()
    assert make_chances(errors, 6).tolist() == [1.0] * 6
    assert make_chances(np.zeros(4), 2).tolist() == [0.5] * 4


def test_rows_are_picked_as_often_as_their_chances_say():
    chances = make_chances(np.array([0.1, 0.4, 0.2, 0.9, 0.6, 0.0, 0.3]), 3)
    picked = [pick(chances, seed) for seed in range(4000)]
    assert {len(each) for each in picked} == {3}
    often = np.bincount(np.concatenate(picked), minlength=7) / 4000
    assert often == pytest.approx(chances, abs=0.03)


def test_who_may_err_is_guessed_from_scores_and_then_learnt_from_labels():
    scores = np.linspace(0, 1, 101)
    none = np.full(101, np.nan)
    guess = guess_errors(scores, none, (0.0, 1.0))
    assert guess.argmax() == 50
    assert np.ptp(guess_errors(scores, none, (None, None))) == 0
    random = np.random.default_rng(0)
    labels = none.copy()
    labels[::2] = scores[::2] + np.where(scores[::2] > 0.7, 0.5, 0.02) * random.normal(size=51)
    learnt = guess_errors(scores, labels, (0.0, 1.0))
    assert learnt[scores > 0.85].min() > 2 * learnt[scores < 0.5].max()


def make_sharp(random, size):
    """A judge that is nearly sure of most rows, and rightly so, and knows nothing of the others."""
    scores = np.where(random.random(size) < 0.8, random.choice([0.02, 0.98], size), random.random(size))
    return scores, (random.random(size) < scores).astype(float), 0.5


def make_noisy_top(random, size):
    """Labels that are numbers; where scores are high they say little."""
    scores = random.random(size)
    return scores, scores + np.where(scores > 0.8, 0.5, 0.05) * random.normal(size=size), 0.5


def make_useless(random, size):
    return random.random(size), (random.random(size) < 0.7).astype(float), 0.7


def simulate(make, first, then, times, size=1000):
    """Coverage with picked rows, and their mean width beside that of as many rows picked evenly."""
    held, widths, even = 0, 0.0, 0.0
    for seed in range(times):
        random = np.random.default_rng(seed)
        scores, said, truth = make(random, size)
        rows = label(blank(scores), np.arange(first), said, 0)
        chances = make_chances(guess_errors(scores, rows.labels, (0.0, 1.0))[first:], then)
        picked = pick(chances, seed)
        found = powered_rounds(label(rows, first + picked, said, 1, chances[picked]))
        held += found.interval.low <= truth <= found.interval.high
        widths += found.interval.high - found.interval.low
        plain = powered_rounds(label(blank(scores), np.arange(first + then), said, 0))
        even += plain.interval.high - plain.interval.low
    return held / times, widths / even


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "first", "then", "narrower"),
    [
        (make_sharp, 0, 60, 0.96),
        (make_sharp, 30, 60, 0.97),
        (make_noisy_top, 30, 60, 0.97),
        (make_useless, 30, 40, 1.08),
    ],
)
def test_the_mean_stays_right_and_the_interval_shrinks_more_than_by_chance(make, first, then, narrower):
    coverage, ratio = simulate(make, first, then, 300)
    assert 0.92 <= coverage <= 0.99  # of 300
    assert ratio < narrower


@pytest.mark.slow
@pytest.mark.parametrize("make", [make_sharp, make_noisy_top, make_useless])
@pytest.mark.parametrize(("first", "then"), [(0, 60), (30, 60), (60, 60)])
def test_coverage_at_length(make, first, then):
    coverage, _ = simulate(make, first, then, 400)
    assert 0.92 <= coverage <= 0.985


@pytest.mark.slow
def test_three_rounds_stay_unbiased():
    """The mean of the estimates over many repetitions is the truth, although each round looks at the ones before."""
    means = []
    for seed in range(400):
        random = np.random.default_rng(seed)
        scores, said, _ = make_sharp(random, 300)
        rows = label(blank(scores), np.arange(15), said, 0)
        for number in (1, 2):
            free = np.flatnonzero(rows.rounds < 0)
            chances = make_chances(guess_errors(scores, rows.labels, (0.0, 1.0))[free], 15)
            picked = pick(chances, seed + 1000 * number)
            rows = label(rows, free[picked], said, number, chances[picked])
        means.append(powered_rounds(rows).mean - said.mean())
    assert abs(np.mean(means)) < 3 * np.std(means) / np.sqrt(400)
