"""The order in which samples are inspected."""

import numpy as np
import pytest

from ragstone.analysis.sample_order import find_worst, measure_quality, telling_metrics
from ragstone.storage.run_info import MetricInfo
from ragstone.storage.scores import Scores


def metric(name, family, better="higher", bounds=(0.0, 1.0)):
    return MetricInfo.declare(name, family=family, better=better, bounds=bounds)


def scores(*values):
    return Scores(np.array(values, dtype=float), np.zeros(len(values), dtype=np.int8))


def test_quality_by_hand():
    metrics = [
        metric("a", "one"),
        metric("b", "one", "lower"),
        metric("c", "two", bounds=(-1.0, 1.0)),
        metric("d", "three", "none"),
        metric("e", "four", bounds=(None, None)),
    ]
    table = {
        "a": scores(1.0, 0.0, np.nan),
        "b": scores(0.5, 1.0, np.nan),
        "c": scores(0.0, np.nan, np.nan),
        "d": scores(1, 1, 1),
        "e": scores(9, 9, 9),
    }
    quality = measure_quality(metrics, table, 3)
    # Family one: the mean of 1 and 1 - 0.5; family two: halfway from -1 to 1.
    assert quality[:2] == pytest.approx([(0.75 + 0.5) / 2, 0.0])
    assert np.isnan(quality[2])


def test_faults_come_first_then_the_lowest():
    quality = np.array([0.9, 0.1, np.nan, 0.5, np.nan])
    assert find_worst(quality, {0: 0.5, 4: 0.9}, 10) == [4, 0, 1, 3]
    assert find_worst(quality, {}, 2) == [1, 3]


def test_without_bounds_there_is_no_quality():
    assert np.isnan(measure_quality([metric("e", "x", bounds=(None, None))], {"e": scores(1, 2)}, 2)).all()


def test_telling_metrics_come_in_the_order_of_the_run():
    metrics = [metric("own", "x"), metric("token_f1", "x"), metric("plain", "x", "none"), metric("ragchecker.f1", "x")]
    assert [one["metric"] for one in telling_metrics(metrics, 2)] == ["token_f1", "ragchecker.f1"]
    assert [one["metric"] for one in telling_metrics(metrics, 9)] == ["own", "token_f1", "ragchecker.f1"]


def test_telling_metrics_are_of_many_families():
    of_checker = [metric(f"ragchecker.{name}", "ragchecker") for name in ("f1", "claim_recall", "faithfulness")]
    metrics = [*of_checker, metric("token_f1", "lexical"), metric("rouge_l", "lexical"), metric("own", "own")]
    names = [one["metric"] for one in telling_metrics(metrics, 4)]
    assert names == ["ragchecker.f1", "ragchecker.claim_recall", "token_f1", "own"]
    bare = [{"metric": one["metric"], "better": "higher"} for one in metrics]  # of an aggregate
    assert [one["metric"] for one in telling_metrics(bare, 4)] == names
