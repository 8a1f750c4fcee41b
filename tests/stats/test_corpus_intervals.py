"""Jackknife intervals of corpus scores."""

from functools import partial

import numpy as np
import pytest

from ragstone.metrics.diversity import distinct_share
from ragstone.metrics.translation import bleu_of, chrf_of, ter_of
from ragstone.stats.corpus_intervals import jackknife_interval, rows_interval, sums_interval

DISTINCT_WORDS, DISTINCT_PAIRS = (partial(distinct_share, n=n) for n in (1, 2))
RANDOM = np.random.default_rng(0)
COUNTS = np.column_stack([RANDOM.integers(0, 5, 40), np.full(40, 5)]).astype(float)


def share(sums):
    return sums[..., 0] / sums[..., 1]


def distinct(rows):
    words = np.concatenate(rows)
    return len(set(words)) / len(words)


def test_a_mean_gets_the_interval_of_students_t():
    from scipy import stats

    values = RANDOM.normal(size=20)
    table = np.column_stack([values, np.ones(20)])
    wanted = stats.t.interval(0.95, 19, values.mean(), stats.sem(values))
    assert sums_interval(table, share) == pytest.approx(wanted)


def test_the_interval_stays_within_the_bounds():
    low, high = sums_interval(COUNTS[:5], share, bounds=(0.0, 1.0))
    assert 0 < low < share(COUNTS[:5].sum(axis=0)) < high < 1
    at_bound = np.array([[5.0, 5.0]] * 4 + [[4.0, 5.0]])
    assert sums_interval(at_bound, share, bounds=(0.0, 1.0)).high == 1


@pytest.mark.parametrize("rows", [40, 2500])
def test_the_order_of_the_rows_changes_nothing(rows):
    table = np.resize(COUNTS, (rows, 2))
    shuffled = RANDOM.permutation(table)
    assert sums_interval(shuffled, share, bounds=(0.0, 1.0)) == pytest.approx(
        sums_interval(table, share, bounds=(0.0, 1.0)), rel=1e-12
    )
    texts = [RANDOM.integers(0, 30, 6) for _ in range(60)]
    assert rows_interval(texts[::-1], distinct) == rows_interval(texts, distinct)


def test_nothing_is_known_without_spread():
    assert sums_interval(COUNTS[:1], share) is None
    assert rows_interval([np.array([1])], distinct) is None
    assert jackknife_interval(0.5, np.full(5, 0.5), 0.95, (0.0, 1.0)) is None


def skewed_counts(random, rows):
    """Statistics of TER, BLEU and chrF of made-up answers; lengths are skewed, and long answers are worse."""
    words = np.maximum(1, random.lognormal(2.2, 0.7, rows)).round()
    quality = random.beta(4, 2, rows) / (1 + words / 100)
    said = np.maximum(1, (words * random.normal(1, 0.2, rows)).round())
    edits = random.binomial(words.astype(int), 1 - quality).astype(float)
    totals = [np.maximum(said - order, 0) for order in range(4)]
    matched = [random.binomial(total.astype(int), quality ** (1 + order / 2)) for order, total in enumerate(totals)]
    characters = []
    for order in range(6):
        sides = [np.maximum(5 * side - order, 1) for side in (said, words)]
        characters += [*sides, random.binomial(np.minimum(*sides).astype(int), quality ** (0.5 + order / 4))]
    return {
        "ter": np.column_stack([edits, words]),
        "bleu": np.column_stack([said, words, *matched, *totals]).astype(float),
        "chrf": np.column_stack(characters).astype(float),
    }


SCORES = {"ter": (ter_of, (0.0, None)), "bleu": (bleu_of, (0.0, 1.0)), "chrf": (chrf_of, (0.0, 1.0))}


@pytest.mark.parametrize("rows", [200, 3000, 20_000])
def test_intervals_are_as_wide_as_the_spread_of_the_rows_demands(rows):
    table = skewed_counts(np.random.default_rng(5), rows)["ter"]
    table = table[np.lexsort(table.T)]
    low, high = sums_interval(table, ter_of)
    edits, words = table.T
    residuals = edits - edits.sum() / words.sum() * words
    error = rows**0.5 * residuals.std(ddof=1) / words.sum()
    assert high - low == pytest.approx(2 * 1.96 * error, rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("is_sorted", [True, False])
@pytest.mark.parametrize(("rows", "samples"), [(200, 200), (3000, 200), (20_000, 60)])
def test_intervals_of_sums_cover_the_truth(rows, samples, is_sorted):
    random = np.random.default_rng(7)
    population = skewed_counts(random, 2_000_000)
    truth = {name: float(SCORES[name][0](table.sum(axis=0))) for name, table in population.items()}
    hits = dict.fromkeys(SCORES, 0)
    for _ in range(samples):
        for name, drawn in skewed_counts(random, rows).items():
            table = drawn[np.lexsort(drawn.T)] if is_sorted else drawn
            low, high = sums_interval(table, SCORES[name][0], bounds=SCORES[name][1])
            hits[name] += low <= truth[name] <= high
    # Three standard errors of a share of 95 %.
    margin = 3 * (0.95 * 0.05 / samples) ** 0.5
    assert all(abs(count / samples - 0.95) < margin for count in hits.values()), hits


def zipf_texts(random, rows):
    """Answers with words of Zipf's law, a third of them with words of a topic of their own."""
    lengths = np.maximum(2, random.lognormal(2.2, 0.7, rows)).astype(int)
    topic = np.repeat(random.integers(0, 150, rows), lengths)
    words = np.minimum(random.zipf(1.4, len(topic)), 10**6)
    words = np.where(random.random(len(topic)) < 0.3, 10**7 + 1000 * topic + words % 1000, words)
    return np.split(words, np.cumsum(lengths)[:-1])


@pytest.mark.slow
@pytest.mark.parametrize("score", [DISTINCT_WORDS, DISTINCT_PAIRS])
@pytest.mark.parametrize(("rows", "samples"), [(60, 200), (200, 150), (3000, 24)])
def test_intervals_of_distinct_shares_cover_those_of_other_runs(rows, samples, score):
    random = np.random.default_rng(3)
    texts = [zipf_texts(random, rows) for _ in range(samples)]
    truth = np.mean([score(run) for run in texts])
    intervals = [rows_interval(run, score, bounds=(0.0, 1.0)) for run in texts]
    covered = np.mean([low <= truth <= high for low, high in intervals])
    assert abs(covered - 0.95) <= max(0.03, 2.5 * (0.95 * 0.05 / samples) ** 0.5)


def test_groups_of_rows_are_random():
    # Sorted rows dealt out one by one make groups that are too alike; the interval was too short.
    rows = [np.array([float(number)]) for number in range(1000)]
    low, high = rows_interval(rows, lambda kept: float(np.concatenate(kept).mean()))
    assert high - low == pytest.approx(2 * 1.96 * np.std(np.arange(1000)) / 1000**0.5, rel=0.25)
