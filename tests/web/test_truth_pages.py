"""What the pages of ground truth say, and that each has its twin."""

import csv
import io
import json
import os
from dataclasses import replace
from urllib.parse import quote, urlencode

import pyarrow.parquet as pq
import pytest

from ragstone.truth.cases import TruthFact, cases_from_table
from tests.report.runs import BIDI, EVIL
from tests.web import truths


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    found = tmp_path_factory.mktemp("truths")
    truths.save(found, "ferry", truths.ferry())
    changed = truths.ferry()
    changed[0] = replace(
        changed[0], question="When does the last boat leave Orlsay?", references=["At 21:40.", "18:10."]
    )
    changed[1] = changed[1].with_facts([*changed[1].facts[1:], TruthFact("Children under 12 pay")])
    truths.save(found, "ferry", [*changed[:2], replace(changed[2], id="f4")], "Grace", "ask about winter", 1)
    truths.save(found, "hostile", truths.hostile(), EVIL, EVIL)
    truths.save(found, "many", truths.many(10_500))
    return found


@pytest.fixture(scope="module")
def client(serve, root):
    return serve(root)


PATHS = [
    "/truth",
    "/truth/ferry",
    "/truth/ferry/v1",
    "/truth/ferry/case?id=f2",
    "/truth/ferry/new",
    "/truth/ferry/queue",
    "/truth/ferry/diff",
    "/truth/many?page=200",
    "/truth/hostile",
    "/truth/hostile/queue",
    f"/truth/hostile/case?{urlencode({'id': f'id0 {EVIL}'})}",
]


@pytest.mark.parametrize("path", PATHS)
def test_every_page_has_its_twin(client, path):
    page = client.page(path)
    base, mark, query = path.partition("?")
    twin = next(link["href"] for link in page.find("a") if link.get("class") == "twin" and ".json" in link["href"])
    assert twin == f"{base}.json{mark}{query}"
    assert client.json(twin)["title"]
    assert len(page.ids) == len(set(page.ids))


def test_the_list_tells_counts_author_and_time(client):
    ferry = next(item for item in client.json("/truth.json")["truths"] if item["name"] == "ferry")
    assert ferry["versions"] == 2
    newest = ferry["newest"]
    assert (newest["number"], newest["author"], newest["note"], newest["cases"]) == (2, "Grace", "ask about winter", 3)
    assert newest["facts"] == {"accepted": 2, "proposed": 3, "rejected": 0}
    assert newest["created_at"].startswith("20")


def test_an_empty_root_says_what_to_do(serve, tmp_path):
    page = serve(tmp_path).page("/truth")
    assert "There is no ground truth here yet" in page.text()
    assert f"ragstone truth import questions.jsonl NAME -o {tmp_path}" in page.text()


def test_cases_are_filtered(client):
    def ids(query):
        return [case["id"] for case in client.json(f"/truth/ferry/v1.json?{query}")["cases"]]

    assert ids("") == ["f1", "f2", "f3"]
    assert ids("q=CROWNS") == ["f2"]
    assert ids("q=boat+summer") == ["f1"]
    assert ids("standing=proposed") == ["f2"]
    assert ids("problem=to+review") == ["f2"]
    assert ids("problem=nonsense&standing=nonsense&page=99") == ["f1", "f2", "f3"]
    assert client.json("/truth/ferry.json?q=nothing-like-it")["cases"] == []


def test_lost_citations_are_a_problem(client):
    found = client.when_ready("/truth/ferry/v1.json?problem=citation+not+found", lambda page: not page["waiting"])
    assert [case["id"] for case in found["cases"]] == ["f2"]
    assert "citation not found" in found["cases"][0]["problems"]


def test_ten_thousand_cases_come_in_pages(client):
    found = client.json("/truth/many.json?page=200")
    assert (found["total"], found["pages"], found["first"], found["last"]) == (10_500, 210, 9_951, 10_000)
    assert found["cases"][0]["id"] == "c9950"
    found = client.json("/truth/many.json?problem=to+review&q=boat+1049")
    assert [case["id"] for case in found["cases"]] == ["c10490"]


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


def test_the_queue_holds_what_is_proposed(client):
    found = client.json("/truth/ferry/queue.json")
    assert [(item["case"], item["fact"]) for item in found["items"]] == [("f2", 0), ("f2", 1), ("f2", 2)]
    assert found["items"][0]["around"]["here"] == "Children under 12 pay 4 crowns"
    assert found["items"][1]["around"] is None
    assert client.json("/truth/many/queue.json?page=2")["items"][0]["case"] == "c200"
    assert found["total"] == 3


def test_an_empty_queue_says_where_facts_come_from(serve, tmp_path):
    truths.save(tmp_path, "decided", truths.ferry()[:1])
    assert "Nothing waits for a decision" in serve(tmp_path).page("/truth/decided/queue").text()


def test_proposed_answers_wait_too(serve, tmp_path):
    about = {"probability": 0.0474, "why": ["the user disliked it"]}
    cases = [replace(truths.ferry()[0], standing="proposed", provenance="harvested", metadata=about)]
    truths.save(tmp_path, "logs", cases)
    client = serve(tmp_path)
    found = client.json("/truth/logs/queue.json")
    assert [(item["kind"], item["answers"]) for item in found["items"]] == [("answer", ["At 21:40."])]
    assert client.page("/truth/logs/queue").text("h1") == "0 proposed facts and 1 answer"
    assert "harvested, good with 5 % the user disliked it" in client.page("/truth/logs/queue").text()
    # Both lists lead there.
    assert "Review 1 proposed" in client.page("/truth/logs").text()
    assert "review those of logs" in client.page("/truth").text()
    assert client.json("/truth/logs.json?problem=to+review")["cases"][0]["id"] == "f1"


def test_a_diff_tells_words_facts_and_cases(client):
    found = client.json("/truth/ferry/diff.json")
    assert found["counts"] == {
        "added": 1,
        "removed": 1,
        "changed": 2,
        "facts_gained": 1,
        "facts_lost": 1,
        "facts_changed": 0,
    }
    by_id = {case["id"]: case for case in found["changes"]}
    question = by_id["f1"]["changes"][0]
    assert question["diff"] == [
        {"kind": "same", "text": "When does the last boat leave Orlsay"},
        {"kind": "gone", "text": " in summer"},
        {"kind": "same", "text": "?"},
    ]
    assert [(change["what"], change["kind"]) for change in by_id["f1"]["changes"][1:]] == [("answer", "gained")]
    assert [change["kind"] for change in by_id["f2"]["changes"]] == ["lost", "gained"]
    turned = client.json("/truth/ferry/diff.json?from=2&to=1")["counts"]
    assert (turned["facts_gained"], turned["facts_lost"]) == (1, 1)
    assert client.json("/truth/ferry/diff.json?from=2&to=2")["changes"] == []
    assert "is the first" in client.page("/truth/many/diff", 404).text()


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


@pytest.mark.parametrize(
    "path",
    [
        "/truth/nothing",
        "/truth/..%2fruns",
        "/truth/%2e%2e",
        "/truth/.hidden",
        "/truth/a%00b",
        "/truth/ferry/v99",
        "/truth/ferry/v0",
        "/truth/ferry/vx",
        "/truth/ferry/v99999999999999",
        "/truth/ferry/case?id=nobody",
        "/truth/ferry/case",
        "/truth/ferry/case?id=f1&v=x",
        "/truth/ferry/diff?from=7&to=2",
        "/truth/ferry/newest",
        "/runs/nothing/truth",
    ],
)
def test_what_is_not_there_is_not_found(client, path):
    answer, body = client.ask(path)
    assert answer.status == 404, body


def test_links_cannot_leave_the_root(serve, tmp_path, root):
    (tmp_path / "truth").mkdir()
    os.symlink(root / "truth" / "ferry", tmp_path / "truth" / "elsewhere")
    client = serve(tmp_path)
    assert client.json("/truth.json")["truths"] == []
    assert client.ask("/truth/elsewhere")[0].status == 404


def test_one_broken_version_does_not_hide_the_rest(serve, tmp_path):
    truths.save(tmp_path, "whole", truths.ferry())
    truths.save(tmp_path, "broken", truths.ferry())
    (tmp_path / "truth" / "broken" / "v1" / "metadata.json").write_text("{")
    found = serve(tmp_path).json("/truth.json")
    assert [item["name"] for item in found["truths"]] == ["whole"]
    assert "not JSON" in found["broken"][0]["why"]


@pytest.mark.parametrize("path", [path for path in PATHS if "hostile" in path])
def test_hostile_texts_stay_texts(client, path):
    page = client.page(path)
    body = client.ask(path)[1].decode()
    assert len(page.find("script")) == len(
        [src for src in page.find("script") if src.get("src", "").startswith("/static/")]
    )
    assert "onerror" not in " ".join(name for _, attributes in page.elements for name in attributes)
    assert BIDI not in body
    assert "\u202e" not in body
    for link in page.find("a"):
        assert link["href"].startswith(("/", "#", "?")) or link["href"] == ""


def test_names_may_be_of_any_script(serve, tmp_path):
    truths.save(tmp_path, "Fähre.1", truths.ferry())
    client = serve(tmp_path)
    address = client.json("/truth.json")["truths"][0]["address"]
    assert address == f"/truth/{quote('Fähre.1')}"
    assert client.json(f"{address}.json")["truth"]["name"] == "Fähre.1"
