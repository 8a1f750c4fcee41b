"""The viewer in a real browser: every page, keys, hostile texts, accessibility, no request that leaves the machine."""

import json
import re
import shutil
from itertools import product
from pathlib import Path
from threading import Event

import pytest

from ragstone.web import library as insights
from tests.web.pages.test_run_live import under_way  # noqa: F401  (a fixture)

SHOTS = Path(__file__).parent / "screenshots"
CHECKS = (Path(__file__).parent / "checks.js").read_text()


class Tab:
    """A window that remembers everything that went wrong in it."""

    patience = 30_000

    def __init__(self, browser, client, width=1280, scheme="light", **settings):
        self.origin = client.origin
        self.context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, **settings)
        self.page = self.context.new_page()
        self.problems = []
        self.page.on("console", lambda said: said.type in ("error", "warning") and self.problems.append(said.text))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.warned = 0
        self.page.on("dialog", self._answer)
        self.page.on("request", self._note)

    def _answer(self, dialog):
        if dialog.type == "beforeunload":
            self.warned += 1
            dialog.accept()
        else:
            self.problems.append(f"a dialog: {dialog.message}")
            dialog.dismiss()

    def _note(self, request):
        if not request.url.startswith(self.origin):
            self.problems.append(f"a request elsewhere: {request.url}")

    def open(self, path):
        self.page.goto(f"{self.origin}{path}")
        self.wait()
        return self.page

    def wait(self):
        """Until the page is loaded with its scripts, and what is worked out in the background is there."""
        self.page.wait_for_load_state()
        self.page.locator("[data-wait]").first.wait_for(state="detached", timeout=self.patience)

    def follow(self, locator):
        """Click what leads to another page or place, and wait for it: what comes next must not happen on the page before."""
        with self.page.expect_navigation():
            locator.click()
        self.wait()
        return self.page

    def close(self):
        self.context.close()
        assert self.problems == []


@pytest.fixture
def tab(browser, viewer):
    opened = Tab(browser, viewer)
    yield opened
    opened.close()


def pages(worse, better, hostile):
    return {
        "runs": "/runs",
        "run": f"/runs/{worse.id}",
        "run-filtered": f"/runs/{worse.id}?cause=any+fault&sort=token_f1&size=25",
        "run-slice": f"/runs/{worse.id}?slice=difficulty%3Dhard",
        "sample": f"/runs/{worse.id}/samples/8",
        "sample-claims": f"/runs/{hostile.id}/samples/1",
        "facts": f"/runs/{worse.id}/samples/8/facts",
        "comparison": f"/compare/{worse.id}/{better.id}",
        "pair": f"/compare/{worse.id}/{better.id}/samples/8",
        "nothing": "/runs?q=nothing-like-it",
    }


# The narrow window in `make test`, all others with the slow tests.
WINDOWS = [
    (360, "light"),
    *(
        pytest.param(width, scheme, marks=pytest.mark.slow)
        for width, scheme in product((360, 1280, 1600), ("light", "dark"))
        if (width, scheme) != (360, "light")
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), WINDOWS)
def test_every_page_is_sound(browser, viewer, worse, better, hostile, width, scheme):
    tab = Tab(browser, viewer, width, scheme)
    SHOTS.mkdir(exist_ok=True)
    found = {}
    for name, path in pages(worse, better, hostile).items():
        page = tab.open(path)
        page.screenshot(path=SHOTS / f"{name}-{width}-{scheme}.png", full_page=True)
        if problems := page.evaluate(CHECKS):
            found[name] = problems[:5]
    assert found == {}
    tab.close()


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1600, "light")])
def test_pages_with_little_on_them_are_sound(browser, serve, tmp_path, under_way, worse, width, scheme):  # noqa: F811
    empty = tmp_path / "empty"
    empty.mkdir()
    found = {}
    for name, root, path in (
        ("empty", empty, "/runs"),
        ("none", empty, "/runs/no-such-run"),
        ("live", tmp_path, f"/runs/{worse.id}"),
        ("runs-live", tmp_path, "/runs"),
    ):
        tab = Tab(browser, serve(root), width, scheme)
        page = tab.open(path)
        page.screenshot(path=SHOTS / f"{name}-{width}-{scheme}.png", full_page=True)
        if problems := page.evaluate(CHECKS):
            found[name] = problems[:5]
        if name == "none":  # the browser says itself that such a page is not there
            assert [problem for problem in tab.problems if "404" not in problem] == []
            tab.problems.clear()
        tab.close()
    assert found == {}


@pytest.mark.slow
def test_a_label_of_a_slice_leads_to_its_samples(tab, worse):
    page = tab.open(f"/runs/{worse.id}?sort=token_f1")
    page.locator("#slices").get_by_role("link", name="hard", exact=True).click()
    page.wait_for_url("**slice=difficulty%3Dhard*")
    assert "sort=token_f1" in page.url
    tab.wait()
    levels = [json.loads(cell)["difficulty"] for cell in worse.samples.table["metadata"].to_pylist()]
    assert page.locator("table.samples tbody tr").count() == levels.count("hard")
    page.locator("select[name=slice]").select_option("")
    page.wait_for_url(lambda url: "slice=" not in url)
    assert page.locator("table.samples tbody tr").count() == len(levels)


@pytest.mark.slow
def test_it_is_told_when_all_samples_have_been_looked_into(browser, serve, tmp_path, worse, monkeypatch):
    whole, diagnose = Event(), insights.diagnose
    monkeypatch.setattr(insights, "FIRST_FEW", 5)
    monkeypatch.setattr(
        insights, "diagnose", lambda *args, **more: (args[1] or whole.wait(30)) and diagnose(*args, **more)
    )
    shutil.copytree(worse.path, tmp_path / "runs" / worse.id)
    tab = Tab(browser, serve(tmp_path))
    page = tab.open(f"/runs/{worse.id}")
    page.get_by_text("Diagnosis of the first 5 samples").wait_for()
    page.evaluate("window.same = true")
    whole.set()
    page.locator("[data-partly]").wait_for(state="detached", timeout=20_000)
    assert page.evaluate("window.same"), "the page was not taken away"
    tab.close()


def test_the_worst_sample_and_its_cause_are_two_clicks_away(tab, worse):
    page = tab.open("/runs")
    tab.follow(page.get_by_role("link", name="harbour-worse"))
    tab.follow(page.get_by_role("link", name="Open the worst sample"))
    assert re.search(r"/samples/\d+$", page.url)
    assert page.locator(".why .chip.bad").last.inner_text()


@pytest.mark.slow
def test_keys_walk_through_the_table_and_the_samples(tab, worse):
    page = tab.open(f"/runs/{worse.id}?sort=token_f1")
    rows = page.locator("table.samples tbody tr")
    page.keyboard.press("j")
    page.keyboard.press("j")
    second = rows.nth(1).locator("th a")
    assert second.evaluate("link => link === document.activeElement")
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    page.wait_for_url("**/samples/*")
    first = page.url
    assert "sort=token_f1" in first
    page.keyboard.press("j")
    page.wait_for_url(lambda url: url != first)
    assert "2 of 25" in page.locator(".walk").inner_text()
    page.keyboard.press("k")
    page.wait_for_url(first)
    page.get_by_label("Breadcrumbs").get_by_role("link", name="harbour-worse").click()
    page.wait_for_url(f"**/runs/{worse.id}?sort=token_f1#samples")


@pytest.mark.slow
def test_letters_in_a_field_are_letters(tab, worse):
    page = tab.open(f"/runs/{worse.id}")
    field = page.get_by_label("find")
    field.focus()
    page.keyboard.type("jk")
    assert field.input_value() == "jk"
    page.keyboard.press("Enter")
    page.wait_for_url("**q=jk*")
    assert "dir=" not in page.url


@pytest.mark.slow
def test_everything_can_be_reached_by_tab(tab, worse):
    page = tab.open(f"/runs/{worse.id}")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    seen = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.outerHTML.slice(0, 60)"))
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none"
    assert len(seen) > 30


@pytest.mark.slow
def test_choosing_two_runs(tab, worse, better):
    page = tab.open("/runs")
    button = page.get_by_role("button", name="Compare")
    assert button.is_disabled()
    page.locator(f"input[value='{better.id}']").check()
    page.locator(f"input[value='{worse.id}']").check()
    button.click()
    page.wait_for_url(f"**/compare/{worse.id}/{better.id}")


@pytest.mark.slow
def test_a_choice_of_the_table_is_in_the_address(tab, worse):
    page = tab.open(f"/runs/{worse.id}")
    page.get_by_label("sort").select_option("token_f1")
    page.wait_for_url("**sort=token_f1*")
    page.get_by_text("columns", exact=True).click()
    assert page.evaluate(CHECKS) == []
    page.get_by_role("checkbox", name="recall", exact=True).uncheck()
    tab.follow(page.get_by_role("button", name="Show"))
    heads = page.locator("table.samples thead").inner_text()
    assert "token_f1" in heads
    assert not re.search(r"(?<!_)recall", heads)
    page.reload()
    assert page.locator("table.samples thead").inner_text() == heads


@pytest.mark.slow
def test_a_link_is_copied(browser, viewer, worse):
    tab = Tab(browser, viewer, permissions=["clipboard-read", "clipboard-write"])
    page = tab.open(f"/runs/{worse.id}/samples/8")
    page.get_by_role("button", name="Copy link").click()
    page.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    tab.close()


@pytest.mark.slow
def test_pages_are_read_without_scripts(browser, viewer, worse, better, hostile):
    tab = Tab(browser, viewer, java_script_enabled=False)
    for path in pages(worse, better, hostile).values():
        tab.page.goto(f"{viewer.origin}{path}")
        assert tab.page.locator("h1").inner_text()
    tab.page.goto(f"{viewer.origin}/runs")
    tab.page.locator(f"input[value='{better.id}']").check()
    tab.page.locator(f"input[value='{worse.id}']").check()
    tab.page.get_by_role("button", name="Compare").click()
    tab.page.wait_for_url("**/compare/**")
    tab.close()


def test_scripts_in_texts_do_not_run(browser, viewer, hostile):
    tab = Tab(browser, viewer)
    tab.page.add_init_script("window.alert = () => { throw new Error('an alert') }")
    for path in (
        "/runs",
        f"/runs/{hostile.id}",
        f"/runs/{hostile.id}/samples/1",
        f"/runs/{hostile.id}/samples/1/facts",
    ):
        page = tab.open(path)
        assert "<script>alert(1)</script>" in page.locator("body").inner_text() or path.endswith("facts")
        for link in page.locator("a").all()[:60]:
            assert (link.get_attribute("href") or "").startswith(("/", "#", "?")) or link.get_attribute("href") == ""
    tab.close()


@pytest.mark.slow
def test_progress_moves(browser, serve, tmp_path, under_way, worse):  # noqa: F811
    client = serve(tmp_path)
    tab = Tab(browser, client)
    page = tab.open(f"/runs/{worse.id}")
    assert page.locator("progress").evaluate("bar => bar.value") == 10
    assert page.evaluate(CHECKS) == []
    part = under_way / "parts" / "000000"
    shutil.copytree(part, under_way / "parts" / "000001")
    page.locator(".told", has_text="20 of 25 samples").wait_for(timeout=10_000)
    assert page.locator("progress").evaluate("bar => bar.value") == 20
    (under_way / "run.json").write_bytes(worse.folder.manifest.read_bytes())
    for name in ("scores", "summary", "calls"):
        shutil.copy(f"{worse.path}/{name}.parquet", under_way)
    shutil.copytree(f"{worse.path}/evidence", under_way / "evidence")
    (under_way / "plan.json").unlink()
    page.get_by_role("heading", name="All samples").wait_for(timeout=10_000)
    tab.close()
