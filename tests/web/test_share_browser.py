"""Links to one claim, the clipboard, and downloads that are opened offline."""

import pytest

from tests.axe import barriers
from tests.web.made_runs import long_run
from tests.web.test_browser import Tab

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def shared(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("shared")
    run = long_run(root, 3)
    return serve(root), run


@pytest.fixture
def tab(browser, shared):
    opened = Tab(browser, shared[0], 1440, permissions=["clipboard-read", "clipboard-write"])
    yield opened
    opened.close()


def copied(page):
    return page.evaluate("navigator.clipboard.readText()")


@pytest.mark.parametrize(("label", "place"), [("Link to A3", "answer-3"), ("Link to chunk 9", "chunk-9")])
def test_one_click_copies_a_link_to_exactly_this_place(tab, shared, label, place):
    path = f"/runs/{shared[1].id}/samples/2"
    page = tab.open(f"{path}?sort=row")
    page.get_by_role("link", name=label, exact=True).click()
    page.get_by_text("Link copied").wait_for(state="attached")
    assert copied(page) == f"{tab.origin}{path}?sort=row#{place}"
    for step in ("open", "reload"):
        if step == "open":
            page.goto("about:blank")
            tab.problems.clear()
            page.goto(f"{tab.origin}{path}?sort=row#{place}")
        else:
            page.reload()
        page.wait_for_function("document.querySelector('.at')")
        assert page.locator(".at").get_attribute("id") == place
        box = page.locator(f"#{place}").bounding_box()
        assert 0 <= box["y"] < 900
        if place.startswith("answer"):
            assert page.evaluate("Array.from(document.querySelectorAll('.subjects > li.lit'), (one) => one.id)") == [
                place
            ]


def test_markdown_is_copied(tab, shared):
    page = tab.open(f"/runs/{shared[1].id}/samples/1")
    page.get_by_role("button", name="Copy as Markdown").click()
    page.get_by_text("Copied as Markdown").wait_for(state="attached")
    assert copied(page).startswith("### From which pier does the night ferry 0 leave")
    page.get_by_role("button", name="Copy as Markdown").wait_for()


@pytest.mark.parametrize("what", ["sample", "run", "table"])
def test_a_download_opens_offline_without_a_request(browser, tab, shared, tmp_path, what):
    run = shared[1]
    page = tab.open(f"/runs/{run.id}/samples/1" if what == "sample" else f"/runs/{run.id}?q=long-1")
    name = {"sample": "HTML file", "run": "Download as one file", "table": "Download these as one file"}[what]
    with page.expect_download() as started:
        page.get_by_role("link", name=name, exact=True).click()
    file = tmp_path / started.value.suggested_filename
    started.value.save_as(file)
    assert run.path not in file.read_text()
    context = browser.new_context(offline=True, viewport={"width": 390, "height": 844})
    offline = context.new_page()
    asked, problems = [], []
    offline.on("request", lambda request: asked.append(request.url))
    offline.on("console", lambda said: problems.append(said.text))
    offline.goto(file.as_uri())
    assert "ferry" in offline.inner_text("body")
    assert asked == [file.as_uri()]
    assert problems == []
    assert barriers(offline) == []
    assert offline.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    context.close()
