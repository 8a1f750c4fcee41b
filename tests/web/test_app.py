"""The routes of the viewer: JSON twins, errors, changes that are refused, hostile texts."""

import json

from tests.report.runs import BIDI, EVIL


def test_the_root_leads_to_the_runs(viewer):
    answer, _ = viewer.ask("/")
    assert (answer.status, answer.headers["location"]) == (303, "/runs")


def test_what_is_not_there_is_said(viewer):
    assert "run nothing not found" in viewer.json("/runs/nothing.json", 404)["words"]
    assert viewer.page("/nothing", 404).text()


def test_every_page_has_its_twin(viewer, worse, better):
    run, both = f"/runs/{worse.id}", f"/compare/{worse.id}/{better.id}"
    viewer.ready(worse)
    viewer.when_ready(f"{both}.json", lambda found: found["ready"])
    for path in ("/runs", run, f"{run}/samples/2", f"{run}/samples/2/facts", both, f"{both}/samples/8"):
        for query in ("", "?q=boat&size=25"):
            page = viewer.page(f"{path}{query}")
            [link] = [
                link["href"] for link in page.find("a") if link.get("class") == "twin" and ".json" in link["href"]
            ]
            assert link == f"{path}.json{query}"
            assert page.find("body")[0]["class"] == f"viewer page-{viewer.json(link)['page']}"


def hostile_pages(viewer, hostile):
    yield "/runs"
    yield f"/runs/{hostile.id}"
    yield f"/runs/{hostile.id}?q=%3Cscript%3Ealert(9)%3C/script%3E&cause=%22onload=alert(9)"
    yield f"/runs/{hostile.id}/samples/1"
    yield f"/runs/{hostile.id}/samples/1/facts"
    yield f"/compare/{hostile.id}/{hostile.id}"
    yield f"/compare/{hostile.id}/{hostile.id}/samples/1"


def test_hostile_texts_are_only_texts(viewer, hostile):
    for path in hostile_pages(viewer, hostile):
        page = viewer.page(path)
        assert not [a for tag, a in page.elements if any(name.startswith("on") or name == "style" for name in a)], path
        assert {tag for tag, _ in page.elements}.isdisjoint({"img", "iframe", "object", "embed", "style", "base"}), path
        ours = {"/static/viewer.js", "/static/live.js", "/static/sample.js", "/static/labels.js"}
        assert {script.get("src") for script in page.find("script")} <= ours, path
        assert [link for link in page.links if not link.startswith(("/", "#", "?")) and link != ""] == [], path
        _, body = viewer.ask(path)
        assert not set(BIDI + "\x1b\x00") - set("morf") & set(body.decode()), path


def test_hostile_texts_are_whole_in_the_twin(viewer, hostile):
    answer, body = viewer.ask(f"/runs/{hostile.id}/samples/1.json")
    assert answer.headers["content-type"] == "application/json"
    assert json.loads(body)["sample"]["id"] == f"id0 {EVIL}"
