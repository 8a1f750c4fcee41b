"""Settings that cannot win stop; the chance that the best ever stops is at most alpha, also with a look after every question."""

import numpy as np
import pytest

from ragstone.sweep.elimination import Race, look_ends


def simulate(random, shares, count, alike=0.5):
    """0 or 1 per setting and question; settings often agree, because questions are hard or easy for all."""
    common, own = random.random(count), random.random((len(shares), count))
    drawn = np.where(random.random((len(shares), count)) < alike, common, own)
    return (drawn < np.array(shares)[:, None]).astype(float)


def run_race(values, ends, alpha):
    race, start, stopped = Race(len(values), 1.0, alpha), 0, {}
    for end in ends:
        shown = np.full((len(values), end - start), np.nan)
        shown[race.active] = values[race.active, start:end]
        stopped |= {stop.setting: stop for stop in race.look(shown)}
        start = end
    return stopped


# The last is the hardest case: equal settings, so that each is a best one.
WORLDS = [(0.7, 0.65, 0.6, 0.2), (0.55, 0.5), (0.5,) * 5]


def wrong_stops(shares, alpha, rounds, ends):
    """How often the first setting, a best one, is stopped at any look."""
    random = np.random.default_rng(7)
    return sum(0 in run_race(simulate(random, shares, ends[-1]), ends, alpha) for _ in range(rounds)) / rounds


@pytest.mark.parametrize("shares", WORLDS)
def test_the_best_setting_is_hardly_ever_stopped(shares):
    assert wrong_stops(shares, 0.2, 100, range(5, 61, 5)) <= 0.2


@pytest.mark.slow
@pytest.mark.parametrize("shares", WORLDS)
def test_the_best_setting_is_hardly_ever_stopped_with_a_look_after_every_question(shares):
    # Three standard errors above alpha would be 0.27; the bets stay below alpha itself.
    assert wrong_stops(shares, 0.2, 300, range(1, 121)) <= 0.2


def test_scores_between_0_and_1_and_lower_values():
    alpha, rounds = 0.2, 200
    random = np.random.default_rng(3)
    wrong = 0
    for _ in range(rounds):
        values = np.clip(random.normal(0.5, 0.15, (4, 60)) + random.normal(0, 0.2, 60), 0, 1)
        wrong += 2 in run_race(values, range(5, 61, 5), alpha)
    assert wrong / rounds <= alpha


def test_bad_settings_are_stopped_and_the_evidence_names_the_better_one():
    random = np.random.default_rng(5)
    saved = []
    for _ in range(20):
        stopped = run_race(simulate(random, (0.9, 0.4, 0.3), 120), look_ends([1] * 120, None, 1.5)[:-1], 0.05)
        saved.append(len(stopped))
        assert all(stop.against == 0 and stop.evidence >= 20 for stop in stopped.values())
    assert np.mean(saved) > 1.8


def test_one_setting_always_stays():
    race = Race(2, 1.0, 0.9)
    race.look(np.array([[1.0], [0.0]]))
    race.look(np.array([[np.nan], [1.0]]))
    assert len(race.active) == 1


def test_a_setting_without_values_is_no_evidence():
    race = Race(3, 1.0, 0.05)
    race.leave(2)
    race.look(np.array([[1.0] * 9, [0.0] * 9, [np.nan] * 9]))
    assert race.evidence()[2] == pytest.approx(1.0)
    assert race.active == [0]


def test_looks_grow_and_conversations_stay_whole():
    assert look_ends([1] * 25, None, 1.5) == [8, 12, 18, 25]
    assert look_ends([1] * 5, None, 1.5) == [5]
    assert look_ends([4, 4, 4, 4, 4], 3, 2.0) == [4, 8, 12, 20]
    assert look_ends([1] * 6, 2, 1.01) == [2, 3, 4, 5, 6]
