"""The change-point alarm: what it finds, and both of its rates by simulation."""

import numpy as np
import pytest

from ragstone.stats.change import (
    LEAST_PERIODS_BEFORE,
    LEAST_ROWS_AFTER,
    LEAST_ROWS_BEFORE,
    PeriodSums,
    alarm_limit,
    false_alarm_chance,
    find_changes,
)

UNIT = (0.0, 1.0)
# Shares of the traffic, shares of the draws, and the rates of the strata.
DESIGNS = {
    "one stratum": ([1.0], [1.0], [0.9]),
    "near the bound": ([1.0], [1.0], [0.97]),
    "three strata": ([0.90, 0.08, 0.02], [0.5, 0.3, 0.2], [0.97, 0.7, 0.2]),
    "mostly a rare stratum": ([0.98, 0.02], [0.3, 0.7], [0.95, 0.3]),
}


def make_series(random, rows, shifts, design="one stratum", noise=0.0, carried=0.0):
    """Scores of 0 and 1 in each period, their rates moved by a shift, and by noise of which some carries over."""
    shares, parts, rates = (np.array(part) for part in DESIGNS[design])
    sums, away = PeriodSums(*np.zeros((4, len(shifts), len(shares)))), 0.0
    for period, shift in enumerate(shifts):
        away = carried * away + (1 - carried**2) ** 0.5 * random.normal()
        counts = np.maximum(1, np.round(parts * max(1, random.poisson(rows)))).astype(int)
        right = random.binomial(counts, np.clip(rates + shift + noise * away, 0, 1))
        sums.counts[period], sums.sums[period], sums.squares[period] = counts, right, right
        sums.requests[period] = np.maximum(counts, shares * 20 * rows)
    return sums


def steady(rates, rows=40):
    """A series without noise: every period has exactly this share of ones."""
    counts = np.full((len(rates), 1), float(rows))
    ones = counts * np.array(rates)[:, None]
    return PeriodSums(counts, ones, ones, counts * 10)


def test_a_jump_is_found_with_its_period_and_levels():
    [change] = find_changes(steady([0.9] * 10 + [0.6] * 5), UNIT)
    assert change.since == 10
    assert 10 <= change.at <= 12
    assert (change.before, change.after) == pytest.approx((0.9, 0.6))
    assert change.strength < -alarm_limit(365)
    assert change.chance < 0.05
    [back] = find_changes(steady([0.6] * 10 + [0.9] * 5), UNIT)
    assert back.strength > 0


def test_after_an_alarm_the_new_level_is_the_usual_one():
    changes = find_changes(steady([0.9] * 10 + [0.5] * 12 + [0.9] * 12), UNIT)
    assert [change.since for change in changes] == [10, 22]
    assert [change.strength < 0 for change in changes] == [True, False]
    assert len(find_changes(steady([0.9] * 10 + [0.5] * 40), UNIT)) == 1


def test_an_alarm_depends_on_the_past_only():
    rates = [0.9] * 10 + [0.6] * 5 + [0.95] * 10
    whole = find_changes(steady(rates), UNIT)
    for end in range(1, len(rates) + 1):
        assert find_changes(steady(rates[:end]), UNIT) == [change for change in whole if change.at < end]


def test_other_bounds_give_the_same_alarms():
    random = np.random.default_rng(3)
    unit = make_series(random, 30, [0.0] * 15 + [-0.4] * 5)
    counts, ones, squares, requests = unit
    percent = PeriodSums(counts, 100 * ones - 50 * counts, 1e4 * squares - 1e4 * ones + 2500 * counts, requests)
    [one], [other] = find_changes(unit, UNIT), find_changes(percent, (-50.0, 50.0))
    assert (one.at, one.since, one.strength) == (other.at, other.since, pytest.approx(other.strength))
    assert other.after == pytest.approx(100 * one.after - 50)


def test_never_with_too_few_rows():
    assert not find_changes(steady([1.0] * (LEAST_PERIODS_BEFORE - 1) + [0.0]), UNIT)
    assert not find_changes(steady([1.0] * 40 + [0.0] * 3, rows=1), UNIT)
    before = LEAST_ROWS_BEFORE // 10
    assert not find_changes(steady([1.0] * before + [0.0], rows=LEAST_ROWS_AFTER // 2), UNIT)
    # One row that stands for nearly all traffic is one row.
    counts = np.tile([[1.0, 99.0]], (12, 1))
    requests = np.tile([[9_900.0, 100.0]], (12, 1))
    ones = counts * np.array([1.0] * 10 + [0.0] * 2)[:, None]
    assert not find_changes(PeriodSums(counts, ones, ones, requests), UNIT)
    assert find_changes(PeriodSums(counts, ones, ones, counts), UNIT)


def test_empty_periods_and_strata_are_passed_over():
    sums = steady([0.9] * 10 + [0.5] * 5)
    gaps = PeriodSums(*(np.insert(part, [3, 12], 0.0, axis=0) for part in sums))
    [change] = find_changes(gaps, UNIT)
    assert change.since == 11
    assert not find_changes(PeriodSums(*np.zeros((4, 0, 1))), UNIT)
    assert not find_changes(PeriodSums(*np.zeros((4, 9, 2))), UNIT)


def test_equal_scores_without_bounds_never_alarm():
    """Rounding is not a change."""
    random = np.random.default_rng(0)
    for _ in range(50):
        level, counts = random.normal(5, 3), random.integers(20, 40, 60).astype(float)[:, None]
        rows = [np.full(int(count), level) for [count] in counts]
        sums, squares = (np.array([[part.sum()] for part in parts]) for parts in (rows, [row**2 for row in rows]))
        assert not find_changes(PeriodSums(counts, sums, squares, counts * 20), (None, None), 365)


def test_scores_without_bounds():
    random = np.random.default_rng(1)
    table = random.normal(300.0, 40.0, (20, 50))
    table[14:] += 60
    sums = PeriodSums(
        np.full((20, 1), 50.0), table.sum(axis=1)[:, None], (table**2).sum(axis=1)[:, None], np.full((20, 1), 500.0)
    )
    [change] = find_changes(sums)
    assert change.since == 14
    assert change.after - change.before == pytest.approx(60, abs=12)


def test_the_limit_and_its_probability():
    for per_year in (52, 365):
        assert false_alarm_chance(alarm_limit(per_year), per_year) == pytest.approx(0.05)
    assert alarm_limit(365) == pytest.approx(4.39, abs=0.02)  # simulated
    assert alarm_limit(52) == pytest.approx(3.85, abs=0.03)
    # Ten metrics share the probability.
    assert false_alarm_chance(alarm_limit(365, series=10), 365) == pytest.approx(0.005)
    assert false_alarm_chance(0.0, 365) == 1.0


def simulated_maxima(per_year, times, seed=0):
    """The largest standardised difference of two means in the second year of normal series without a change."""
    sums = np.random.default_rng(seed).normal(size=(times, 2 * per_year)).cumsum(axis=1)
    sums = np.hstack([np.zeros((times, 1)), sums])
    largest = np.zeros(times)
    for end in range(per_year + 1, 2 * per_year + 1):
        start = end - per_year
        splits = np.arange(start + LEAST_PERIODS_BEFORE, end)
        before, after = splits - start, end - splits
        away = (sums[:, [end]] - sums[:, splits]) / after - (sums[:, splits] - sums[:, [start]]) / before
        largest = np.maximum(largest, np.abs(away / np.sqrt(1 / before + 1 / after)).max(axis=1))
    return largest


def test_the_formula_of_the_limit_for_weeks():
    largest = simulated_maxima(52, 4000)
    for chance in (0.2, 0.05, 0.02):
        assert (largest > alarm_limit(52, chance=chance)).mean() == pytest.approx(chance, rel=0.35)


@pytest.mark.slow
def test_the_formula_of_the_limit_for_days():
    largest = np.concatenate([simulated_maxima(365, 500, seed) for seed in range(8)])
    for chance in (0.2, 0.05, 0.02):
        assert (largest > alarm_limit(365, chance=chance)).mean() == pytest.approx(chance, rel=0.3)


def false_alarms(times, per_year=52, **options):
    random = np.random.default_rng(11)
    alarmed = [
        bool(find_changes(make_series(random, shifts=np.zeros(per_year), **options), UNIT, per_year))
        for _ in range(times)
    ]
    return float(np.mean(alarmed))


@pytest.mark.slow
def test_false_alarms_in_a_year_of_few_rows_near_the_bound():
    assert false_alarms(120, rows=10, design="near the bound") <= 0.08


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("rows", [10, 30, 200])
def test_false_alarms_in_a_year(design, rows):
    """The promise is 5 of 100 years; the error of 200 simulated years is 1.5."""
    assert false_alarms(200, rows=rows, design=design) <= 0.07


@pytest.mark.slow
def test_false_alarms_if_the_level_varies_from_period_to_period():
    """Independent noise of the level is part of the promise; noise that carries over is not, and this says how much it costs."""
    for rows in (30, 200):
        assert false_alarms(200, rows=rows, noise=0.03) <= 0.08
    wandering = false_alarms(200, rows=200, noise=0.03, carried=0.6)
    assert 0.2 <= wandering <= 0.95


def delays(rows, shifts_after, times, before=30, **options):
    """The number of periods from the change to its alarm, at most as many as there are."""
    random, found = np.random.default_rng(7), []
    for _ in range(times):
        sums = make_series(random, rows, np.concatenate([np.zeros(before), shifts_after]), **options)
        alarms = [change.at for change in find_changes(sums, UNIT) if change.at >= before]
        found.append(alarms[0] - before + 1 if alarms else len(shifts_after) + 1)
    return np.array(found)


def test_a_jump_is_found_soon():
    assert np.median(delays(200, np.full(10, -0.1), 30)) <= 3
    assert np.median(delays(30, np.full(20, -0.2), 30)) <= 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "size", "median", "most"),
    [(10, 0.3, 6, 12), (10, 0.2, 15, 31), (30, 0.2, 5, 9), (30, 0.1, 17, 31), (200, 0.1, 3, 5), (200, 0.05, 9, 16)],
)
def test_delay_of_jumps(rows, size, median, most):
    found = delays(rows, np.full(30, -size), 200)
    assert np.median(found) <= median
    assert np.quantile(found, 0.9) <= most


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "size", "median"), [(30, 0.2, 14), (200, 0.1, 12), (200, 0.05, 20)])
def test_delay_of_drifts(rows, size, median):
    """The rate sinks over two weeks and stays low."""
    drift = -size * np.minimum(1, (np.arange(40) + 1) / 14)
    assert np.median(delays(rows, drift, 200)) <= median


@pytest.mark.slow
def test_delay_with_skewed_strata():
    assert np.median(delays(200, np.full(15, -0.1), 100, design="three strata")) <= 3
