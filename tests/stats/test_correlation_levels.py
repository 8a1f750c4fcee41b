"""The levels of the definition: within inputs, over the data set, between systems, given the system."""

import numpy as np
import pytest
from scipy import stats

from ragstone.stats.correlation import COEFFICIENTS, LEVELS, Scored, affordable_resamples, correlate_at
from ragstone.stats.resampled_measures import best_chances

THEIRS = {
    "spearman": stats.spearmanr,
    "pearson": stats.pearsonr,
    "kendall": stats.kendalltau,
    "somers": lambda scores, labels: (stats.somersd(labels, scores).statistic,),
}


def make_rows(inputs=30, systems=5, seed=0):
    random = np.random.default_rng(seed)
    quality = np.linspace(0, 1, systems)[None, :] + random.normal(size=(inputs, 1))
    labels = np.round(quality + random.normal(size=(inputs, systems)), 1)
    scores = labels + random.normal(size=(inputs, systems))
    places = np.indices((inputs, systems)).reshape(2, -1)
    return Scored(scores.ravel(), labels.ravel(), *places)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_each_level_by_its_definition(coefficient):
    rows, theirs = make_rows(), THEIRS[coefficient]
    scores, labels = rows.scores.reshape(30, 5), rows.labels.reshape(30, 5)
    expected = {
        "dataset": theirs(rows.scores, rows.labels)[0],
        "sample": np.mean([theirs(*pair)[0] for pair in zip(scores, labels, strict=True)]),
        "system": theirs(scores.mean(axis=0), labels.mean(axis=0))[0],
    }
    for level, value in expected.items():
        found = correlate_at(level, rows, coefficient, resamples=50)
        assert found.value == pytest.approx(value, abs=1e-9)
        assert found.interval.low <= found.value <= found.interval.high


def test_constant_inputs_are_skipped_and_counted():
    rows = make_rows(inputs=4)
    labels, scores = rows.labels.copy(), rows.scores.copy()
    labels[rows.inputs == 1] = 3.0
    scores[rows.inputs == 2] = 0.5
    found = correlate_at("sample", rows._replace(labels=labels, scores=scores))
    kept = [stats.spearmanr(scores[rows.inputs == at], labels[rows.inputs == at])[0] for at in (0, 3)]
    assert (found.units, found.skipped) == (2, 2)
    assert found.value == pytest.approx(np.mean(kept))


def test_inputs_with_different_numbers_of_systems_and_in_any_order():
    rows = make_rows(inputs=12)
    kept = np.random.default_rng(1).permutation(60)[:47]
    some = rows.take(kept)
    each = [
        stats.spearmanr(some.scores[some.inputs == at], some.labels[some.inputs == at])[0]
        for at in np.unique(some.inputs)
        if (some.inputs == at).sum() > 1
    ]
    found = correlate_at("sample", some)
    assert found.value == pytest.approx(np.mean(each))
    assert found.units + found.skipped == len(np.unique(some.inputs))


def test_what_cannot_be_measured_says_why():
    rows = make_rows(systems=2)
    assert correlate_at("system", rows).reason == "there are 2 systems; it takes 3"
    one = rows.take(np.flatnonzero(rows.systems == 0))
    assert correlate_at("partial", one).reason == "there is one system: the same as over the data set"
    assert correlate_at("sample", one).reason == "each input has one system"
    assert correlate_at("dataset", one._replace(labels=np.ones(30))).reason == "scores or labels do not vary"
    assert "it takes 3" in correlate_at("dataset", rows.take(np.arange(2))).reason
    for level in LEVELS:
        assert correlate_at(level, one.take(np.arange(0))).value is None


def test_rows_of_one_input_do_not_count_as_many():
    """Every row ten times over says nothing new, and the interval knows."""
    rows = make_rows(systems=3)
    again = np.repeat(np.arange(90), 10)
    once, often = (correlate_at("dataset", each).interval for each in (rows, rows.take(again)))
    assert often.high - often.low == pytest.approx(once.high - once.low, rel=0.15)


def test_many_rows_make_fewer_resamples_of_kendall_only():
    assert affordable_resamples(2000, "kendall") == affordable_resamples(10**6, "spearman") == 2000
    assert 100 <= affordable_resamples(20_000, "kendall") < 2000


def test_measures_of_the_same_draws_are_compared_fairly():
    random = np.random.default_rng(0)
    labels = random.normal(size=150)
    inputs, systems = np.arange(150), np.zeros(150)
    good, bad = labels + random.normal(size=150), random.normal(size=150)
    twin = good + 0.01 * random.normal(size=150)
    found = [correlate_at("dataset", Scored(each, labels, inputs, systems)) for each in (good, twin, bad, good)]
    p = best_chances([each.value for each in found], np.column_stack([each.drawn for each in found]))
    assert p[0] == p[3] > 0.05
    assert p[1] > 0.05
    assert p[2] < 0.01


def test_measures_that_are_one_and_the_same_are_both_the_best():
    found = correlate_at("dataset", make_rows())
    assert best_chances([found.value] * 2, np.column_stack([found.drawn] * 2)).tolist() == [1.0, 1.0]
    assert np.isnan(best_chances([found.value], found.drawn[:, None])).all()


@pytest.mark.slow
def test_metrics_as_good_as_the_best_are_seldom_ruled_out():
    alarms = 0
    for seed in range(60):
        random = np.random.default_rng(seed)
        labels = random.normal(size=80)
        metrics = labels + random.normal(size=(6, 80))
        rows = [Scored(each, labels, np.arange(80), labels) for each in metrics]
        found = [correlate_at("dataset", each, resamples=300) for each in rows]
        p = best_chances([each.value for each in found], np.column_stack([each.drawn for each in found]))
        alarms += np.count_nonzero(p < 0.05)
    assert 1 <= alarms <= 32  # 5 % of 360 is 18
