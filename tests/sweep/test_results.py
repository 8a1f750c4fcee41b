"""Which settings no other dominates; `test_run_sweep` looks at the rest."""

import numpy as np

from ragstone.sweep.results import undominated

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
