"""The page of a conversation, and the list on the page of a run."""

import pytest

from tests.web.made_conversations import conversation_rows, conversation_run

ROWS = {row["id"]: number for number, row in enumerate(conversation_rows(), 1)}


@pytest.fixture(scope="module")
def talks(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("talks")
    run = conversation_run(root)
    return serve(root), run


def test_the_run_lists_conversations_worst_first(talks):
    client, run = talks
    found = client.ready(run)["conversations"]
    assert found["total"] == 3
    worst = found["rows"][0]
    assert (worst["name"], worst["turns"], worst["wrong"]) == ("second", 3, 1)
    assert worst["statuses"] == ["fine", "wrong", "fine"]
    assert worst["address"] == f"/runs/{run.id}/conversations/{ROWS['second-2']}"
    assert worst["address"] in client.page(f"/runs/{run.id}").links


def test_turns_are_in_order_with_their_status(talks):
    client, run = talks
    found = client.json(f"/runs/{run.id}/conversations/{ROWS['first-2']}.json")
    assert [turn["row"] for turn in found["transcript"]] == [ROWS[f"first-{number}"] for number in (1, 2, 3)]
    # Two messages come before the first evaluated turn.
    assert [[message["text"] for message in turn["earlier"]] for turn in found["transcript"]] == [
        ["Hello", "Welcome"],
        [],
        [],
    ]
    assert [turn["number"] for turn in found["transcript"]] == [3, 5, 7]
    assert (found["walk"]["place"], found["walk"]["of"]) == (2, 3)
    assert found["walk"]["next"] == f"/runs/{run.id}/conversations/{ROWS['first-3']}"
    page = client.page(f"/runs/{run.id}/conversations/{ROWS['first-2']}")
    assert len(page.ids) == len(set(page.ids))
    assert f"/runs/{run.id}/samples/{ROWS['first-2']}" in page.links
    assert {turn["status"] for turn in found["transcript"]} == {"fine"}


def test_links_lead_both_ways(talks):
    client, run = talks
    for name in ("second-1", "second-2"):
        here = f"/runs/{run.id}/conversations/{ROWS[name]}"
        assert here in client.page(f"/runs/{run.id}/samples/{ROWS[name]}").links
        assert f"/runs/{run.id}/samples/{ROWS[name]}" in client.page(here).links


def test_hostile_texts_stay_texts(talks):
    client, run = talks
    page = client.page(f"/runs/{run.id}/conversations/{ROWS['third-2']}")
    assert all(one.get("src") for one in page.find("script"))
    assert not page.find("img")
    assert "alert(1)" in page.text()


def test_rows_without_a_conversation(talks, viewer, worse):
    client, run = talks
    client.json(f"/runs/{run.id}/conversations/999.json", 404)
    client.json(f"/runs/{run.id}/conversations/x.json", 404)
    assert viewer.ready(worse)["conversations"]["total"] == 0
    assert "conversations/" not in " ".join(viewer.page(f"/runs/{worse.id}/samples/1").links)
    # A row of its own is a conversation of one turn.
    assert len(viewer.json(f"/runs/{worse.id}/conversations/1.json")["transcript"]) == 1
