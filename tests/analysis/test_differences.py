"""Paired differences of metrics, and their verdicts."""

import numpy as np
import pytest

from ragstone.analysis.differences import REWORDING, Settings, judge, measure
from ragstone.storage.run_info import MetricInfo
from ragstone.storage.scores import FAILED, OK, SKIPPED, Scores


def column(values, states=None):
    values = np.array(values, dtype=float)
    return Scores(values, np.full(len(values), OK, dtype=np.int8) if states is None else np.array(states, np.int8))


def compare(before, after, **declared):
    [item] = judge(
        [measure([MetricInfo.declare("m", **declared)], {"m": before}, {"m": after}, Settings())], Settings()
    )[0]
    return item


def test_a_clear_gain_is_better_and_for_a_low_metric_worse():
    before, after = column(np.linspace(0.1, 0.5, 40)), column(np.linspace(0.1, 0.5, 40) + 0.2)
    assert compare(before, after).verdict == "better"
    low = compare(before, after, better="lower")
    assert (low.verdict, low.gain) == ("worse", pytest.approx(-0.2))
    assert low.gain_interval.high <= 0


def test_without_a_direction_there_is_no_verdict():
    item = compare(column(np.zeros(40)), column(np.ones(40)), better="none")
    assert (item.verdict, item.gain, item.difference) == (None, None, 1.0)


def test_five_pairs_are_too_few():
    assert compare(column([0.0] * 5), column([1.0] * 5)).verdict == "too few rows"
    assert compare(column([0.0] * 6), column([1.0] * 6)).verdict == "better"


def test_pairs_without_values_are_counted_by_reason():
    nan = float("nan")
    item = compare(column([0.1, nan, nan, 0.4], [OK, SKIPPED, FAILED, OK]), column([0.2, 0.3, 0.4, 0.5]))
    assert (item.pairs, item.skipped, item.failed) == (2, 1, 1)
    assert (item.skipped_before, item.skipped_after) == (1, 0)


def test_no_metrics_no_differences():
    assert measure([], {}, {}, Settings()) == []


FAITHFULNESS = (
    "ragchecker.faithfulness|v1|answer_claims/1|claims_in_contexts/1|checker:{};passages/11|extractor:rules/5"
)
LOCAL = {"judges": "answer", "signature": FAITHFULNESS.format("local-judge/5#8228c814")}


def test_other_words_alone_rarely_decide_by_the_local_judge():
    """80 assistants whose answers are only worded differently: all rows of one shift together, by its style."""
    rng = np.random.default_rng(5)
    shifts = rng.normal(0, REWORDING["claims_in_contexts"], 80)
    verdicts = {True: [], False: []}
    for shift in shifts:
        before = rng.uniform(0.5, 0.8, 60)
        after = before + shift + rng.normal(0, 0.15, 60)
        for is_local, declared in ((True, LOCAL), (False, {})):
            verdicts[is_local].append(compare(column(before), column(after), **declared).verdict)
    assert sum(verdict != "no evidence" for verdict in verdicts[False]) > 40
    assert sum(verdict != "no evidence" for verdict in verdicts[True]) <= 8  # 4 are expected


def test_the_interval_of_the_local_judge_is_widened_as_by_independent_errors():
    rng = np.random.default_rng(6)
    before = rng.uniform(0.4, 0.8, 50)
    after = before + rng.normal(0.1, 0.1, 50)
    plain, local = compare(column(before), column(after)), compare(column(before), column(after), **LOCAL)
    assert local.rewording == REWORDING["claims_in_contexts"]
    width = np.hypot((plain.high - plain.low) / 2, 1.96 * local.rewording)
    assert (local.high - local.low) / 2 == pytest.approx(width, rel=1e-3)
    assert (plain.verdict, local.verdict) == ("better", "no evidence")
    # No number of pairs makes the judge more exact.
    assert local.enough_pairs is None


def test_answers_with_equal_values_are_not_reworded():
    before, after = np.full(40, 0.5), np.full(40, 0.5)
    after[:10] = 0.6
    item = compare(column(before), column(after), **LOCAL)
    assert item.rewording == pytest.approx(REWORDING["claims_in_contexts"] / 4)
    assert compare(column(before), column(before), **LOCAL).rewording == 0


def test_chunks_and_language_models_have_no_style():
    before, after = column(np.linspace(0.1, 0.5, 40)), column(np.linspace(0.2, 0.6, 40))
    assert compare(before, after, **{**LOCAL, "judges": "contexts"}).rewording == 0
    asked = FAITHFULNESS.format("llm/openai/gpt-4o-mini#1")
    assert compare(before, after, judges="answer", signature=asked).rewording == 0


def test_equal_changes_have_an_interval_by_the_local_judge():
    item = compare(column([0.25] * 20), column([0.5] * 20), **LOCAL)
    assert (item.high - item.low) / 2 == pytest.approx(1.96 * item.rewording, rel=1e-3)
    assert 0 < item.p < 1
