"""Slices, the worst samples, and single cases, against plain computation."""

import pytest

import ragstone
from ragstone.analysis.sample_evidence import read_case, read_cases_at
from ragstone.analysis.slices import find_columns, slice_run
from ragstone.stats.intervals import mean_interval
from ragstone.storage.scores import read_labels, read_scores


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


def test_remarks_on_single_samples_are_not_slices(tmp_path):
    data = [
        {**row, "metadata": {"note": f"check {n}" if n % 4 == 0 else "", "lone": str(n)}}
        for n, row in enumerate(rows(12))
    ]
    assert find_columns(ragstone.evaluate(data, ["token_f1"], tmp_path)) == []
