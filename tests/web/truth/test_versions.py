"""The list of ground truths and the page of one version."""

from urllib.parse import urlencode

import pytest

from tests.report.runs import BIDI, EVIL
from tests.web import truths

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
    assert "No ground truth yet" in page.text()
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
