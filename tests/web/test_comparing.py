"""Two runs side by side, and one sample of both."""

import pytest

from ragstone.compare.comparison import compare_runs
from ragstone.data.types import Chunk
from ragstone.web.evidence import Limits
from ragstone.web.pages.pair import _chunks


@pytest.fixture(scope="module")
def compared(viewer, worse, better):
    return viewer.when_ready(f"/compare/{worse.id}/{better.id}.json", lambda found: found["ready"])


def test_two_ticked_runs_lead_to_their_comparison(viewer, worse, better):
    answer, _ = viewer.ask(f"/compare?run={better.id}&run={worse.id}")
    assert (answer.status, answer.headers["location"]) == (303, f"/compare/{worse.id}/{better.id}")
    assert "tick two" in viewer.page(f"/compare?run={better.id}", 400).text()


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


def test_a_pair_shows_what_changed(viewer, worse, better, compared):
    lost = gained = 0
    for sample in compared["changed"]:
        found = viewer.json(f"{sample['address']}.json")
        answers = ["".join(piece["text"] for piece in side["answer"]) for side in found["sides"]]
        assert "".join(piece["text"] for piece in found["answer"] if piece["kind"] != "new") == answers[0]
        assert "".join(piece["text"] for piece in found["answer"] if piece["kind"] != "gone") == answers[1]
        for fact in found["facts"]:
            gained += fact["change"] == "gained"
            lost += fact["change"] == "lost"
        old, new = ([chunk[side] for chunk in found["chunks"] if chunk[side]] for side in ("before", "after"))
        assert sorted(old) == list(range(1, len(old) + 1))
        assert new == list(range(1, len(new) + 1))
    assert gained > 3 > lost
    assert "gained" in viewer.page(f"/compare/{worse.id}/{better.id}/samples/8").text()


def test_one_walks_through_the_changed_samples(viewer, compared):
    place, seen = compared["changed"][0]["address"], []
    while place:
        found = viewer.json(f"{place}.json")
        seen.append(found["sides"][1]["row"])
        place = found["walk"]["next"]
    assert seen == [sample["row"] for sample in compared["changed"]]


def test_runs_without_a_common_sample_say_so(viewer, worse, hostile):
    assert "no metric in common" in viewer.page(f"/compare/{worse.id}/{hostile.id}", 400).text() or (
        "no sample in common" in viewer.page(f"/compare/{worse.id}/{hostile.id}", 400).text()
    )
    assert viewer.ask(f"/compare/{worse.id}/nothing")[0].status == 404
    assert viewer.ask(f"/compare/{worse.id}/{worse.id}/samples/99")[0].status == 404


def test_chunks_are_paired_by_id_or_by_text():
    before = [Chunk("one", "a"), Chunk("two", "b"), Chunk("bare")]
    after = [Chunk("bare"), Chunk("two, changed", "b"), Chunk("new", "c")]
    found = _chunks(before, after, Limits())
    assert [(chunk["kind"], chunk["before"], chunk["after"]) for chunk in found] == [
        ("same", 3, 1),
        ("changed", 2, 2),
        ("new", None, 3),
        ("gone", 1, None),
    ]
