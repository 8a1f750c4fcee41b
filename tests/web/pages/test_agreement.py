"""The agreement pages: without labels, with some, and with hostile names."""

import json
import random

import pytest

from tests.web import made_runs


@pytest.fixture
def run(tmp_path):
    return made_runs.long_run(tmp_path, 40)


@pytest.fixture
def client(serve, tmp_path, run):
    return serve(tmp_path)


def label(client, run, row, value, author="Ana", pick="random"):
    token = client.secret(f"/runs/{run.id}/samples/{row}")
    fields = {"token": token, "run": run.id, "row": row, "author": author, "label": f"answer {value}", "by": "script"}
    answer, body = client.post("/labels/save.json", fields | {"pick": pick})
    assert answer.status == 200, body
    return json.loads(body)


def test_without_labels_the_pages_say_how_to_begin(client, run):
    for path in ("/agreement", f"/agreement/{run.id}"):
        client.ready(run)
        _, body = client.ask(path)
        assert "There are no labels yet" in body.decode()
    assert client.ask("/agreement/no-such-run")[0].status == 404


def test_labels_are_counted_at_once(client, run):
    client.ready(run)
    draw = random.Random(1)
    for row in range(1, 13):
        label(client, run, row, draw.choice(["right", "wrong"]))
        label(client, run, row, draw.choice(["right", "wrong"]), "<b>Bo</b>")
    found = client.json(f"/agreement/{run.id}.json")["measured"]
    assert (found["labels"], found["rows"]) == (24, 12)
    assert [one["author"] for one in found["people"]] == ["Ana", "<b>Bo</b>"]
    assert found["kappas"][0][:3] == ["<b>Bo</b>", "Ana", 12]
    assert found["judges"][0]["name"] == "status"
    assert found["disagreements"][0]["address"].startswith(f"/runs/{run.id}/samples/")
    page = client.ask(f"/agreement/{run.id}")[1].decode()
    assert "<svg" in page
    assert "<b>Bo</b>" not in page
    # Every labelled row is a point that links to its sample, also for a metric.
    assert page.count('class="point good"') + page.count('class="point bad"') == 12 + 2
    assert all(f'<a href="/runs/{run.id}/samples/{row}" tabindex="-1">' in page for row in range(1, 13))
    assert "against the labels of people: labelled" in page
    assert page == client.ask(f"/agreement/{run.id}")[1].decode()
    label(client, run, 13, "right")
    assert client.json(f"/agreement/{run.id}.json")["measured"]["rows"] == 13
    store = client.json("/agreement.json")
    assert [(one["id"], one["labelled"]) for one in store["runs"]] == [(run.id, 13)]
