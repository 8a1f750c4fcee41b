"""Keys in a real browser: the list under `?`, walks through tables and samples, and a selection that survives paging."""

import shutil

import pytest

from ragstone.web.pages import runs as runs_module
from tests.web import made_runs
from tests.web.test_browser import CHECKS, Tab, pages


@pytest.fixture
def tab(browser, viewer):
    opened = Tab(browser, viewer)
    yield opened
    opened.close()


def listed(page):
    """The keys of the overlay."""
    return set(page.locator("#keys kbd").all_text_contents()) - {"Esc"}


@pytest.mark.slow
def test_a_question_mark_lists_the_keys_of_the_page(tab, worse, better, hostile):
    found = {}
    for name, path in pages(worse, better, hostile).items():
        page = tab.open(path)
        assert not page.locator("#keys").is_visible()
        page.keyboard.press("?")
        assert page.locator("#keys").is_visible()
        assert page.evaluate(CHECKS) == []
        found[name] = listed(page)
        given = set(page.evaluate("Array.from(document.querySelectorAll('[data-key]'), (one) => one.dataset.key)"))
        missing = given - found[name]
        assert missing == set(), f"{name}: keys that are not listed"
        page.keyboard.press("Escape")
        assert not page.locator("#keys").is_visible()
    assert found["sample"] >= {"j", "k", "n", "b", "s", "?", "1", "2", "3", "0", "e", "u"}
    assert found["runs"] >= {"x", "c", "/"}


@pytest.mark.slow
def test_the_overlay_returns_the_focus_and_takes_the_keys(tab, worse):
    page = tab.open(f"/runs/{worse.id}")
    page.get_by_role("button", name="keys").click()
    page.keyboard.press("w")
    assert page.url.endswith(worse.id), "keys do nothing behind the overlay"
    page.get_by_role("button", name="Close").click()
    assert page.evaluate("document.activeElement.id") == "show-keys"
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.name") == "q"
    page.keyboard.type("?w")
    assert page.locator("input[name=q]").input_value() == "?w"
    assert not page.locator("#keys").is_visible()


@pytest.mark.slow
def test_a_run_is_read_by_keys_alone(tab, worse, better):
    page = tab.open("/runs")
    for _ in range(3):
        page.keyboard.press("j")
        if page.evaluate("document.activeElement.textContent") == worse.name:
            break
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/runs/{worse.id}")
    tab.wait()
    page.keyboard.press("w")
    page.wait_for_url("**/samples/*")
    page.keyboard.press("f")
    page.wait_for_url("**/facts*")
    page.keyboard.press("p")
    page.wait_for_url(lambda url: "facts" not in url)
    page.keyboard.press("p")
    page.wait_for_url(lambda url: "samples/" not in url)
    page.keyboard.press("h")
    page.wait_for_url("**/runs")


@pytest.mark.slow
def test_claims_and_chunks_by_keys(browser, serve, tmp_path):
    run = made_runs.long_run(tmp_path, 3)
    tab = Tab(browser, serve(tmp_path))
    page = tab.open(f"/runs/{run.id}/samples/2")
    lit = lambda: page.locator(".subjects > li.lit").first.get_attribute("id")  # noqa: E731
    assert lit() == "answer-2", "the claim that went wrong"
    page.keyboard.press("n")
    assert lit() == "answer-3"
    page.keyboard.press("b")
    page.keyboard.press("b")
    assert lit() == "answer-1"
    assert page.evaluate("document.activeElement.id") == "answer-1"
    page.keyboard.press("c")
    page.keyboard.press("9")
    page.wait_for_url("**#chunk-9")
    assert page.locator("#chunk-9 details").evaluate("box => box.open")
    page.keyboard.press("m")
    assert page.locator("#matrix").is_visible()
    page.keyboard.press("s")
    page.wait_for_url("**#scores-h")
    page.keyboard.press("j")
    page.wait_for_url(lambda url: "samples/2" not in url)
    tab.close()


@pytest.mark.slow
def test_what_has_the_focus_is_seen(tab, worse, better):
    """A ring of 2 px round everything that Tab reaches."""
    for path in ("/runs", f"/runs/{worse.id}/samples/8", f"/compare/{worse.id}/{better.id}/samples/8"):
        page = tab.open(path)
        for _ in range(25):
            page.keyboard.press("Tab")
            ring = page.evaluate(
                "(() => { const style = getComputedStyle(document.activeElement);"
                " return [style.outlineStyle, parseFloat(style.outlineWidth), document.activeElement.outerHTML.slice(0, 80)]; })()"
            )
            if ring[2].startswith("<body"):
                break  # the last one was before
            assert ring[0] == "auto" or (ring[0] != "none" and ring[1] >= 1), ring


@pytest.fixture
def many(serve, tmp_path, worse, better, monkeypatch):
    """Five runs, two to a page."""
    monkeypatch.setattr(runs_module, "_PAGE_SIZE", 2)
    for at, name in enumerate("abcde"):
        shutil.copytree((better if at % 2 else worse).path, tmp_path / "runs" / name)
    return serve(tmp_path)


@pytest.mark.slow
def test_a_selection_of_runs_survives_paging(browser, many):
    tab = Tab(browser, many)
    page = tab.open("/runs")
    first = page.locator("table.runs tbody input").first.get_attribute("value")
    page.keyboard.press("j")
    page.keyboard.press("x")
    assert page.locator(f"input[value={first}]").is_checked()
    page.keyboard.press("]")
    page.wait_for_url("**page=2*")
    assert page.locator("#chosen").inner_text().endswith("Also selected:")
    assert page.get_by_role("button", name="Compare").is_disabled()
    second = page.locator("table.runs tbody input").first.get_attribute("value")
    page.locator(f"input[value={second}]").check()
    page.get_by_role("link", name="samples", exact=True).click()
    page.wait_for_url("**sort=samples*")
    page.reload()
    tab.wait()
    assert page.evaluate(CHECKS) == []
    page.keyboard.press("c")
    page.wait_for_url("**/compare/**")
    assert {first, second} == set(page.url.split("/compare/")[1].split("/"))
    page.go_back()
    page.locator("#elsewhere, table.runs input:checked").first.wait_for(state="attached")
    assert not page.get_by_role("button", name="Compare").is_disabled()
    tab.close()


@pytest.mark.slow
def test_a_run_of_another_page_is_taken_out_of_the_selection(browser, many):
    tab = Tab(browser, many)
    page = tab.open("/runs")
    page.locator("table.runs tbody input").first.check()
    page.goto(f"{tab.origin}/runs?page=2")
    page.get_by_role("button", name="Remove").click()
    assert page.locator("#elsewhere button").count() == 0
    page.goto(f"{tab.origin}/runs")
    assert page.locator("table.runs input:checked").count() == 0
    tab.close()
