"""Rescoring stored runs from the viewer."""

import json
from dataclasses import replace

from ragstone.storage.places import open_place
from ragstone.storage.runs import open_run
from ragstone.truth.model import case_from_sample
from ragstone.truth.store import TruthStore
from tests.report import runs
from tests.web import truths


def finished(page):
    return not page["working"]


def test_only_runs_that_asked_the_same_are_offered(harbour, scored):
    found = harbour.json("/truth/harbour/rescore.json")
    assert [(run["id"], run["joined"]) for run in found["runs"]] == [(scored.id, 25)]
    other = harbour.json("/truth/unlike/rescore.json")
    assert (other["runs"], other["others"]) == ([], 1)
    assert "No stored run asked these questions" in harbour.page("/truth/unlike/rescore").text()


def test_a_run_is_rescored_and_compared(harbour, serve, scored, harbour_root):
    fields = {"token": harbour.secret("/truth/harbour/rescore"), "v": 2, "run": scored.id}
    answer, _ = harbour.post("/truth/harbour/rescore", fields)
    assert (answer.status, answer.headers["location"]) == (303, "/truth/harbour/rescore?v=2")
    harbour.post("/truth/harbour/rescore", fields)
    found = harbour.when_ready("/truth/harbour/rescore.json?v=2", finished)
    job = found["runs"][0]["job"]
    assert job["state"] == "done", job
    made = open_run(f"{harbour_root}/runs/{job['result']['id']}")
    assert made.info["truth"]["version"] == 2
    assert made.info["rescored"]["run"] == scored.id
    assert made.info["totals"]["calls"] == 0
    before, after = ({row.metric: row.mean for row in run.summary()} for run in (scored, made))
    assert before["fact_recall"] > 0.5
    assert after["fact_recall"] == 0
    assert after["token_f1"] == before["token_f1"]
    assert job["compare"] == f"/compare/{scored.id}/{made.id}"
    compared = harbour.when_ready(f"{job['compare']}.json", lambda page: page["ready"])
    assert {row["metric"] for group in compared["groups"] for row in group["rows"]} >= {"token_f1"}
    # Twice asked for is once done; the old run stays what it was, the new one is not offered for rescoring.
    assert len(harbour.json("/runs.json")["runs"]) == 2
    assert [run["id"] for run in harbour.json("/truth/harbour/rescore.json")["runs"]] == [scored.id]
    # Another viewer of the same root knows what was done.
    told = serve(harbour_root).when_ready("/truth/harbour/rescore.json?v=2", finished)["runs"][0]["job"]
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


def test_what_cannot_be_rescored_says_why(harbour, scored, harbour_root):
    secret = harbour.secret("/truth/harbour/rescore")
    answer, body = harbour.post("/truth/harbour/rescore.json", {"token": secret, "v": 1})
    assert (answer.status, "no run was selected" in json.loads(body)["words"]) == (400, True)
    for wrong in ("../x", "nothing"):
        assert harbour.post("/truth/harbour/rescore", {"token": secret, "v": 1, "run": wrong})[0].status == 404
    assert harbour.post("/truth/harbour/rescore", {"token": "", "v": 1, "run": scored.id})[0].status == 403
    assert TruthStore(open_place(str(harbour_root))).newest("harbour") == 2
