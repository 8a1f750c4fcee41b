"""The editor page of one case, and the check of citations while the user types."""

import json

from tests.web import truths


def test_a_case_tells_where_its_citations_stand(client):
    found = client.json("/truth/ferry/case.json?id=f2&v=1")
    assert [check["verdict"] for check in found["checks"]] == ["stands", "stands", "invalid", "repaired"]
    stands = found["checks"][0]
    assert truths.FARES[stands["start"] : stands["end"]] == "A single ticket for an adult costs 9 crowns."
    assert found["texts"][stands["passage"]]["source"] == "fares.md"
    assert found["checks"][3]["text"] == "Bicycles travel free of charge"
    assert "12" in found["checks"][2]["why"]
    assert (found["walk"]["previous"], found["walk"]["place"]) == ("/truth/ferry/case?id=f1&v=1", 2)


def test_neighbours_are_those_of_the_filter(client):
    found = client.json("/truth/many.json?problem=to+review")
    second = client.json("/truth/many/case.json?id=c10&problem=to+review")
    assert found["cases"][1]["address"] == "/truth/many/case?id=c10&problem=to+review"
    assert second["walk"]["next"] == "/truth/many/case?id=c20&problem=to+review"
    assert second["walk"]["of"] == 1_050


def test_citations_are_checked_as_one_types(untouched):
    texts = [
        "Bicycles travel free of charge",
        "bicycles travel  FREE",
        "In winter the last boat leaves at 18:20",
        "Whales",
    ]
    fields = {"token": untouched.secret, "id": "f1", "texts": json.dumps(texts)}
    answer, body = untouched.post("/truth/ferry/check.json", fields)
    assert answer.status == 200
    checks = json.loads(body)["checks"]
    assert [check["verdict"] for check in checks] == ["stands", "repaired", "invalid", "absent"]
    assert checks[1]["text"] == "Bicycles travel free"
    assert untouched.post("/truth/ferry/check.json", {**fields, "texts": "3"})[0].status == 400
    assert untouched.post("/truth/ferry/check.json", {**fields, "texts": "{"})[0].status == 400
    assert untouched.post("/truth/ferry/check.json", {**fields, "texts": "[" * 100_000})[0].status == 400
    answer, body = untouched.post("/truth/ferry/check.json", {**fields, "id": "brand-new"})
    assert [check["verdict"] for check in json.loads(body)["checks"]] == ["none"] * 4


def test_citations_are_checked_in_corrected_passages(untouched):
    texts = json.dumps(["the last boat leaves Orlsay at 21:40", "the last boat leaves Orlsay at 21:45"])
    edits = [{"at": 0, "text": truths.TIMETABLE.replace("21:40", "21:45")}, {"at": 9, "text": "x"}]
    fields = {"token": untouched.secret, "id": "f1", "texts": texts, "passages": json.dumps(edits)}
    checks = json.loads(untouched.post("/truth/ferry/check.json", fields)[1])["checks"]
    assert [check["verdict"] for check in checks] == ["invalid", "stands"]
    for wrong in ("3", "[3]", '[{"at": -1, "text": "x"}]', '[{"at": 0}]', "["):
        assert untouched.post("/truth/ferry/check.json", {**fields, "passages": wrong})[0].status == 400
