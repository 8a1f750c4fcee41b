"""Images of chunks in the viewer and in the report: shown from our own address, never from elsewhere without a click."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

import ragstone
from ragstone.cli.app import app
from tests.axe import barriers_in_both_schemes
from tests.images import SVG, data_uri, gif, png
from tests.web.test_browser import SHOTS, Tab

SCRIPT = "<script>document.title='gone'</script>"
# By rank: the image, and what the page says about it. None: it is shown.
CHUNKS = [
    ({"image": "charts/fares.png", "text": "Zone B: 15 €.", "source": "fares.pdf", "page": 12}, None),
    ({"image": data_uri(png(40, 30))}, None),
    ({"image": data_uri(gif(5, 4) + SCRIPT.encode(), "text/html")}, None),
    ({"image": "http://127.0.0.1:9/tracker.png?id=1"}, "Open it at 127.0.0.1"),
    ({"image": "https://example.org/a.png"}, "Open it at example.org"),
    ({"image": "../../etc/passwd"}, "outside the folder"),
    ({"image": "/etc/passwd"}, "outside the folder"),
    ({"image": "link.png"}, "outside the folder"),
    ({"image": "file:///etc/passwd"}, "only image files in the folder"),
    ({"image": "drawing.svg"}, "not a PNG"),
    ({"image": data_uri(SVG, "image/svg+xml")}, "not a PNG"),
    ({"image": data_uri(SVG, "image/png")}, "not a PNG"),
    ({"image": "data:image/png;base64," + "A" * 6_000_000}, "larger than"),
    ({"image": "data:image/png;base64,????"}, "not valid base64"),
    ({"image": "javascript:alert(1)"}, "does not exist"),
    ({"image": f'"><img src=x onerror=alert(1)>{SCRIPT}.png', "page": SCRIPT, "source": SCRIPT}, "does not exist"),
]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("images") / "a" / "b"
    (folder / "charts").mkdir(parents=True)
    (folder / "charts" / "fares.png").write_bytes(png(300, 120))
    (folder / "drawing.svg").write_bytes(SVG)
    (folder.parent / "secret.png").write_bytes(png())
    (folder / "link.png").symlink_to(folder.parent / "secret.png")
    row = {"id": "a", "question": "Fares?", "answer": "15 € [fares.pdf, p. 12].", "references": ["15 €"]}
    row["contexts"] = [chunk for chunk, _ in CHUNKS]
    (folder / "rows.jsonl").write_text(json.dumps(row))
    here = os.getcwd()
    os.chdir(folder)  # a run remembers the folder of its data, however it was named
    try:
        return ragstone.evaluate("rows.jsonl", ["rouge_l"], out=folder / "runs")
    finally:
        os.chdir(here)


@pytest.fixture(scope="module")
def client(run, serve):
    return serve(Path(run.path).parents[1])


def test_only_checked_bytes_are_served(client, run):
    for rank, (_, note) in enumerate(CHUNKS, 1):
        answer, body = client.ask(f"/runs/{run.id}/samples/1/images/{rank}")
        if note:
            assert answer.status == 404
            assert answer.headers["content-type"].startswith("text/html")
            assert b"root:" not in body
            assert b"<svg" not in body.partition(b"</header>")[2]
        else:
            assert answer.status == 200
            assert answer.headers["content-type"] in ("image/png", "image/gif")
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert "default-src 'none'" in answer.headers["content-security-policy"]
            assert body[:4] in (b"\x89PNG", b"GIF8")
    assert client.json(f"/runs/{run.id}/samples/1/images/1.json")["width"] == 300
    for path in ("0", "99", "x", "-1", "1/2", "%2e%2e"):
        assert client.ask(f"/runs/{run.id}/samples/1/images/{path}")[0].status in (400, 404)
    for row in ("0", "2", "x"):
        assert client.ask(f"/runs/{run.id}/samples/{row}/images/1")[0].status in (400, 404)


def test_the_data_of_the_page_names_images(client, run):
    chunks = client.json(f"/runs/{run.id}/samples/1.json")["chunks"]
    assert len(json.dumps(chunks)) < 60_000, "the data of images is not in it"
    assert [chunk["image"]["note"] or chunk["image"]["address"] for chunk in chunks[:2]] == ["", ""]
    assert (chunks[0]["page"], chunks[0]["label"]) == ("12", "fares.pdf, p. 12")
    for chunk, (_, note) in zip(chunks, CHUNKS, strict=True):
        image = chunk["image"]
        assert bool(image["src"]) == (note is None)
        assert not image["address"] or image["address"].startswith("http")


@pytest.mark.slow
def test_nothing_is_loaded_from_elsewhere_without_a_click(browser, client, run):
    tab = Tab(browser, client, 1440)
    asked = []
    tab.page.on("request", lambda request: asked.append(request.url))
    page = tab.open(f"/runs/{run.id}/samples/1")
    page.evaluate("() => document.querySelectorAll('.chunks details').forEach(one => one.open = true)")
    for image in page.locator(".picture img").all():
        image.scroll_into_view_if_needed()
        page.wait_for_function(
            "image => image.complete && image.naturalWidth > 0 || image.src.endsWith('/3')", arg=image.element_handle()
        )
    foreign = [url for url in asked if not url.startswith(client.origin)]
    assert foreign == []
    assert sum("/images/" in url for url in asked) == 3
    assert page.locator(".picture img").count() == 3
    assert page.title().startswith("a in")
    notes = page.locator(".picture figcaption").all_inner_texts()
    for said, (_, note) in zip(notes, CHUNKS, strict=True):
        assert note is None or note in said
    assert "fares.pdf, p. 12" in page.locator("#chunk-1 summary").inner_text()
    with tab.context.expect_page() as opened:
        page.locator(".picture a", has_text="127.0.0.1").click()
    assert opened.value.url.startswith("http://127.0.0.1:9/") or "chrome-error" in opened.value.url
    assert opened.value.evaluate("() => window.opener") is None
    opened.value.close()
    tab.close()


@pytest.mark.slow
@pytest.mark.parametrize("width", [1440, 1024, 390])
def test_the_page_has_no_barriers(browser, client, run, width):
    tab = Tab(browser, client, width)
    page = tab.open(f"/runs/{run.id}/samples/1")
    page.evaluate("() => document.querySelectorAll('.chunks details').forEach(one => one.open = true)")
    assert barriers_in_both_schemes(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    SHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SHOTS / f"images-{width}.png", full_page=True)
    tab.close()


@pytest.mark.slow
def test_the_report_embeds_small_images(browser, client, run, tmp_path):
    out = tmp_path / "report.html"
    result = CliRunner().invoke(app, ["report", str(run.path), "-o", str(out)])
    assert result.exit_code == 0, result.output
    text = out.read_text()
    assert data_uri(png(300, 120)) in text
    assert text.count('<img src="data:image/') == 3
    assert "data:image/svg" not in text.partition("<body")[2]
    page = browser.new_context().new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"file://{out}")
    page.evaluate("() => document.querySelectorAll('details').forEach(one => one.open = true)")
    page.wait_for_function("() => [...document.images].slice(0, 2).every(one => one.complete && one.naturalWidth)")
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert "fares.pdf, p. 12" in page.content()
    page.context.close()


def test_the_terminal_names_pages_and_images(run):
    result = CliRunner().invoke(app, ["explain", str(run.path), "a"])
    assert "fares.pdf, p. 12" in result.output
    assert "image: charts/fares.png" in result.output
