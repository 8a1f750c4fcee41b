"""Labels over HTTP: stored by forms and scripts, refused from other sites and in a viewer for reading, harmless whatever they say."""

import json
from html import unescape

import pytest

from ragstone.agreement.stored_labels import drawn_rows
from ragstone.storage.human_labels import answer_labels, read_human_labels
from ragstone.storage.label_rounds import read_rounds
from ragstone.storage.places import open_place
from ragstone.storage.runs import open_run
from tests.report import runs
from tests.web import made_runs


@pytest.fixture
def store(tmp_path):
    return tmp_path


@pytest.fixture
def run(store):
    return made_runs.long_run(store, 12)


@pytest.fixture
def client(serve, store, run):
    return serve(store)


def fields(client, run, row=1, **more):
    token = client.secret(f"/runs/{run.id}/samples/{row}")
    given = {"token": token, "run": run.id, "row": row, "author": "Ana", "label": "answer right", "next": ""}
    return given | more


def script(client, run, row=1, **more):
    answer, body = client.post("/labels/save.json", fields(client, run, row, by="script", **more))
    return answer.status, json.loads(body)


def html(client, path):
    return client.ask(path)[1].decode()


def test_a_form_stores_a_label_and_goes_on(client, run, store):
    sample = client.json(f"/runs/{run.id}/samples/1.json?sort=row")
    assert sample["labelling"]["labels"] == []
    address = sample["walk"]["next"]
    answer, _ = client.post("/labels/save", fields(client, run, label="answer wrong", next=address, note="the price"))
    assert answer.status == 303
    assert answer.headers["location"] == address
    [label] = read_human_labels(open_place(store)).labels
    assert (label.value, label.note, label.sample_id, label.run) == ("wrong", "the price", "long-0", run.id)
    assert list(answer_labels(open_run(run.path))) == [0]
    page = html(client, f"/runs/{run.id}/samples/1")
    assert "labelled by Ana" in page
    assert "the price" in page


@pytest.mark.parametrize("address", ["https://evil.example/", "//evil.example", "/runs", "/runs/x/samples/1\\x", ""])
def test_a_label_leads_to_samples_only(client, run, address):
    answer, _ = client.post("/labels/save", fields(client, run, next=address))
    assert answer.headers["location"] == f"/runs/{run.id}/samples/1"


def test_the_status_follows_at_once(client, run):
    before = client.ready(run, "?sort=row")["table"]["rows"]
    assert before[0]["status"] == "wrong"
    status, data = script(client, run)
    assert (status, data["sample"]["status"], data["sample"]["cause"]) == (200, "fine", "")
    after = client.json(f"/runs/{run.id}.json?sort=row")
    assert (after["table"]["rows"][0]["status"], after["table"]["rows"][0]["labelled"]) == ("fine", "labelled by Ana")
    assert after["diagnosis"]["failing_text"].startswith("11 of 12")
    assert [row["row"] for row in client.json(f"/runs/{run.id}.json?cause=fine")["table"]["rows"]] == [1]
    # What undoes the label.
    assert data["undo"] == {"label": "answer remove", "note": ""}
    script(client, run, label="answer remove")
    assert client.json(f"/runs/{run.id}.json?sort=row")["table"]["rows"][0]["status"] == "wrong"


def test_two_people_who_disagree(client, run):
    script(client, run)
    _, data = script(client, run, author="Bo", label="answer wrong")
    assert data["sample"]["status"] == "look"
    bar = client.json(f"/runs/{run.id}/samples/1.json")["labelling"]
    assert [(one["author"], one["value"]) for one in bar["labels"]] == [("Ana", "right"), ("Bo", "wrong")]
    assert bar["divided"]
    assert "People disagree" in html(client, f"/runs/{run.id}/samples/1")


def test_claims(client, run):
    claim = client.json(f"/runs/{run.id}/samples/1.json")["claims"][0]["rows"][1]
    target = claim["targets"][0]
    assert (target["against"], target["judged"]) == ("reference", "contradiction")
    supported = next(one["value"] for one in target["choices"] if one["words"] == "supported")
    assert script(client, run, label=supported)[0] == 200
    after = client.json(f"/runs/{run.id}/samples/1.json")["claims"][0]["rows"][1]
    assert after["said"]["words"] == "supported"
    assert after["targets"][0]["judged"] == "contradiction"
    assert [one["agrees"] for one in after["targets"][0]["labels"]] == [False]
    script(client, run, label=target["remove"])
    assert client.json(f"/runs/{run.id}/samples/1.json")["claims"][0]["rows"][1]["said"]["words"] == "contradicted"
    status, data = script(client, run, 2, label=supported)
    assert (status, "does not belong" in data["words"]) == (400, True)


def test_random_and_least_sure_rows(client, run):
    seen, row = [], 1
    for _ in range(11):
        seen.append(row)
        _, data = script(client, run, row, pick="random", here=f"/runs/{run.id}/samples/1?pick=random")
        assert data["next"].endswith("?pick=random")
        row = int(data["next"].rpartition("/")[2].partition("?")[0])
    assert sorted([*seen, row]) == list(range(1, 13))
    assert script(client, run, row, pick="random")[1]["next"] == ""
    # Another person gets rows of their own.
    assert script(client, run, row, pick="random", author="Bo")[1]["next"] != ""
    assert script(client, run, row, pick="unsure", author="Cy")[1]["next"] != ""


def test_the_rows_that_narrow_the_estimates_most(client, run):
    client.ready(run)
    row, seen = 5, []
    while row:
        _, data = script(client, run, row, pick="useful", here=f"/runs/{run.id}/samples/1?pick=useful")
        row = int(data["next"].rpartition("/")[2].partition("?")[0]) if data["next"] else None
        seen += [row - 1] if row else []
    # The first label was given by hand; its row was drawn too.
    [one] = read_rounds(open_run(run.path))
    assert [at for at in one.rows if at != 4] == seen
    assert set(one.chances) == {1.0}
    found = drawn_rows(open_run(run.path))
    assert (found.count, found.by_hand) == (12, 0)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"author": ""}, "needs the name"),
        ({"author": "x" * 10_000}, "10,000 characters; at most 80"),
        ({"author": "a\u202eb"}, "marks of writing direction"),
        ({"note": "n" * 10_000}, "10,000 characters; at most 2,000"),
        ({"label": "answer great"}, "is not a label"),
        ({"label": "nothing"}, "does not belong"),
    ],
)
def test_bad_labels_are_refused_with_a_reason(client, run, store, more, words):
    status, data = script(client, run, **more)
    assert status == 400
    assert words in data["words"]
    assert not (store / "labels").exists()


@pytest.mark.parametrize("text", ["../../x", "<script>alert(1)</script>", "שלום עולם", '"><img src=x onerror=1>'])
def test_hostile_names_and_notes_are_text(client, run, store, text):
    assert script(client, run, author=text, note=f"{text}\u202e")[0] == 200
    _, body = client.ask(f"/runs/{run.id}/samples/1")
    page = body.decode()
    assert text in unescape(page)
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "\u202e" not in page
    assert [path.parent.parent for path in store.rglob("*.json") if "labels" in path.parts] == [store / "labels"]


def test_other_sites_old_pages_and_read_only(client, run, serve, store):
    given = fields(client, run)
    assert client.post("/labels/save", given, origin="http://evil.example")[0].status == 403
    assert client.post("/labels/save", given, sec_fetch_site="cross-site")[0].status == 403
    assert client.post("/labels/save", {**given, "token": "x"})[0].status == 403
    assert client.post("/labelsx", given)[0].status == 405
    assert client.ask("/labels/save")[0].status == 405
    reader = serve(store, read_only=True)
    answer, body = reader.post("/labels/save", given)
    assert (answer.status, b"--read-only" in body) == (403, True)
    assert "labelbar" not in html(reader, f"/runs/{run.id}/samples/1")
    assert not (store / "labels").exists()


def test_a_label_applies_in_every_run_and_a_removed_run_is_no_harm(client, run, store):
    again = made_runs.long_run(store, 12, "again")
    script(client, run, label="answer right")
    assert client.json(f"/runs/{again.id}/samples/1.json")["sample"]["labelled"] == "labelled by Ana"


def test_hostile_data_can_be_labelled(serve, store):
    run = runs.hostile(store)
    client = serve(store)
    assert script(client, run, label="answer wrong")[0] == 200
