"""What rows can show: equal to statsmodels', true in simulation."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestPower

from ragstone.stats.intervals import mean_interval
from ragstone.stats.power import detectable_effect, noise_floor, rows_needed


@pytest.mark.parametrize("pairs", [5, 25, 400, 100_000])
@pytest.mark.parametrize(("alpha", "power"), [(0.05, 0.8), (0.01, 0.9)])
def test_detectable_effect_equals_statsmodels(pairs, alpha, power):
    expected = TTestPower().power(detectable_effect(1.0, pairs, alpha, power), pairs, alpha)
    assert expected == pytest.approx(power, abs=0.001)


def test_detectable_effect_grows_with_the_spread():
    assert detectable_effect(0.3, 50) == pytest.approx(0.3 * detectable_effect(1.0, 50))
    assert detectable_effect(0.0, 50) == 0
    assert detectable_effect(1.0, 2) is None


def test_the_detectable_effect_is_found_four_times_out_of_five():
    effect = detectable_effect(1.0, 30)
    values = np.random.default_rng(1).normal(effect, 1.0, (4000, 30))
    assert np.mean(stats.ttest_1samp(values, 0, axis=1).pvalue < 0.05) == pytest.approx(0.8, abs=0.02)


@pytest.mark.parametrize(("deviation", "reach"), [(0.3, 0.05), (0.4, 0.01), (1.0, 2.0), (0.5, 0.5)])
def test_rows_needed_are_enough_and_one_less_is_not(deviation, reach):
    def width(rows):
        values = np.resize([-1.0, 1.0], rows)
        values = (values - values.mean()) / values.std(ddof=1) * deviation
        low, high = mean_interval(values)
        return (high - low) / 2

    rows = rows_needed(deviation, reach)
    assert width(rows) <= reach + 1e-12
    assert rows == 2 or width(rows - 1) > reach


def test_rows_needed_at_the_edges():
    assert rows_needed(0.0, 0.1) == 2
    with pytest.raises(ValueError, match="above 0"):
        rows_needed(1.0, 0.0)


def test_noise_floor_by_hand():
    found = noise_floor(np.array([[0.0, 0.5], [0.2, 0.5]]))
    assert found.row_deviation == pytest.approx(0.1)
    assert found.mean_deviation == pytest.approx(0.1 / 2**0.5)
    assert found.smallest_difference == pytest.approx(stats.t.ppf(0.975, 2) * 0.1)


def test_noise_floor_needs_repeats():
    assert noise_floor(np.array([[0.1, 0.2]])) is None
    assert noise_floor(np.array([[0.1, np.nan], [np.nan, 0.2]])) is None
    assert noise_floor(np.array([[0.1, np.nan], [0.1, 0.2]])) == (0, 0, 0)


def test_two_runs_of_one_system_stay_below_the_noise_floor():
    random = np.random.default_rng(3)
    truth = random.random(50)
    floor = noise_floor(truth + random.normal(0, 0.1, (5, 50)))
    first, second = truth + random.normal(0, 0.1, (2, 2000, 50))
    within = np.abs(first.mean(axis=1) - second.mean(axis=1)) < floor.smallest_difference
    assert 0.93 <= within.mean() <= 0.97
