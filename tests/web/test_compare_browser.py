"""Runs, comparisons and pairs in a real browser: side by side, filters in the address, and pages that fill themselves."""

import json
import shutil
from itertools import product
from threading import Event

import pytest

from ragstone.web import library
from tests.web.pages.test_run_live import under_way  # noqa: F401  (a fixture)
from tests.web.test_browser import CHECKS, SHOTS, Tab


@pytest.fixture
def tab(browser, viewer):
    opened = Tab(browser, viewer)
    yield opened
    opened.close()


@pytest.fixture
def address(worse, better):
    return f"/compare/{worse.id}/{better.id}"


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), list(product((390, 1280, 1920), ("light", "dark"))))
def test_pages_are_sound(browser, viewer, worse, better, hostile, address, width, scheme):
    tab = Tab(browser, viewer, width, scheme)
    SHOTS.mkdir(exist_ok=True)
    found = {}
    for name, path in {
        "runs": "/runs",
        "comparison": address,
        "comparison-filtered": f"{address}?was=missing+chunk&metric=token_f1#pairs",
        "pair": f"{address}/samples/8",
        "pair-hostile": f"/compare/{hostile.id}/{hostile.id}/samples/1",
    }.items():
        page = tab.open(path)
        page.screenshot(path=SHOTS / f"{name}-{width}-{scheme}.png", full_page=True)
        if problems := page.evaluate(CHECKS):
            found[name] = problems[:5]
    assert found == {}
    tab.close()


def test_a_pair_stands_side_by_side(tab, address):
    page = tab.open(f"{address}/samples/8")
    a, b = (page.locator(".ab .side .said").nth(side).bounding_box() for side in (0, 1))
    assert a["y"] == b["y"]
    assert a["x"] + a["width"] <= b["x"]
    gained = page.locator("details.piece.new").first
    assert gained.locator("mark.fact:visible").count() == 1
    assert gained.bounding_box()["y"] < page.locator("details.same").first.bounding_box()["y"]
    tab.follow(page.get_by_role("link", name="1", exact=True).first)
    assert page.evaluate("document.querySelector(':target').id") == "b-1"


@pytest.mark.slow
def test_filters_and_orders_are_in_the_address_and_the_back_button_returns(tab, address):
    page = tab.open(address)
    rows = page.locator("table.pairtable tbody tr")
    everything = rows.count()
    page.get_by_label("cause in A").select_option("missing chunk")
    page.wait_for_url("**was=missing+chunk*")
    assert 0 < rows.count() < everything
    page.locator("select[name=metric]").select_option("token_f1")
    page.wait_for_url("**metric=token_f1*")
    page.locator("table.pairtable thead a", has_text="change").click()
    page.wait_for_url("**sort=gains*")
    assert "was=missing+chunk" in page.url
    first = rows.first.locator("th a")
    name = first.inner_text()
    first.click()
    page.wait_for_url("**/samples/*")
    assert "was=missing+chunk" in page.url
    page.keyboard.press("j")
    page.wait_for_function("name => !document.querySelector('.kind').textContent.includes(name)", arg=name)
    page.go_back()
    page.go_back()
    assert rows.first.locator("th a").inner_text() == name


@pytest.mark.slow
def test_a_moved_cause_leads_to_its_samples(tab, address):
    page = tab.open(address)
    link = page.locator("table.moved").get_by_role("link", name="samples with missing chunk in A")
    count = int(link.inner_text().split()[0])
    link.click()
    page.wait_for_url("**was=missing+chunk*")
    tab.wait()
    assert page.locator("table.pairtable tbody tr").count() == count


@pytest.mark.slow
def test_runs_are_sorted_and_compared(browser, serve, tmp_path, worse, better):
    for run, name in ((worse, "a"), (better, "b"), (better, "c")):
        shutil.copytree(run.path, tmp_path / "runs" / name)
    tab = Tab(browser, serve(tmp_path))
    page = tab.open("/runs")
    page.get_by_role("link", name="fact_recall", exact=True).click()
    page.wait_for_url("**sort=metric%3Afact_recall*")
    assert page.locator("table.runs tbody input").last.get_attribute("value") == "a"
    button = page.get_by_role("button", name="Compare")
    assert button.is_disabled()
    for name in "abc":
        page.locator(f"input[value={name}]").check()
    button.click()
    page.wait_for_url("**/compare?run=*")
    tab.wait()
    assert page.locator("table.leaders").first.locator("tbody tr").count() == 3
    assert page.evaluate(CHECKS) == []
    page.get_by_role("link", name="token_f1").click()
    page.wait_for_url("**sort=token_f1*")
    tab.close()


@pytest.mark.slow
def test_a_comparison_appears_without_a_reload(browser, serve, tmp_path, worse, better, monkeypatch):
    ready, compare = Event(), library.compare_runs
    monkeypatch.setattr(library, "compare_runs", lambda *runs, **more: ready.wait(30) and compare(*runs, **more))
    for run in (worse, better):
        shutil.copytree(run.path, tmp_path / "runs" / run.id)
    tab = Tab(browser, serve(tmp_path))
    page = tab.page
    page.goto(f"{tab.origin}/compare/{worse.id}/{better.id}")
    page.get_by_text("Comparing…").wait_for()
    page.evaluate("window.same = true")
    page.get_by_role("link", name="swap A and B").focus()
    ready.set()
    page.locator("table.pairtable").wait_for(timeout=15_000)
    assert page.evaluate("window.same")
    assert page.evaluate("document.activeElement.textContent") == "swap A and B"
    page.locator("#said", has_text="The results are ready.").wait_for(state="attached")
    tab.close()


SHIFTS = """window.shifted = 0; new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value;
}).observe({ type: "layout-shift", buffered: true });"""


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1440])
def test_nothing_moves_while_results_come(browser, serve, tmp_path, worse, better, monkeypatch, width):
    ready = Event()
    for name in ("compare_runs", "diagnose", "_hash_ids"):
        compute = getattr(library, name)
        monkeypatch.setattr(library, name, lambda *args, _f=compute, **more: ready.wait(30) and _f(*args, **more))
    for run in (worse, better):
        shutil.copytree(run.path, tmp_path / "runs" / run.id)
    for path in ("/runs", f"/runs/{worse.id}", f"/compare/{worse.id}/{better.id}"):
        ready.clear()
        tab = Tab(browser, serve(tmp_path), width)
        tab.page.add_init_script(SHIFTS)
        tab.page.goto(f"{tab.origin}{path}")
        tab.page.locator("[data-wait]").first.wait_for(state="attached")
        ready.set()
        tab.wait()
        # A shift is reported with the frame after it.
        tab.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert tab.page.evaluate("window.shifted") <= 0.05, path
        tab.close()


@pytest.mark.slow
def test_what_was_typed_and_opened_stays_while_causes_arrive(browser, serve, tmp_path, worse, monkeypatch):
    ready, diagnose = Event(), library.diagnose
    monkeypatch.setattr(library, "diagnose", lambda *args, **more: ready.wait(30) and diagnose(*args, **more))
    shutil.copytree(worse.path, tmp_path / "runs" / worse.id)
    tab = Tab(browser, serve(tmp_path))
    page = tab.page
    page.goto(f"{tab.origin}/runs/{worse.id}")
    page.get_by_text("Diagnosing failing samples…").wait_for()
    page.get_by_text("columns", exact=True).click()
    page.locator("input[name=col][value=recall]").uncheck()
    page.locator("input[name=q]").fill("boat")
    top = page.evaluate("scrollY")
    ready.set()
    page.locator("[data-wait]").first.wait_for(state="detached", timeout=15_000)
    page.locator("#samples .chip.bad").first.wait_for()
    assert page.locator("input[name=q]").input_value() == "boat"
    assert page.evaluate("document.activeElement.name") == "q"
    assert page.locator("details.columns").get_attribute("open") is not None
    assert not page.locator("input[name=col][value=recall]").is_checked()
    assert page.evaluate("scrollY") >= top
    tab.close()


@pytest.mark.slow
def test_runs_appear_by_themselves(browser, serve, tmp_path, under_way, worse, better):  # noqa: F811
    tab = Tab(browser, serve(tmp_path))
    page = tab.open("/runs")
    page.evaluate("window.same = true")
    shutil.copytree(better.path, tmp_path / "runs" / "new")
    page.get_by_role("link", name="harbour-better").wait_for(timeout=15_000)
    page.locator("input[value=new]").check()
    shutil.copytree(under_way / "parts" / "000000", under_way / "parts" / "000001")
    page.locator(".told", has_text="20 of 25 samples").wait_for(timeout=15_000)
    assert page.locator("input[value=new]").is_checked()
    assert page.evaluate("window.same")
    tab.close()


@pytest.mark.slow
def test_a_killed_run_shows_the_command_that_resumes_it(browser, serve, tmp_path, under_way, worse):  # noqa: F811
    plan = json.loads((under_way / "plan.json").read_text())
    command = "ragstone run 'my answers.jsonl' -m all --resume"
    (under_way / "plan.json").write_text(json.dumps({**plan, "command": command}))
    tab = Tab(browser, serve(tmp_path))
    page = tab.open(f"/runs/{worse.id}")
    assert page.get_by_text("Running").is_visible()
    (under_way / "owner.json").unlink()
    page.get_by_text("No process is working on this run").wait_for(timeout=15_000)
    assert page.locator("#killed pre").inner_text() == command
    assert page.evaluate(CHECKS) == []
    page.goto(f"{tab.origin}/runs")
    page.get_by_text("interrupted").wait_for()
    tab.close()


@pytest.mark.slow
def test_tables_are_filtered_without_scripts(browser, viewer, address):
    tab = Tab(browser, viewer, java_script_enabled=False)
    page = tab.open(address)
    # A page that is not finished loads itself again, and would undo the choice.
    page.locator("meta[http-equiv=refresh]").wait_for(state="detached")
    page.get_by_label("cause in A").select_option("missing chunk")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**was=missing+chunk**")
    assert 0 < page.locator("table.pairtable tbody tr").count() < 25
    page.goto(f"{tab.origin}/runs")
    page.locator("table.runs thead").get_by_role("link", name="samples").click()
    page.wait_for_url("**sort=samples*")
    tab.close()
