"""The interval that may be looked at after every row: never wrong too often, however often one looks."""

from itertools import pairwise

import numpy as np
import pytest

from ragstone.stats.intervals import mean_interval
from ragstone.stats.sequential import ConfidenceSequence, any_time_interval, watch_mean


def ever_wrong(draw, mean, repeats, rows):
    random = np.random.default_rng(9)
    wrong = 0
    for _ in range(repeats):
        wrong += any(not low <= mean <= high for _, _, (low, high) in watch_mean(draw(random, rows)))
    return wrong / repeats


def test_starts_with_the_whole_range():
    assert ConfidenceSequence(-1.0, 1.0).interval == (-1, 1)
    assert ConfidenceSequence().mean is None


def test_shrinks_towards_the_mean():
    values = np.random.default_rng(1).beta(8, 2, 2000)
    widths = [high - low for _, _, (low, high) in watch_mean(values)]
    assert all(after <= before for before, after in pairwise(widths))
    sequence = ConfidenceSequence()
    low, high = sequence.add(values)
    assert low < values.mean() < high
    assert sequence.mean == pytest.approx(values.mean())
    assert high - low < 0.05


def test_is_wider_than_an_interval_for_one_look_but_not_by_much():
    values = (np.random.default_rng(1).random(400) < 0.8).astype(float)
    once = mean_interval(values, bounds=(0.0, 1.0))
    low, high = ConfidenceSequence().add(values)
    assert 1 < (high - low) / (once.high - once.low) < 3


def test_bit_by_bit_is_all_at_once():
    values = np.random.default_rng(1).random(50)
    bits = ConfidenceSequence()
    for value in values:
        bits.add([value])
    assert bits.interval == ConfidenceSequence().add(values)


def test_other_bounds_are_the_same_on_another_scale():
    values = np.random.default_rng(1).random(100)
    low, high = ConfidenceSequence().add(values)
    assert ConfidenceSequence(-1.0, 1.0).add(2 * values - 1) == pytest.approx((2 * low - 1, 2 * high - 1))


def test_all_equal_values():
    low, high = ConfidenceSequence().add([1.0] * 100)
    assert 0.9 < low < 1
    assert high == 1
    low, high = ConfidenceSequence(-1.0, 1.0).add([0.0] * 200)
    assert -0.2 < low < 0 < high < 0.2


@pytest.mark.parametrize("bounds", [(0.0, float("inf")), (1.0, 1.0)])
def test_bounds_are_needed(bounds):
    with pytest.raises(ValueError, match="bounded"):
        ConfidenceSequence(*bounds)


def test_a_value_outside_is_refused():
    with pytest.raises(ValueError, match="out of bounds"):
        ConfidenceSequence().add([1.2])


def test_is_rarely_ever_wrong():
    assert ever_wrong(lambda random, rows: (random.random(rows) < 0.3).astype(float), 0.3, 60, 150) <= 0.1


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.02, 0.5, 0.9])
def test_is_wrong_at_any_of_many_looks_in_at_most_one_of_twenty(share):
    assert ever_wrong(lambda random, rows: (random.random(rows) < share).astype(float), share, 500, 200) <= 0.08


class TestAnyTimeInterval:
    def test_it_is_wider_than_students_t_but_not_by_much(self):
        values = np.random.default_rng(2).normal(size=50)
        interval = any_time_interval(values)
        fixed = mean_interval(values)
        assert 1.2 < (interval.high - interval.low) / (fixed.high - fixed.low) < 2

    @pytest.mark.slow
    @pytest.mark.parametrize("kind", ["normal", "shares"])
    def test_it_covers_at_all_looks_together(self, kind):
        random, rounds, missed = np.random.default_rng(8), 600, 0
        for _ in range(rounds):
            values = random.normal(0.3, 1, 200) if kind == "normal" else random.integers(0, 2, (4, 200)).mean(axis=0)
            mean = 0.3 if kind == "normal" else 0.5
            intervals = [any_time_interval(values[:count]) for count in range(8, 201, 8)]
            missed += any(not one.low <= mean <= one.high for one in intervals if one is not None)
        assert missed / rounds <= 0.05

    def test_equal_values_and_few_values(self):
        assert any_time_interval(np.array([0.5])) is None
        assert any_time_interval(np.zeros(9)) is None
        equal = any_time_interval(np.zeros(9), bounds=(-1.0, 1.0))
        assert equal.low < 0 < equal.high
        two = any_time_interval(np.array([0.0, 1.0]), bounds=(-1.0, 1.0))
        assert (two.low, two.high) == (-1.0, 1.0)
