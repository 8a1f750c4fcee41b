"""One sample in two runs."""

import pytest

from ragstone.data.types import Chunk
from ragstone.web.pages.pair import _chunks
from ragstone.web.sample_data import Limits


@pytest.fixture(scope="module")
def compared(viewer, worse, better):
    return viewer.when_ready(f"/compare/{worse.id}/{better.id}.json", lambda found: found["ready"])


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
