"""The routes of the viewer: JSON twins, errors, changes that are refused, hostile texts."""

import json
import re

from ragstone.web.app import VIEWS
from tests.report.runs import BIDI, EVIL

# Files and not pages; a conversation that the hostile samples are not part of.
NO_PAGE = (".html", ".md", "/images/{rank}", "/conversations/{row}")


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
    """Each page of a run, a sample or a comparison, also those that are added later."""
    names = {"run": hostile.id, "before": hostile.id, "after": hostile.id, "row": "1"}
    yield f"/runs/{hostile.id}?q=%3Cscript%3Ealert(9)%3C/script%3E&cause=%22onload=alert(9)"
    for address in (path.replace(":path", "") for path in VIEWS):
        asked = set(re.findall(r"\{(\w+)\}", address))
        if asked <= names.keys() and not address.endswith(NO_PAGE) and "/truth" not in address and address != "/":
            yield address.format_map(names)


def test_hostile_texts_are_only_texts(viewer, hostile):
    pages = list(hostile_pages(viewer, hostile))
    assert f"/runs/{hostile.id}/samples/1/facts" in pages
    for path in pages:
        page = viewer.page(path)
        assert not [a for tag, a in page.elements if any(name.startswith("on") or name == "style" for name in a)], path
        assert {tag for tag, _ in page.elements}.isdisjoint({"img", "iframe", "object", "embed", "style", "base"}), path
        ours = {f"/static/{name}.js" for name in ("viewer", "live", "sample", "filter", "labels", "brush")}
        assert {script.get("src") for script in page.find("script")} <= ours, path
        assert [link for link in page.links if not link.startswith(("/", "#", "?")) and link != ""] == [], path
        _, body = viewer.ask(path)
        assert not set(BIDI + "\x1b\x00") - set("morf") & set(body.decode()), path


def test_hostile_texts_are_whole_in_the_twin(viewer, hostile):
    answer, body = viewer.ask(f"/runs/{hostile.id}/samples/1.json")
    assert answer.headers["content-type"] == "application/json"
    assert json.loads(body)["sample"]["id"] == f"id0 {EVIL}"
