"""Scores of a sample with how they came about."""

import pytest

from ragstone.analysis.explain import explain_sample


def test_counts_are_those_of_explain(viewer, worse):
    found = viewer.json(f"/runs/{worse.id}/samples/8.json")
    cell = next(cell for cell in found["scores"] if cell["metric"] == "fact_recall")
    working = explain_sample(worse, found["sample"]["id"], "fact_recall").working
    [count] = cell["counts"]
    assert (count["above"], count["below"]) == working.counts[0].sums
    assert [(item["number"], item["above"], item["below"]) for item in count["items"]] == list(working.counts[0].parts)
    assert cell["meaning"] == working.meaning
    assert count["items"][0]["address"] == "#fact-1"
    assert count["items"][0]["text"] == found["facts"][0]["text"]


@pytest.mark.parametrize("metric", ["ragchecker.f1", "ragchecker.faithfulness", "ragchecker.hallucination"])
def test_shares_add_up_to_the_score(viewer, hostile, metric):
    found = viewer.json(f"/runs/{hostile.id}/samples/1.json")
    cell = next(cell for cell in found["scores"] if cell["metric"] == metric)
    assert cell["counts"]
    if len(cell["counts"]) == 1:
        assert cell["counts"][0]["value"] == pytest.approx(cell["value"])


def test_a_metric_without_a_share_shows_its_definition(viewer, worse):
    found = viewer.json(f"/runs/{worse.id}/samples/8.json")
    cell = next(cell for cell in found["scores"] if cell["metric"] == "rouge_l")
    assert cell["counts"] == []
    assert cell["meaning"]
    assert cell["part"] == "answer"


def test_eight_scores_come_first_and_each_stands_beside_the_mean_of_the_run(viewer, worse):
    scores = viewer.json(f"/runs/{worse.id}/samples/8.json")["scores"]
    summary = {row.metric: row.mean for row in worse.summary() if row.slice == "all"}
    telling = [cell for cell in scores if cell["telling"]]
    assert 0 < len(telling) <= 8
    for cell in scores:
        if cell["mean"] is not None:
            assert cell["mean"] == pytest.approx(summary[cell["metric"]])
        if bar := cell["bar"]:
            behind = cell["value"] > cell["mean"] if cell["arrow"] == "↓" else cell["value"] < cell["mean"]
            assert (bar["tone"] == "bad") == (behind and cell["arrow"] != "")
            assert 0 <= bar["value"] <= 100
