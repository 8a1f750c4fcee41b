"""Jackknife intervals of corpus scores."""

import numpy as np
import pytest

from ragstone.stats.corpus_intervals import MOST_GROUPS, jackknife_interval, rows_interval, sums_interval

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


@pytest.mark.parametrize("rows", [40, MOST_GROUPS + 500])
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
