"""Downloads of a run, of a filtered table and of a sample."""

import json
import re
import socket

import pytest

import ragstone
from ragstone.web.pages.share import file_name
from tests.report.pages import Page


def download(client, path):
    answer, body = client.ask(path)
    assert answer.status == 200, body
    called = re.fullmatch(r"attachment; filename\*=UTF-8''([A-Za-z0-9._-]+)", answer.headers["content-disposition"])
    return called[1], body.decode()


def embedded(text):
    return json.loads(text.partition('id="data">')[2].partition("</script>")[0])


def test_a_sample_is_one_file_without_references_to_the_machine(viewer, worse):
    name, text = download(viewer, f"/runs/{worse.id}/samples/8/page.html")
    page = Page(text)
    assert name == "harbour-worse-h08.html"
    assert all(link.startswith("#") for link in page.links)
    assert not [one for tag in ("script", "img", "link", "iframe") for one in page.find(tag) if one.get("src")]
    assert "How long is lost property kept" in page.text("h1")
    assert "Lost property is kept at the Orlsay ticket office" in page.text()
    for word in (worse.path, worse.id, "/tmp", socket.gethostname()):
        assert word not in text
    assert embedded(text)["cause"] == "missing chunk"


def test_a_run_and_a_filtered_table(viewer, worse):
    viewer.ready(worse)
    name, text = download(viewer, f"/runs/{worse.id}/page.html")
    assert name == "harbour-worse.html"
    assert worse.path not in text
    rows = [row for row in Page(text).find("tr") if row.get("id", "").startswith("row-")]
    assert len(rows) == worse.info.rows
    query = "?cause=missing+chunk&sort=row"
    listed = [f"row-{row['row']}" for row in viewer.json(f"/runs/{worse.id}.json{query}")["table"]["rows"]]
    name, text = download(viewer, f"/runs/{worse.id}/page.html{query}")
    page = Page(text)
    assert name == "harbour-worse-selected.html"
    assert [row["id"] for row in page.find("tr") if row.get("id", "").startswith("row-")] == listed
    assert 0 < len(listed) < worse.info.rows
    assert f"The first {len(listed)} of the {len(listed)} samples that match" in page.text()
    assert f"/runs/{worse.id}/page.html{query.replace('+', '+')}" in viewer.page(f"/runs/{worse.id}{query}").links


def test_a_filter_that_matches_nothing(viewer, worse):
    viewer.ready(worse)
    _, text = download(viewer, f"/runs/{worse.id}/page.html?q=nothing-like-it")
    assert not [row for row in Page(text).find("tr") if row.get("id", "").startswith("row-")]


def test_markdown_for_an_issue(viewer, worse):
    name, text = download(viewer, f"/runs/{worse.id}/samples/8/issue.md")
    assert name == "harbour-worse-h08.md"
    assert "missing chunk (retriever)" in text
    assert "**F1** Lost property is kept" in text
    assert "| fact\\_recall ↑ | 0.000 |" in text
    assert worse.id not in text


async def unreachable(claims, texts):
    raise ConnectionError(
        "POST http://me:secret@internal-host.corp:8000/v1/chat failed: internal-host.corp refused, then judge:9000 at http://judge/v1"
    )


def test_host_names_in_messages_of_a_judge_are_left_out(serve, tmp_path, monkeypatch):
    monkeypatch.delenv("RAGSTONE_LOCAL_JUDGE", raising=False)
    answer = "The judge of Orlsay is old, see http://orlsay.example."
    row = {"question": "Which judge?", "answer": answer, "references": ["The judge is old."], "contexts": [answer]}
    run = ragstone.evaluate([row], ["ragchecker"], str(tmp_path), checker=unreachable)
    client = serve(tmp_path)
    assert "internal-host.corp" in client.page(f"/runs/{run.id}/samples/1").text()
    for path in (
        f"/runs/{run.id}/page.html",
        f"/runs/{run.id}/samples/1/page.html",
        f"/runs/{run.id}/samples/1/issue.md",
    ):
        _, text = download(client, path)
        assert not re.search("internal-host|secret|9000|//judge/", text)
        assert "ConnectionError: POST …/v1/chat failed: … refused, then … at …/v1" in text.replace("\\", "")
    assert "The judge of Orlsay is old, see http://orlsay.example" in text.replace("\\", "")


def test_hostile_texts_stay_texts(viewer, hostile):
    name, text = download(viewer, f"/runs/{hostile.id}/samples/1/page.html")
    page = Page(text)
    assert re.fullmatch(r"[A-Za-z0-9._-]+\.html", name)
    assert len(page.find("script")) == 2
    assert not page.find("img")
    _, text = download(viewer, f"/runs/{hostile.id}/samples/1/issue.md")
    outside = re.sub(r"(?ms)^ *(`{3,})text\n.*?^ *\1$", "", text)
    assert "<script>" in text
    assert not re.search(r"<(script|img)", outside)
    assert not {"\x1b", "\x00", "\u202e"} & set(text)


def test_downloads_of_absent_samples(viewer, worse):
    for path in (
        f"/runs/{worse.id}/samples/999/page.html",
        "/runs/none/page.html",
        f"/runs/{worse.id}/samples/x/issue.md",
    ):
        assert viewer.ask(path)[0].status == 404


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        (("a b/c", ""), "a-b-c"),
        (("../..", ".."), "ragstone"),
        (("日本",), "ragstone"),
        (("x" * 99, "1"), "x" * 60 + "-1"),
    ],
)
def test_file_names_are_safe(parts, name):
    assert file_name(*parts) == name
