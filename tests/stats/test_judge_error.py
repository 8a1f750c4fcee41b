"""Estimated human scores: the interval covers as stated, for good and bad systems alike."""

import json
from dataclasses import replace

import numpy as np
import pytest

from ragstone.stats.judge_error import JudgeError, Labelled, Level, fit_error

YES, NO, YES_BETWEEN, NO_BETWEEN, SPREAD = 0.7, 0.35, 0.06, 0.05, 0.2


def draw(random: np.random.Generator, rows: int, share: float) -> Labelled:
    """A domain with its own levels."""
    accepted = random.random(rows) < share
    levels = random.normal(YES, YES_BETWEEN), random.normal(NO, NO_BETWEEN)
    return Labelled(np.where(accepted, *levels) + random.normal(0, SPREAD, rows), accepted)


def simulate(seed: int, domains: int, share: float | None, times: int = 1500) -> tuple[float, float]:
    """Coverage and mean width over new domains; every tenth time the error is fitted to other domains."""
    random, covered, widths = np.random.default_rng(seed), [], []
    error = None
    for time in range(times):
        if time % 10 == 0:
            error = fit_error([draw(random, 40, random.uniform(0.3, 0.9)) for _ in range(domains)])
        true = random.random() if share is None else share
        values = draw(random, 60, true).values
        reach = 1.96 * values.std(ddof=1) / len(values) ** 0.5
        assert error is not None
        low, high = error.people(values.mean(), values.mean() - reach, values.mean() + reach).interval()
        covered.append(low <= true <= high)
        widths.append(high - low)
    return float(np.mean(covered)), float(np.mean(widths))


@pytest.mark.slow
@pytest.mark.parametrize("domains", [12, 40])
def test_the_interval_covers_as_stated_over_systems_of_all_qualities(domains: int) -> None:
    covered, width = simulate(1, domains, None)
    assert 0.92 <= covered <= 0.98
    assert width < 0.75


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.2, 0.5, 0.8, 0.95])
def test_it_covers_for_bad_and_good_systems_alike(share: float) -> None:
    assert 0.9 <= simulate(2, 30, share)[0] <= 0.995


def test_the_levels_and_their_spread_are_found() -> None:
    random = np.random.default_rng(3)
    error = fit_error([draw(random, 200, 0.6) for _ in range(300)])
    assert error is not None
    assert error.accepted.mean == pytest.approx(YES, abs=0.02)
    assert error.refused.mean == pytest.approx(NO, abs=0.02)
    assert error.accepted.between == pytest.approx(YES_BETWEEN, abs=0.015)
    assert error.refused.between == pytest.approx(NO_BETWEEN, abs=0.015)
    assert error.accepted.domains == 300


def test_too_few_domains_and_a_judge_that_separates_nothing_give_no_error() -> None:
    random = np.random.default_rng(4)
    assert fit_error([draw(random, 40, 0.5) for _ in range(4)]) is None
    assert fit_error([draw(random, 40, 1.0) for _ in range(9)]) is None
    swapped = [draw(random, 40, 0.5) for _ in range(9)]
    assert fit_error([Labelled(one.values, ~one.accepted) for one in swapped]) is None


def judge(random: np.random.Generator, rows: int, share: float, shift: float = 0.0) -> Labelled:
    """A planted judge that is far too kind: refused rows get 0.45 on average, accepted ones 0.85."""
    accepted = random.random(rows) < share
    means = np.where(accepted, 0.85, 0.45 + shift)
    return Labelled(random.beta(4 * means, 4 * (1 - means)), accepted)


def cover(labelled: int, between: float, shift: float, times: int = 400) -> tuple[float, float, float]:
    """How often the interval of people, and the judge's own, has the true share of another run; and the width."""
    random, people, own, widths = np.random.default_rng(7), [], [], []
    while len(people) < times:
        seen, true = judge(random, labelled, 0.6), random.uniform(0.2, 0.95)
        error = JudgeError.from_labels(*seen[:2], np.arange(labelled), between)
        if error is None:
            continue
        values = judge(random, 150, true, random.normal(0, shift) if shift else 0.0).values
        reach = 1.96 * values.std(ddof=1) / len(values) ** 0.5
        low, high = error.people(values.mean(), values.mean() - reach, values.mean() + reach).interval()
        people.append(low <= true <= high)
        own.append(abs(values.mean() - true) <= reach)
        widths.append(high - low)
    return float(np.mean(people)), float(np.mean(own)), float(np.mean(widths))


@pytest.mark.parametrize(("labelled", "between", "shift"), [(30, 0.0, 0.0), (30, 0.05, 0.05), (150, 0.05, 0.05)])
def test_labels_mend_a_judge_that_is_too_kind(labelled: int, between: float, shift: float) -> None:
    covered, by_judge, width = cover(labelled, between, shift)
    assert covered >= 0.92
    assert by_judge < 0.5
    assert width < 0.7


def test_fewer_labels_give_a_wider_interval() -> None:
    assert cover(30, 0.05, 0.0, 100)[2] > 1.15 * cover(300, 0.05, 0.0, 100)[2]


def test_a_perfect_exam_of_a_few_items_does_not_prove_a_perfect_judge() -> None:
    accepted = np.arange(24) % 3 == 0
    error = JudgeError.from_labels(accepted.astype(float), accepted, np.arange(24), 0.1)
    assert error is not None
    assert error.accepted.mean < 0.97
    low, high = error.people(0.9, 0.88, 0.92).interval()
    assert high - low > 0.15


def test_answers_to_one_input_count_once() -> None:
    random = np.random.default_rng(8)
    values, accepted, _ = judge(random, 60, 0.5)
    alone, twice = (
        JudgeError.from_labels(values, accepted, groups, 0.0) for groups in (np.arange(60), np.arange(60) // 2)
    )
    assert alone is not None
    assert twice is not None
    assert twice.accepted.error > alone.accepted.error


def test_too_few_labels_and_a_judge_at_chance_give_no_error() -> None:
    values, accepted, _ = judge(np.random.default_rng(9), 60, 0.5)
    assert JudgeError.from_labels(values, ~accepted, np.arange(60), 0.0) is None
    assert JudgeError.from_labels(values[:8], accepted[:8], np.arange(8), 0.0) is None


ERROR = JudgeError(Level(0.65, 0.01, 0.05, 40), Level(0.3, 0.01, 0.05, 40), 0.0005)


def test_a_mean_far_from_all_domains_still_has_an_interval() -> None:
    for mean in (0.0, 0.02, 0.98, 1.0):
        low, high = ERROR.people(mean, mean, mean).interval()
        assert 0 <= low < high <= 1
    assert ERROR.people(1.0, 1.0, 1.0).interval().high == 1.0
    assert ERROR.people(0.0, 0.0, 0.0).interval().low == 0.0


def test_more_doubt_about_the_mean_widens_the_interval_and_chances_add_up() -> None:
    narrow, wide = ERROR.people(0.5, 0.49, 0.51), ERROR.people(0.5, 0.35, 0.65)
    assert np.diff(wide.interval())[0] > np.diff(narrow.interval())[0]
    assert narrow.chance_between(0, 1) == pytest.approx(1)
    assert narrow.chance_between(0.8, 1) < 0.2
    assert narrow.mean == pytest.approx((0.5 - 0.3) / 0.35, abs=0.03)


def test_it_is_the_same_after_json() -> None:
    assert JudgeError.from_json(json.loads(json.dumps(ERROR.as_dict()))) == ERROR


def covered_rows(random: np.random.Generator, rows: int, share: float, coverage: float) -> Labelled:
    """A planted judge whose values rise with word coverage, also where people refuse."""
    accepted, words = random.random(rows) < share, np.clip(random.normal(coverage, 0.1, rows), 0, 1)
    values = np.where(accepted, 0.45 + 0.45 * words, 0.2 + 0.4 * words) + random.normal(0, 0.05, rows)
    return Labelled(values, accepted, words)


def test_texts_close_to_their_source_are_not_taken_for_right() -> None:
    random = np.random.default_rng(5)
    error = fit_error([covered_rows(random, 40, 0.6, random.uniform(0.3, 0.8)) for _ in range(40)])
    assert error is not None
    close = covered_rows(random, 200, 0.7, 0.95)
    mean, share = close.values.mean(), close.accepted.mean()
    low, high = error.people(mean, mean - 0.02, mean + 0.02, 0.95).interval()
    assert low <= share <= high
    assert high - low < 0.6
    unknown = error.people(mean, mean - 0.02, mean + 0.02).interval()
    assert unknown.high - unknown.low > 0.25, "coverage is not known"
    assert JudgeError.from_json(json.loads(json.dumps(error.as_dict()))) == error


def test_data_may_be_of_kinds_whose_levels_depend_on_words_in_other_ways() -> None:
    """Levels of the middle between a kind where refused claims rise with coverage and one where they do not."""
    accepted = Level(0.75, 0.01, 0.06, 40, 0.42, slope_spread=0.03)
    error = JudgeError(accepted, Level(0.38, 0.01, 0.06, 40, 0.2, slope_spread=0.2), coverage=0.65, spread=0.2)
    random, covered = np.random.default_rng(6), []
    for coverage in (0.2, 0.5, 0.7, 0.95):
        for share in (0.1, 0.5, 0.9):
            for slope in (0.4, 0.0):
                rows = covered_rows(random, 100, share, coverage)
                refused = 0.38 + slope * (rows.coverage - 0.65) + random.normal(0, 0.05, 100)
                mean = np.where(rows.accepted, rows.values, refused).mean()
                low, high = error.people(mean, mean - 0.03, mean + 0.03, rows.coverage.mean()).interval()
                covered.append(low <= rows.accepted.mean() <= high)
    assert np.mean(covered) >= 0.9
    narrow = replace(error, refused=replace(error.refused, slope_spread=0.0))
    far, near = 0.25, 0.65
    for coverage, wider in ((far, True), (near, False)):
        widths = [np.diff(one.people(0.4, 0.37, 0.43, coverage).interval())[0] for one in (narrow, error)]
        assert bool(widths[1] > widths[0] + 0.02) is wider
    assert JudgeError.from_json(json.loads(json.dumps(error.as_dict()))) == error


def test_coverage_of_a_run_comes_from_its_verdicts() -> None:
    error = replace(ERROR, weight=0.25, evidence="answer_claims_in_reference")
    totals = {"local_means": {"answer_claims_in_reference": [0.6, 0.65]}}
    assert error.coverage_in(totals) == pytest.approx(0.8)
    assert error.coverage_in({}) is None
    by_chunks = replace(error, evidence="answer_claims_in_all_contexts")
    assert by_chunks.coverage_in({"local_means": {by_chunks.evidence: [0.6, 0.6, 0.7]}}) == 0.7
    assert ERROR.coverage_in(totals) is None
