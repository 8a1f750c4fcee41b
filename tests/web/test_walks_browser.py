"""Whole visits in a real browser: on the shipped example, on 5,000 rows with 10 long chunks, and on 100,000 small samples."""

import json
import shutil
import statistics
import time

import pytest

import ragstone
from tests.report import runs
from tests.web.made_runs import long_run
from tests.web.test_browser import CHECKS, Tab
from tests.web.test_sample_browser import in_view, open_tab, walk_the_long_sample

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def large(tmp_path_factory, serve):
    """A viewer over two runs of 5,000 rows and the shipped example. Evidence is given: no judge is asked."""
    root = tmp_path_factory.mktemp("large")
    old, new = long_run(root, name="long old"), long_run(root, name="long new", start=3)
    worse, better = runs.harbour("worse", root), runs.harbour("better", root)
    return serve(root), {"long": (old, new), "example": (worse, better)}


@pytest.fixture(params=["long", "example"])
def two(large, request):
    client, found = large
    return client, *found[request.param]


def test_claim_verdict_and_sentence_are_seen_without_scrolling(browser, large):
    client, found = large
    walk_the_long_sample(browser, client, found["long"][0])


def test_the_worst_sample_is_two_clicks_away_and_explains_itself(browser, two):
    client, run, _ = two
    tab = open_tab(browser, client)
    page = tab.open("/runs")
    tab.follow(page.get_by_role("link", name=run.name))
    page.get_by_role("link", name="Open the worst sample").click()
    page.wait_for_url("**/samples/*")
    assert page.locator(".why .chip.bad").last.inner_text()
    assert in_view(page, page.locator("h1"))
    assert in_view(page, page.locator(".why .chip.bad").last)
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    assert page.evaluate(CHECKS) == []
    tab.close()


def test_a_comparison_is_filtered_sorted_paged_and_opened(browser, two):
    client, old, new = two
    tab = open_tab(browser, client)
    tab.patience = 120_000  # causes of both runs; the machine may be busy
    page = tab.open(f"/compare/{old.id}/{new.id}")
    page.evaluate("window.same = true")
    rows = page.locator("table.pairtable tbody tr")
    if old.info.rows > 25:
        assert rows.count() == 25
        page.keyboard.press("]")
        page.wait_for_url("**page=2*")
        page.go_back()
        tab.wait()
    first = rows.first.locator("th a").inner_text()
    page.get_by_label("sort").select_option("gains")
    page.wait_for_url("**sort=gains*")
    assert page.get_by_label("sort").input_value() == "gains"
    assert rows.first.locator("th a").inner_text() != first
    word = page.locator("table.pairtable td.question").nth(4).inner_text().split()[-1].strip("?")
    page.get_by_label("find").fill(word)
    page.keyboard.press("Enter")
    page.wait_for_url("**q=*")
    assert rows.count() > 0
    assert all(word in text for text in page.locator("table.pairtable td.question").all_inner_texts())
    name = rows.first.locator("th a").inner_text()
    rows.first.locator("th a").click()
    page.wait_for_url("**/samples/*")
    assert name in page.locator(".kind").inner_text()
    answers = [page.locator(".ab .side .said").nth(side).bounding_box() for side in (0, 1)]
    assert answers[0]["y"] == answers[1]["y"]
    assert answers[0]["x"] + answers[0]["width"] <= answers[1]["x"]
    assert page.locator("#scores-h").count() == 1
    assert page.evaluate(CHECKS) == []
    tab.close()


def test_runs_are_sorted_filtered_and_compared(browser, large):
    client, found = large
    tab = Tab(browser, client)
    page = tab.open("/runs")
    page.evaluate("window.same = true")
    page.locator("table.runs thead").get_by_role("link", name="samples").click()
    page.wait_for_url("**sort=samples*")
    counts = [int(text.replace(",", "")) for text in page.locator("td[data-label=samples]").all_inner_texts()]
    assert counts == sorted(counts, reverse=True)
    page.get_by_label("find").fill("long")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=long*")
    assert page.locator("table.runs tbody tr").count() == 2
    for run in found["long"]:
        page.locator(f"input[value='{run.id}']").check()
    page.get_by_role("button", name="Compare").click()
    page.wait_for_url(f"**/compare/{found['long'][0].id}/{found['long'][1].id}")
    tab.wait()
    assert page.locator("table.pairtable tbody tr").count() == 25
    tab.close()


def test_waiting_parts_are_swapped_and_typed_text_stays(browser, large, serve, tmp_path):
    """A viewer that has read nothing: the causes of 5,000 samples arrive while the reader types."""
    _, found = large
    old = found["long"][0]
    shutil.copytree(old.path, tmp_path / "runs" / old.id)
    tab = Tab(browser, serve(tmp_path))
    page = tab.page
    page.goto(f"{tab.origin}/runs/{old.id}")
    page.evaluate("window.same = true")
    waited = page.locator("[data-wait]").count() > 0
    page.locator("input[name=q]").fill("ferry 4")
    tab.wait()
    assert waited, "the page came before the causes"
    assert page.locator("input[name=q]").input_value() == "ferry 4"
    assert page.evaluate("document.activeElement.name") == "q"
    assert page.evaluate("window.same"), "no reload"
    assert page.locator("#verdict .headline").inner_text()
    tab.close()


def small_rows(count):
    """Samples of a few words; a third is answered wrongly, a fifth lacks its chunk."""
    for number in range(count):
        hour = f"{number % 23}:20"
        yield {
            "id": f"s{number}",
            "question": f"When does boat {number} leave?",
            "answer": f"Boat {number} leaves at {hour if number % 3 else '23:55'}.",
            "references": [f"Boat {number} leaves at {hour}."],
            "contexts": [
                {"text": f"Boat {number} leaves at {hour} from pier 1." if number % 5 else "Pier 1 has a crane."},
                {"text": "Pier 2 has a rope."},
            ],
            "facts": [f"leaves at {hour}"],
        }


def test_causes_of_30000_samples_arrive_and_the_page_is_usable(serve, tmp_path):
    file = tmp_path / "small.jsonl"
    with file.open("w") as stream:
        stream.writelines(json.dumps(row) + "\n" for row in small_rows(30_000))
    run = ragstone.evaluate(file, ["fact_recall", "token_f1"], tmp_path, name="small")
    client = serve(tmp_path)
    worked, times = time.process_time(), []
    while True:
        started = time.perf_counter()
        found = client.json(f"/runs/{run.id}.json?sort=token_f1")
        times.append(time.perf_counter() - started)
        if found["diagnosis"] and found["diagnosis"]["looked_at"] == 30_000:
            break
        time.sleep(3)
    # CPU time, since other tests share the machine; it includes these requests.
    used = time.process_time() - worked
    print(f"causes of 30,000 samples: {used:.0f} s of CPU time; a page meanwhile: {statistics.median(times):.2f} s")
    # 14 s alone on two cores; more if other tests share them. tests/web/test_library.py counts that no row is read twice.
    assert used < 60
    assert statistics.median(times) < 2
    assert {cause["name"] for cause in found["diagnosis"]["causes"]} >= {"missing chunk", "hallucinated"}
