"""Which settings no other dominates, and how often equal ones are told apart; `test_run_sweep` looks at the rest."""

from types import SimpleNamespace

import numpy as np
import pytest

from ragstone.sweep import results
from ragstone.sweep.elimination import look_ends
from ragstone.sweep.results import undominated
from tests.sweep.test_elimination import run_race, simulate

NONE = np.full((3, 4), np.nan)


def test_better_and_cheaper_dominates():
    quality = np.array([[1.0] * 4, [0.5] * 4, [0.5] * 4])
    cost = np.array([[2.0] * 4, [1.0] * 4, [3.0] * 4])
    assert undominated(quality, [NONE, cost], [0, 1, 2]) == {0, 1}
    assert undominated(quality, [NONE, NONE], [0, 1, 2]) == {0}
    assert undominated(quality, [cost], [2]) == {2}


def test_equal_settings_do_not_dominate_each_other():
    assert undominated(np.ones((2, 4)), [np.ones((2, 4))], [0, 1]) == {0, 1}


def test_latency_that_differs_by_chance_counts_as_equal():
    quality = np.array([[1.0] * 6, [0.5] * 6])
    latency = np.array([[1.0, 2.0, 1.0, 2.0, 1.0, 2.0], [2.0, 1.0, 2.0, 1.0, 2.0, 0.9]])
    assert undominated(quality, [latency], [0, 1]) == {0}


def test_a_setting_that_was_stopped_is_compared_on_its_own_questions():
    quality = np.array([[1.0, 1.0, 0.0, 0.0], [0.9, 0.9, np.nan, np.nan]])
    cost = np.array([[1.0] * 4, [2.0, 2.0, np.nan, np.nan]])
    assert undominated(quality, [cost], [0, 1]) == {0}


@pytest.mark.slow
def test_the_letters_hold_among_the_settings_that_were_not_stopped():
    """Four settings are equal and two are bad: the equal ones differ in at most one of twenty sweeps."""
    spec = SimpleNamespace(better="higher", bounds=(0.0, 1.0))
    plan = SimpleNamespace(metric=SimpleNamespace(spec=spec), seed=0)
    sweep = SimpleNamespace(plan=plan, clusters=None)
    random, rounds, wrong, stopped = np.random.default_rng(6), 300, 0, 0
    for _ in range(rounds):
        values = simulate(random, (0.6, 0.6, 0.6, 0.6, 0.2, 0.2), 60)
        out = run_race(values, look_ends([1] * 60, None, 1.5)[:-1], 0.05)
        stopped += len(out)
        places = results._rank(sweep, values, [number for number in range(6) if number not in out])
        best = [place["group"] for number, place in places.items() if number < 4]
        wrong += not set.intersection(*map(set, best))
    assert wrong / rounds <= 0.08  # 0.05 and two standard errors
    assert stopped / rounds > 0.5
