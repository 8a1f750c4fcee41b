"""Ground truth from a run, and exports."""

import csv
import io
import json

import pyarrow.parquet as pq

from ragstone.storage.places import open_place
from ragstone.truth.model import cases_from_table
from ragstone.truth.store import TruthStore
from tests.web import truths


def test_a_version_can_be_taken_along(client):
    def take(ending):
        answer, body = client.ask(f"/truth/ferry/export?as={ending}&v=1")
        assert answer.headers["content-disposition"] == f"attachment; filename*=UTF-8''ferry-v1.{ending}"
        return body

    rows = [json.loads(line) for line in take("jsonl").splitlines()]
    assert [row["id"] for row in rows] == ["f1", "f2", "f3"]
    assert [fact["text"] for fact in rows[1]["facts"]] == ["A single ticket for an adult costs 9 crowns."]
    assert len(list(csv.DictReader(io.StringIO(take("csv").decode())))) == 3
    assert cases_from_table(pq.read_table(io.BytesIO(take("cases.parquet")))) == truths.ferry()
    assert len(json.loads(take("ragchecker.json"))["results"]) == 3
    assert client.ask("/truth/ferry/export?as=exe")[0].status == 400


def test_ground_truth_is_made_from_a_run(viewer, worse, store):
    page = viewer.page(f"/runs/{worse.id}/truth")
    assert "not part of the ground truth" in page.text()
    fields = {"token": viewer.secret(f"/runs/{worse.id}/truth"), "run": worse.id, "name": "harbour", "author": "Ada"}
    for wrong in ("../x", ".x", "a/b", "a b", "x" * 300, "x.json"):
        answer, _ = viewer.post("/truth", {**fields, "name": wrong})
        assert answer.status == 400, wrong
    assert viewer.ask(f"/truth/{'x' * 300}")[0].status == 404
    assert viewer.post("/truth", {**fields, "author": ""})[0].status == 400
    answer, _ = viewer.post("/truth", fields)
    assert (answer.status, answer.headers["location"]) == (303, "/truth/harbour?saved=1")
    version = TruthStore(open_place(str(store))).read("harbour")
    samples = list(worse.samples)
    assert [case.id for case in version.cases] == [sample.id for sample in samples]
    assert [len(case.facts) for case in version.cases] == [len(sample.facts or ()) for sample in samples]
    assert version.info.lineage.sources == [f"run {worse.id}"]
    answer, body = viewer.post("/truth", fields)
    assert (answer.status, b"choose another name" in body) == (409, True)
    assert viewer.json(f"/runs/{worse.id}/truth.json")["already"][0]["name"] == "harbour"
    case = viewer.json(f"/truth/harbour/case.json?id={samples[7].id}&run={worse.id}")
    assert case["run"]["row"] == 8
    assert [text["text"] for text in case["texts"] if text["kind"] == "chunk"] == [
        chunk.text for chunk in samples[7].contexts
    ]
    for page in ("", "/facts"):
        links = viewer.page(f"/runs/{worse.id}/samples/8{page}").find("a")
        assert f"/truth/harbour/case?id={samples[7].id}&run={worse.id}" in [link.get("href") for link in links]
    assert f"/runs/{worse.id}/truth" in [link.get("href") for link in viewer.page(f"/runs/{worse.id}").find("a")]
