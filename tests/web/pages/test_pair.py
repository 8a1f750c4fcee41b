"""One sample in two runs."""

import pytest

from ragstone.analysis.causes import find_causes
from ragstone.analysis.sample_evidence import Case
from ragstone.data.types import Chunk, Sample
from ragstone.views.marks import Limits
from ragstone.web.pages.pair import _chunks


@pytest.fixture(scope="module")
def compared(viewer, worse, better):
    return viewer.when_ready(f"/compare/{worse.id}/{better.id}.json", lambda found: found["ready"])


def test_a_pair_shows_what_changed(viewer, worse, better, compared):
    lost = gained = 0
    for sample in compared["table"]["rows"]:
        found = viewer.json(f"{sample['address']}.json")
        answers = ["".join(piece["text"] for piece in side["answer"]) for side in found["sides"]]
        assert "".join(piece["text"] for piece in found["answer"] if piece["kind"] != "new") == answers[0]
        assert "".join(piece["text"] for piece in found["answer"] if piece["kind"] != "gone") == answers[1]
        for fact in found["facts"]:
            gained += fact["change"] == "gained"
            lost += fact["change"] == "lost"
        old, new = ([chunk[side] for chunk in found["chunks"] if chunk[side]] for side in ("before", "after"))
        assert sorted(old) == list(range(1, len(old) + 1))
        assert sorted(new) == list(range(1, len(new) + 1))
        kinds = [chunk["kind"] in ("gone", "new") for chunk in found["chunks"]]
        assert kinds == sorted(kinds, reverse=True)
    assert gained > 3 > lost
    assert "gained" in viewer.page(f"/compare/{worse.id}/{better.id}/samples/8").text()


def test_one_walks_through_the_pairs_of_the_table(viewer, compared):
    place, seen = compared["table"]["rows"][0]["address"], []
    while place:
        found = viewer.json(f"{place}.json")
        seen.append(found["sides"][1]["row"])
        place = found["walk"]["next"]
    assert seen == [sample["row"] for sample in compared["table"]["rows"]]


def test_one_walks_through_filtered_pairs(viewer, worse, better):
    listed = viewer.json(f"/compare/{worse.id}/{better.id}.json?change=worse&metric=token_f1")["table"]["rows"]
    second = viewer.json(
        viewer.json(f"{listed[0]['address'].replace('?', '.json?')}")["walk"]["next"].replace("?", ".json?")
    )
    assert second["sides"][1]["row"] == listed[1]["row"]
    assert second["walk"]["of"] == len(listed)


def case_of(chunks, **more):
    case = Case(Sample("id", contexts=chunks, **more))
    return case, find_causes(case)


def test_chunks_are_paired_by_id_or_by_text():
    before = [Chunk("one", "a"), Chunk("two words of a text", "b"), Chunk("bare")]
    after = [Chunk("bare"), Chunk("two words of the text", "b"), Chunk("new", "c")]
    found = _chunks(case_of(before), case_of(after), Limits())
    assert [(chunk["kind"], chunk["before"], chunk["after"]) for chunk in found] == [
        ("new", None, 3),
        ("gone", 1, None),
        ("changed", 2, 2),
        ("same", 3, 1),
    ]
    changed = found[2]["pieces"]
    assert [piece["text"] for piece in changed[0] if piece["kind"] == "gone"] == ["a"]
    assert [piece["text"] for piece in changed[1] if piece["kind"] == "new"] == ["the"]


def test_facts_are_marked_in_both_runs(viewer, worse, better):
    found = viewer.json(f"/compare/{worse.id}/{better.id}/samples/8.json")
    first = found["chunks"][0]
    assert (first["kind"], first["facts"], first["evidence"]) == ("new", [1], True)
    assert first["marks"] == [None, [{"tone": "good", "words": "contains fact 1"}]]
    assert [chunk["evidence"] for chunk in found["chunks"][1:]] == [False] * (len(found["chunks"]) - 1)
    assert any(piece["numbers"] == [1] for piece in first["pieces"][1])
    for fact in found["facts"]:
        for at, side in enumerate(("before", "after")):
            marked = [
                chunk[side]
                for chunk in found["chunks"]
                for piece in chunk["pieces"][at] or ()
                if fact["number"] in piece["numbers"]
            ]
            assert set(marked) == set(fact[side])


def test_answers_that_differ_too_much_are_not_diffed(viewer, worse, better, compared):
    pairs = [viewer.json(f"{sample['address']}.json") for sample in compared["table"]["rows"]]
    assert {pair["alike"] for pair in pairs} == {True, False}
    for pair in pairs:
        kinds = {piece["kind"] for side in pair["texts"] for piece in side}
        assert pair["alike"] or kinds == {""}


def test_changed_scores_come_first(viewer, worse, better):
    scores = viewer.json(f"/compare/{worse.id}/{better.id}/samples/8.json")["scores"]
    changed = [score["changed"] for score in scores]
    assert changed == sorted(changed, reverse=True)
    assert all((score["before"] == score["after"]) != score["changed"] for score in scores)
