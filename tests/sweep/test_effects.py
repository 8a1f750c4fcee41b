"""Main effects: right in full grids and others, refused if two parameters change together, and covered by their intervals."""

from itertools import product

import numpy as np
import pytest

from ragstone.sweep.effects import Conditions, main_effects

GRID = [{"size": size, "k": k} for size, k in product((100, 200, 400), (1, 4))]
BOUNDS = (0.0, 1.0)


def find(effects, parameter, level):
    effect = next(one for one in effects if one.parameter == parameter)
    return next(one for one in effect.levels if one.level == level)


def test_a_full_grid_gives_differences_of_means():
    values = np.random.default_rng(0).random((6, 40))
    effects = main_effects(GRID, values, Conditions(BOUNDS))
    rows = {size: values[[at for at, one in enumerate(GRID) if one["size"] == size]].mean() for size in (100, 200, 400)}
    assert find(effects, "size", 400).difference == pytest.approx(rows[400] - rows[100])
    assert find(effects, "size", 200).mean == pytest.approx(rows[200])
    assert find(effects, "size", 100).difference is None
    assert find(effects, "k", 4).settings == 3


def test_a_missing_setting_does_not_distort_an_additive_effect():
    quality = np.array([0.1 * (one["size"] == 400) + 0.3 * (one["k"] == 4) + 0.2 for one in GRID])
    kept = [0, 1, 2, 3, 4]  # without size 400, k 4: plain means would give a size effect of -0.05
    values = np.repeat(quality[kept, None], 10, axis=1)
    effects = main_effects([GRID[at] for at in kept], values, Conditions(BOUNDS))
    assert find(effects, "size", 400).difference == pytest.approx(0.1)
    assert find(effects, "k", 4).difference == pytest.approx(0.3)


def test_parameters_that_change_together_are_not_separated():
    settings = [
        {"size": 1, "k": 1, "prompt": "a"},
        {"size": 2, "k": 2, "prompt": "a"},
        {"size": 1, "k": 1, "prompt": "b"},
    ]
    effects = {one.parameter: one for one in main_effects(settings, np.random.random((3, 9)), Conditions(BOUNDS))}
    assert "do not separate" in effects["size"].note
    assert effects["size"].levels[1].difference is None
    assert effects["prompt"].note == ""


def draw(random, count):
    """Shares that depend on the question, the size and k, with an interaction that the effect averages over."""
    hard = random.normal(0, 0.15, count)
    means = [0.5 + 0.1 * (one["size"] == 400) + 0.05 * (one["size"] == 400 and one["k"] == 4) for one in GRID]
    return (random.random((len(GRID), count)) < np.clip(np.array(means)[:, None] + hard, 0, 1)).astype(float)


TRUE = 0.1 + 0.05 / 2


@pytest.mark.parametrize("count", [12, 60])
def test_intervals_cover_the_true_effect(count):
    random, hits, rounds = np.random.default_rng(count), 0, 300
    for _ in range(rounds):
        interval = find(main_effects(GRID, draw(random, count), Conditions(BOUNDS)), "size", 400).interval
        hits += interval.low <= TRUE <= interval.high
    assert 0.92 <= hits / rounds <= 0.99


@pytest.mark.slow
def test_sequential_intervals_cover_at_the_worst_moment():
    """The number of questions is chosen by what was seen: the first of many looks at which the effect looks largest."""
    random, rounds = np.random.default_rng(4), 300
    fixed = sequential = 0
    for _ in range(rounds):
        values = draw(random, 60)
        misses = {True: False, False: False}
        for count in range(10, 61, 5):
            for is_sequential in misses:
                conditions = Conditions(BOUNDS, is_sequential=is_sequential)
                interval = find(main_effects(GRID, values[:, :count], conditions), "size", 400).interval
                misses[is_sequential] |= not interval.low <= TRUE <= interval.high
        fixed += misses[False]
        sequential += misses[True]
    assert sequential / rounds <= 0.05
    assert fixed / rounds > 0.08  # which is why they are needed


def test_conversations_widen_the_interval():
    values = np.repeat(draw(np.random.default_rng(1), 20), 4, axis=1)
    clusters = np.repeat(np.arange(20), 4).astype(object)
    alone = find(main_effects(GRID, values, Conditions(BOUNDS)), "k", 4).interval
    together = find(main_effects(GRID, values, Conditions(BOUNDS, clusters=clusters)), "k", 4).interval
    assert together.high - together.low > 1.5 * (alone.high - alone.low)


def test_without_questions_there_is_no_effect():
    assert find(main_effects(GRID, np.zeros((6, 0)), Conditions(BOUNDS)), "k", 4).difference is None
