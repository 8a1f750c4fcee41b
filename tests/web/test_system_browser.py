"""The system strip, comparisons and several runs in a real browser: windows of three widths, lists, and explained terms."""

import pytest

import ragstone
from tests.axe import barriers
from tests.report import runs
from tests.web.test_browser import Tab

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def everything(serve, tmp_path_factory):
    """Three runs of the example, and one with latency, tokens and cost, with a right-to-left text."""
    root = tmp_path_factory.mktemp("system")
    worse, better, again = (runs.harbour(name, root) for name in ("worse", "better", "worse"))
    rows = [
        {
            "id": f"row-{number}",
            "question": "متى تغادر العبارة؟" if number == 3 else f"When does boat {number} leave?",
            "answer": "تغادر العبارة الليلية من الرصيف رقم 7" if number == 3 else "At ten.",
            "references": ["تغادر العبارة من الرصيف" if number == 3 else "At ten."],
            "latency_s": 0.4 + number**2 / 20,
            "input_tokens": 100_000 + number,
            "output_tokens": 80,
            "cost_usd": 0.00006 * number,
        }
        for number in range(20)
    ]
    timed = ragstone.evaluate(rows, ["token_f1", "system"], root, name="a system with a long name and its latency")
    client = serve(root)
    several = "&".join(f"run={run.id}" for run in (worse, better, again))
    pair = f"/compare/{worse.id}/{better.id}"
    client.when_ready(f"{pair}.json", lambda data: data["ready"] and data["causes"] is not None)
    client.when_ready(f"/compare.json?{several}", lambda data: data["ready"] and not data["shared"]["waiting"])
    return client, {
        "runs": "/runs",
        "run": f"/runs/{timed.id}",
        "sample": f"/runs/{timed.id}/samples/4",
        "comparison": pair,
        "family": f"{pair}?family=retrieval",
        "several": f"/compare?{several}",
        "pair": f"{pair}/samples/8?with={again.id}",
    }


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (1024, "dark"), (390, "dark")])
def test_pages_fit_their_window_and_have_no_barriers(browser, everything, width, scheme):
    client, pages = everything
    tab = Tab(browser, client, width, scheme)
    found = {}
    for name, path in pages.items():
        page = tab.open(path)
        if wider := page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"):
            found[name] = f"{wider} px wider than the window"
        if problems := barriers(page):
            found[f"{name} axe"] = problems
    tab.close()
    assert found == {}


@pytest.mark.parametrize("width", [1440, 1024])
def test_the_list_of_runs_shows_all_its_columns(browser, everything, width):
    tab = Tab(browser, everything[0], width)
    page = tab.open("/runs")
    assert page.locator(".choosing .scroll").evaluate("box => box.scrollWidth - box.clientWidth") <= 0
    assert page.get_by_role("cell", name="100,010 → 80").is_visible()
    tab.close()


def test_the_leaderboard_is_a_list_of_cards_in_a_narrow_window(browser, everything):
    tab = Tab(browser, everything[0], 390)
    page = tab.open(everything[1]["several"])
    for box in page.locator(".scroll").all():
        assert box.evaluate("box => box.scrollWidth - box.clientWidth") <= 0
    tab.close()


def test_the_slowest_sample_is_one_click_away(browser, everything):
    tab = Tab(browser, everything[0])
    page = tab.open(everything[1]["run"])
    page.locator(".outliers").get_by_role("link", name="row-19").first.click()
    page.wait_for_url("**/samples/20*")
    assert "slowest of 20" in page.locator(".system").inner_text()
    tab.close()


def test_newly_failing_rows_and_slices_lead_to_their_pairs(browser, everything):
    tab = Tab(browser, everything[0])
    page = tab.open(everything[1]["comparison"])
    count = int(page.locator(".figures dt", has_text="newly failing").locator("xpath=../dd").inner_text().split()[0])
    assert page.locator("#rows > .movedrows > li").count() == count
    if count:
        sides = page.locator("#rows > .movedrows > li").first.locator(".side")
        a, b = sides.nth(0).bounding_box(), sides.nth(1).bounding_box()
        assert a["y"] == b["y"]
        assert a["x"] + a["width"] <= b["x"]
    first = page.locator("#failing-slices tbody tr").first
    rows = int(first.locator("td").first.inner_text())
    first.get_by_role("link").click()
    page.wait_for_url("**slice=*")
    assert page.locator("table.pairtable tbody tr").count() >= rows
    tab.close()


def test_a_term_is_explained_on_keyboard_focus(browser, everything):
    tab = Tab(browser, everything[0])
    page = tab.open(everything[1]["comparison"])
    term = page.locator("abbr", has_text="MDE").first
    shown = "abbr => getComputedStyle(abbr, '::after').content"
    assert "80 % power" not in term.evaluate(shown)
    term.focus()
    assert "80 % power" in term.evaluate(shown)
    tab.close()


def test_only_rows_that_differ_and_their_answers_in_three_columns(browser, everything):
    tab = Tab(browser, everything[0])
    page = tab.open(everything[1]["several"])
    rows = page.locator("table.several tbody tr")
    differing = page.locator("table.several tbody tr.differs").count()
    assert 0 < differing < rows.count()
    page.get_by_role("link", name="Show only rows that differ").click()
    page.wait_for_url("**rows=differs*")
    assert rows.count() == differing
    rows.first.locator("th a").click()
    page.wait_for_url("**/samples/**")
    boxes = [page.locator(".ab.several .side").nth(at).bounding_box() for at in range(3)]
    assert len({box["y"] for box in boxes}) == 1
    assert boxes[0]["x"] < boxes[1]["x"] < boxes[2]["x"]
    tab.close()
