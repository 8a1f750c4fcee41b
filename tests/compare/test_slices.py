"""Slices, the worst samples, and single cases, against plain computation."""

import numpy as np
import pytest

import ragstone
from ragstone.compare.cases import read_case, read_cases_at
from ragstone.compare.slices import find_columns, slice_run
from ragstone.compare.worst import find_worst, measure_quality, telling_metrics
from ragstone.stats.intervals import mean_interval
from ragstone.storage.labels import read_labels
from ragstone.storage.scores import Scores, read_scores


def rows(count=30):
    return [
        {
            "id": f"s{number}",
            "question": "q",
            "answer": "a b c d"[: 1 + 2 * (number % 4)],
            "references": ["a b c d"] if number % 5 else None,
            "metadata": {"topic": "xyz"[number % 3], "hard": number % 2 == 0, "name": f"n{number}"},
        }
        for number in range(count)
    ]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return ragstone.evaluate(rows(), ["token_f1", "token_recall", "refusal"], tmp_path_factory.mktemp("slices"))


def test_columns_with_a_few_values_are_found(run):
    assert find_columns(run) == ["hard", "topic"]


def test_slices_are_the_means_of_their_rows(run):
    metrics = run.info["metrics"]
    names = [metric["metric"] for metric in metrics]
    scores = read_scores(run, names)
    parts = slice_run(read_labels(run, "topic"), "topic", metrics, scores)
    assert [(part.label, part.rows) for part in parts] == [("x", 10), ("y", 10), ("z", 10)]
    frame = run.to_pandas()
    for place, part in enumerate(parts):
        values = frame["token_f1"][place::3].dropna()
        row = part.metrics[names.index("token_f1")]
        assert row.mean == pytest.approx(values.mean())
        assert (row.n_ok, row.n_skipped, row.n_failed) == (len(values), 10 - len(values), 0)
        interval = mean_interval(values.to_numpy(), bounds=(0.0, 1.0))
        assert (row.ci_low, row.ci_high) == pytest.approx(tuple(interval))


def test_single_cases_are_those_of_the_whole(run):
    found = read_cases_at(run, [29, 0, 7])
    assert sorted(found) == [0, 7, 29]
    for row, case in found.items():
        assert case.sample == read_case(run, row).sample


def test_cases_beyond_a_batch(tmp_path):
    many = [{"id": str(n), "question": "q", "answer": "a", "facts": ["a"], "contexts": ["a"]} for n in range(2500)]
    run = ragstone.evaluate(many, ["fact_recall"], tmp_path)
    found = read_cases_at(run, [999, 1000, 2499])
    assert {row: case.sample.id for row, case in found.items()} == {999: "999", 1000: "1000", 2499: "2499"}
    assert all(case.evidence["fact_ranks"] == [1] for case in found.values())


def metric(name, family, better="higher", bounds=(0.0, 1.0)):
    return {"metric": name, "family": family, "better": better, "bounds": list(bounds)}


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
    assert find_worst(quality, [0, 4], 10) == [0, 4, 1, 3]
    assert find_worst(quality, [], 2) == [1, 3]


def test_without_bounds_there_is_no_quality():
    assert np.isnan(measure_quality([metric("e", "x", bounds=(None, None))], {"e": scores(1, 2)}, 2)).all()


def test_telling_metrics_come_in_the_order_of_the_run():
    metrics = [metric("own", "x"), metric("token_f1", "x"), metric("plain", "x", "none"), metric("ragchecker.f1", "x")]
    assert [one["metric"] for one in telling_metrics(metrics, 2)] == ["token_f1", "ragchecker.f1"]
    assert [one["metric"] for one in telling_metrics(metrics, 9)] == ["own", "token_f1", "ragchecker.f1"]
