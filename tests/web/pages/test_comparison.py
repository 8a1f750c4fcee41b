"""The comparison of two runs."""

import pytest

from ragstone.compare.comparison import compare_runs


@pytest.fixture(scope="module")
def compared(viewer, worse, better):
    return viewer.when_ready(f"/compare/{worse.id}/{better.id}.json", lambda found: found["ready"])


def test_two_ticked_runs_lead_to_their_comparison(viewer, worse, better):
    answer, _ = viewer.ask(f"/compare?run={better.id}&run={worse.id}")
    assert (answer.status, answer.headers["location"]) == (303, f"/compare/{worse.id}/{better.id}")
    assert "exactly two" in viewer.page(f"/compare?run={better.id}", 400).text()


def test_the_numbers_are_those_of_the_comparison(viewer, worse, better, compared):
    found = {item.metric: item for item in compare_runs(worse, better).metrics}
    rows = [row for group in compared["groups"] for row in group["rows"]]
    assert {row["metric"] for row in rows} == set(found)
    for row in rows:
        item = found[row["metric"]]
        assert row["difference"] == pytest.approx(item.difference)
        assert (row["low"], row["high"], row["verdict"]) == (item.low, item.high, item.verdict or "")
        assert abs(row["high"]) <= compared["reach"]
    page = viewer.page(f"/compare/{worse.id}/{better.id}")
    assert compared["headline"] in page.text()
    assert len([plot for plot in page.find("svg") if "strip" in plot["class"]]) == len(rows) + len(compared["groups"])


def test_losses_come_first_or_gains(viewer, worse, better, compared):
    losses = [sample["gain"] for sample in compared["changed"]]
    assert losses == sorted(losses)
    gains = viewer.json(f"/compare/{worse.id}/{better.id}.json?show=gains")["changed"]
    assert [sample["gain"] for sample in gains] == losses[::-1]


def test_runs_without_a_common_sample_say_so(viewer, worse, hostile):
    assert "no metric in common" in viewer.page(f"/compare/{worse.id}/{hostile.id}", 400).text() or (
        "no sample in common" in viewer.page(f"/compare/{worse.id}/{hostile.id}", 400).text()
    )
    assert viewer.ask(f"/compare/{worse.id}/nothing")[0].status == 404
    assert viewer.ask(f"/compare/{worse.id}/{worse.id}/samples/99")[0].status == 404
