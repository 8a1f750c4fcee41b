"""Stored runs against a new version from the viewer: in the background, with progress, and no model is asked."""

import json
from dataclasses import replace

import pytest

from ragstone.storage.places import open_place
from ragstone.storage.runs import open_run
from ragstone.truth.cases import TruthFact
from ragstone.truth.exchange import case_from_sample
from ragstone.truth.versions import TruthStore
from tests.report import runs
from tests.web import truths


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("rescored")


@pytest.fixture(scope="module")
def scored(root):
    return runs.harbour("worse", root)


@pytest.fixture(scope="module")
def client(serve, root, scored):
    """Two versions: in the second no case has a fact that stands anywhere, and one question reads otherwise."""
    cases = [case_from_sample(sample) for sample in scored.samples]
    truths.save(root, "harbour", cases)
    changed = [case.with_facts([TruthFact("whales are fish of the moon")]) for case in cases]
    changed[0] = replace(changed[0], question="Otherwise?")
    truths.save(root, "harbour", changed, "Grace", "", 1)
    truths.save(root, "unlike", truths.ferry())
    return serve(root)


def finished(page):
    return not page["working"]


def test_only_runs_that_asked_the_same_are_offered(client, scored):
    found = client.json("/truth/harbour/rescore.json")
    assert [(run["id"], run["joined"]) for run in found["runs"]] == [(scored.id, 25)]
    other = client.json("/truth/unlike/rescore.json")
    assert (other["runs"], other["others"]) == ([], 1)
    assert "No stored run asked these questions" in client.page("/truth/unlike/rescore").text()


def test_a_run_is_rescored_and_compared(client, serve, scored, root):
    fields = {"token": client.secret("/truth/harbour/rescore"), "v": 2, "run": scored.id}
    answer, _ = client.post("/truth/harbour/rescore", fields)
    assert (answer.status, answer.headers["location"]) == (303, "/truth/harbour/rescore?v=2")
    client.post("/truth/harbour/rescore", fields)
    found = client.when_ready("/truth/harbour/rescore.json?v=2", finished)
    job = found["runs"][0]["job"]
    assert job["state"] == "done", job
    made = open_run(f"{root}/runs/{job['result']['id']}")
    assert made.info["truth"]["version"] == 2
    assert made.info["rescored"]["run"] == scored.id
    assert made.info["totals"]["calls"] == 0
    before, after = ({row.metric: row.mean for row in run.summary()} for run in (scored, made))
    assert before["fact_recall"] > 0.5
    assert after["fact_recall"] == 0
    assert after["token_f1"] == before["token_f1"]
    assert job["compare"] == f"/compare/{scored.id}/{made.id}"
    compared = client.when_ready(f"{job['compare']}.json", lambda page: page["ready"])
    assert {row["metric"] for group in compared["groups"] for row in group["rows"]} >= {"token_f1"}
    # Twice asked for is once done; the old run stays what it was, the new one is no run to rescore.
    assert len(client.json("/runs.json")["runs"]) == 2
    assert [run["id"] for run in client.json("/truth/harbour/rescore.json")["runs"]] == [scored.id]
    # Another viewer of the same root knows what was done.
    told = serve(root).when_ready("/truth/harbour/rescore.json?v=2", finished)["runs"][0]["job"]
    assert (told["state"], told["cells"]) == ("done", 0)


def test_cells_that_rest_on_a_judge_are_out_of_date(serve, tmp_path):
    judged = runs.hostile(tmp_path)
    cases = [replace(case_from_sample(sample), references=["Something else."]) for sample in judged.samples]
    truths.save(tmp_path, "judged", cases)
    client = serve(tmp_path)
    fields = {"token": client.secret("/truth/judged/rescore"), "v": 1, "run": judged.id}
    assert client.post("/truth/judged/rescore", fields)[0].status == 303
    job = client.when_ready("/truth/judged/rescore.json?v=1", finished)["runs"][0]["job"]
    without = {item["metric"]: item for item in job["without"]}
    assert without["ragchecker.recall"]["cells"] == 3
    assert without["ragchecker.recall"]["why"]
    assert "token_f1" not in without
    assert "ragchecker.recall" in client.page("/truth/judged/rescore?v=1").text()


def test_what_cannot_be_rescored_says_why(client, scored, root):
    secret = client.secret("/truth/harbour/rescore")
    answer, body = client.post("/truth/harbour/rescore.json", {"token": secret, "v": 1})
    assert (answer.status, "no run was ticked" in json.loads(body)["words"]) == (400, True)
    for wrong in ("../x", "nothing"):
        assert client.post("/truth/harbour/rescore", {"token": secret, "v": 1, "run": wrong})[0].status == 404
    assert client.post("/truth/harbour/rescore", {"token": "", "v": 1, "run": scored.id})[0].status == 403
    assert TruthStore(open_place(str(root))).newest("harbour") == 2


def test_an_edited_question_still_finds_its_chunks(client, scored):
    first = next(iter(scored.samples))
    found = client.json(f"/truth/harbour/case.json?id={first.id}&run={scored.id}")
    assert found["case"]["question"] == "Otherwise?"
    assert [text["text"] for text in found["texts"]] == [chunk.text for chunk in first.contexts]
    links = client.json(f"/runs/{scored.id}/samples/1.json")["truths"]
    assert links == [{"name": "harbour", "address": f"/truth/harbour/case?id={first.id}&run={scored.id}"}]
