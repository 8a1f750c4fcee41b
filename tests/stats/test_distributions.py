"""What stands in for scipy equals scipy."""

import numpy as np
import pytest
from scipy import optimize, sparse, special, stats
from scipy.sparse.csgraph import connected_components

from ragstone.agreement.metric_agreement import solve_positive
from ragstone.stats.bradley_terry import _reach
from ragstone.stats.correlation import correlate_each, mid_ranks
from ragstone.stats.distributions import (
    beta_probability,
    beta_quantile,
    binomial_probability,
    f_quantile,
    student_tail,
    t_test_power,
)
from ragstone.stats.logit import _INTERCEPT_PRIOR, _LEAST_SLOPE, _SLOPE_PRIOR, Platt, sigmoid
from ragstone.stress.passage_pools import _rank_by_words

PROBABILITIES = (1e-6, 0.0005, 0.005, 0.025, 0.2, 0.5, 0.8, 0.975, 0.9995)


def test_beta():
    random = np.random.default_rng(1)
    for a, b in 10 ** random.uniform(-0.3, 5, (400, 2)):
        probability = float(random.choice(PROBABILITIES))
        value = float(special.betaincinv(a, b, probability))
        assert beta_probability(a, b, value) == pytest.approx(special.betainc(a, b, value), rel=5e-9)
        assert beta_quantile(a, b, probability) == pytest.approx(value, rel=5e-9)
    assert (beta_probability(2, 3, 0.0), beta_probability(2, 3, 1.0)) == (0, 1)


@pytest.mark.parametrize("trials", [1, 2, 7, 50, 999, 100_000])
@pytest.mark.parametrize("chance", [0.05, 0.5, 0.99])
def test_binomial(trials, chance):
    for successes in {0, 1, trials // 3, trials // 2, trials - 1, trials}:
        expected = special.bdtr(float(successes), trials, chance)
        assert binomial_probability(successes, trials, chance) == pytest.approx(expected, rel=1e-8, abs=1e-300)


@pytest.mark.parametrize("freedom", [1, 2, 4, 19, 500, 100_000])
def test_student_and_f(freedom):
    for value in (0.0, 0.3, 1.0, 2.5, 8.0, 30.0):
        expected = special.stdtr(freedom, -value)
        assert student_tail(freedom, value) == pytest.approx(expected, rel=1e-8, abs=1e-300)
    for below in (1, 5, 40, 3_000):
        assert f_quantile(freedom, below, 0.1) == pytest.approx(special.fdtri(freedom, below, 0.1), rel=1e-8)


@pytest.mark.parametrize("freedom", [2, 3, 9, 30, 199, 5_000, 100_000])
def test_power(freedom):
    for critical in (1.0, 1.96, 4.3, 10.0):
        for shift in (0.0, 0.5, 2.8, 6.0, 14.0):
            expected = 1 - special.nctdtr(freedom, shift, critical)
            assert t_test_power(freedom, shift, critical) == pytest.approx(expected, abs=1e-9)


def test_ranks():
    random = np.random.default_rng(2)
    values, others = random.integers(0, 6, (2, 50, 7)).astype(float)
    assert mid_ranks(values[0]).tolist() == stats.rankdata(values[0]).tolist()
    expected = [stats.spearmanr(one, other).statistic for one, other in zip(values, others, strict=True)]
    np.testing.assert_allclose(correlate_each(values, others, "spearman"), expected, atol=1e-12)


def test_sigmoid():
    values = np.array([-1000.0, -30.0, -1e-9, 0.0, 2.0, 40.0, 1000.0])
    np.testing.assert_allclose(sigmoid(values), special.expit(values), rtol=1e-14)


@pytest.mark.parametrize("size", [1, 2, 5, 30])
def test_reach(size):
    random = np.random.default_rng(size)
    for density in (0.02, 0.1, 0.3):
        graph = random.random((size, size)) < density
        count, part = connected_components(graph, directed=True, connection="strong")
        reach = _reach(graph)
        assert ((reach & reach.T) == (part[:, None] == part[None, :])).all()
        assert reach.all() == (count == 1)


def test_non_negative_least_squares():
    random = np.random.default_rng(3)
    for size in (1, 2, 6, 20):
        for _ in range(20):
            table = np.vstack([random.normal(size=(40, size)) @ random.normal(size=(size, size)), 0.3 * np.eye(size)])
            target = random.normal(size=40 + size)
            np.testing.assert_allclose(solve_positive(table, target), optimize.nnls(table, target)[0], atol=1e-9)
    assert solve_positive(np.eye(2), -np.ones(2)).tolist() == [0, 0]


@pytest.mark.parametrize("slope", [-1.0, 0.05, 0.4, 1.0, 3.0])
def test_platt_scaling(slope):
    random = np.random.default_rng(4)
    odds = random.normal(0, 3, 80)
    labels = (random.random(80) < special.expit(slope * odds - 0.7)).astype(float)
    weights = random.uniform(0.5, 2.0, 80)

    def loss(at):
        logits = at[0] * odds + at[1]
        prior = (((at - (1.0, 0.0)) / (_SLOPE_PRIOR, _INTERCEPT_PRIOR)) ** 2).sum() / 2
        return (weights * (np.logaddexp(0.0, logits) - labels * logits)).sum() + prior

    bounds = [(_LEAST_SLOPE, None), (None, None)]
    expected = optimize.minimize(loss, [1.0, 0.0], bounds=bounds, method="L-BFGS-B", options={"ftol": 1e-14}).x
    found = Platt.fit(odds, labels, weights)
    assert (found.slope, found.intercept) == pytest.approx(expected, abs=2e-4)


def test_passages_are_ranked_by_the_rarity_of_shared_words():
    random = np.random.default_rng(5)
    texts = [" ".join(f"w{word}" for word in random.zipf(1.5, 12) % 40) for _ in range(60)]
    questions, passages = [*texts[:10], ""], texts[10:]
    words = {word: number for number, word in enumerate(sorted({word for text in texts for word in text.split()}))}
    counts = sparse.lil_matrix((len(texts) + 1, len(words)))
    for row, text in enumerate([*questions, *passages]):
        for word in text.split():
            counts[row, words[word]] += 1
    present = (counts.toarray() > 0).astype(float)
    rarity = np.log1p(len(passages) / (1 + present[11:].sum(axis=0)))
    expected = (present[:11] * rarity) @ present[11:].T / np.sqrt(counts[11:].sum(axis=1).A1 + 1)
    for row, ranking in zip(expected, _rank_by_words(questions, passages), strict=True):
        assert sorted(ranking) == list(range(len(passages)))
        assert (np.diff(row[ranking]) <= 1e-12).all()
