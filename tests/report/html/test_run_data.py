"""The data of a run that its page needs."""

from dataclasses import replace

import pytest

from ragstone.report.html.run_page import read_run_data, show_rows


@pytest.fixture(scope="module")
def data(worse):
    return read_run_data(worse)


def test_it_has_all_metrics_and_samples(data, worse):
    assert set(data.scores) == {metric["metric"] for metric in worse.info["metrics"]}
    assert len(data.ids) == len(data.quality) == worse.info["dataset"]["rows"]
    assert len(data.diagnosis.faulty) == data.diagnosis.failing


def test_rows_beyond_the_diagnosis_are_undecided(data):
    assert data.outcome(0) is data.diagnosis.outcomes[0]
    cut = replace(data, known=type("Empty", (), {"outcomes": []})())
    assert "first 0 samples" in cut.outcome(0).undecided


def test_samples_are_shown_with_their_scores(data):
    shown = show_rows(data, [2, 0], "x")
    assert [sample.anchor for sample in shown.values()] == ["x3", "x1"]
    assert {cell.metric for cell in shown[0].scores} == set(data.scores)
