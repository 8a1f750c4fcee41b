"""axe-core on every page of the viewer and of the reports: no serious or moderate issue, no page wider than its window."""

import re
from dataclasses import replace
from urllib.parse import urlencode

import pytest

import ragstone
from ragstone.analysis.comparison import compare_runs
from ragstone.analysis.label_use import sample_key
from ragstone.report.html.comparison_page import comparison_html
from ragstone.report.html.run_page import run_html
from ragstone.report.html.sweep_page import sweep_html
from ragstone.report.text import to_json
from ragstone.storage.human_labels import HumanLabel, write_label
from ragstone.storage.places import open_place
from ragstone.storage.runs import open_run
from tests.analysis.test_label_use import rows
from tests.axe import barriers, barriers_in_both_schemes
from tests.report import runs
from tests.sweep.made_results import make_results
from tests.watch.made_watch import make_watch
from tests.web import truths
from tests.web.made_conversations import conversation_run
from tests.web.made_runs import long_run, text_run
from tests.web.pages.test_run_live import under_way  # noqa: F401  (a fixture)
from tests.web.test_browser import Tab

HEIGHTS = {390: 844, 1440: 900}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def everything(tmp_path_factory, serve):
    """A viewer with everything that has a page, and the pages."""
    root = tmp_path_factory.mktemp("everything")
    worse, better, hostile = runs.harbour("worse", root), runs.harbour("better", root), runs.hostile(root)
    long, moved, texts = long_run(root, 5), long_run(root, 5, name="moved", start=3), text_run(root)
    chat = conversation_run(root)
    labelled = ragstone.evaluate(list(rows(wrong=range(0, 36, 3), count=36)), "ragchecker", str(root))
    for row, sample in enumerate(open_run(labelled.path).samples):
        for author in ("Ana", "Bo")[: 1 + (row == 0)]:
            value = ("right", "wrong")[row % 2]
            write_label(open_place(str(root)), HumanLabel(key := sample_key(sample), "answer", author, value, key))
    damaged = root / "runs" / "damaged"
    damaged.mkdir()
    (damaged / "run.json").write_text("{")
    truths.save(root, "ferry", truths.ferry())
    changed = truths.ferry()
    changed[0] = replace(changed[0], question="When does the last boat leave Orlsay?")
    truths.save(root, "ferry", changed, "Grace", "shorter", 1)
    make_watch(root / "ferry-watch", [0.95] * 6 + [0.25] * 2, draws=30)
    make_watch(root / "new-watch", [])
    (root / "sweeps" / "tickets").mkdir(parents=True)
    (root / "sweeps" / "tickets" / "results.json").write_text(to_json(make_results().as_dict()))
    several = urlencode([("run", run.id) for run in (worse, better, better)])
    return serve(root), {
        "runs": "/runs",
        "nothing": "/runs?q=nothing-like-it",
        "run": f"/runs/{worse.id}",
        "run-filtered": f"/runs/{worse.id}?cause=any+fault&sort=token_f1",
        "sample": f"/runs/{worse.id}/samples/8",
        "sample-long": f"/runs/{long.id}/samples/2",
        "sample-hostile": f"/runs/{hostile.id}/samples/1",
        "sample-markdown": f"/runs/{texts.id}/samples/1",
        "sample-arabic": f"/runs/{texts.id}/samples/2",
        "facts": f"/runs/{worse.id}/samples/8/facts",
        "comparison": f"/compare/{worse.id}/{better.id}",
        "pair": f"/compare/{worse.id}/{better.id}/samples/8",
        "pair-long": f"/compare/{long.id}/{moved.id}/samples/2",
        "leaderboard": f"/compare?{several}",
        "choice": "/compare",
        "sample-labelled": f"/runs/{labelled.id}/samples/1",
        "run-problem": f"/runs/{labelled.id}?where=latenzy+%3E",
        "run-conversations": f"/runs/{chat.id}",
        "conversation": f"/runs/{chat.id}/conversations/2",
        "agreement": "/agreement",
        "agreement-run": f"/agreement/{labelled.id}",
        "agreement-none": f"/agreement/{worse.id}",
        "sweeps": "/sweeps",
        "sweep": "/sweeps/tickets",
        "truths": "/truth",
        "truth": "/truth/ferry",
        "case": "/truth/ferry/case?id=f2",
        "new-case": "/truth/ferry/new",
        "queue": "/truth/ferry/queue",
        "diff": "/truth/ferry/diff",
        "rescore": "/truth/ferry/rescore",
        "create": f"/runs/{worse.id}/truth",
        "watches": "/watch",
        "watch": "/watch/ferry-watch",
        "watch-empty": "/watch/new-watch",
        "damaged": "/runs/damaged",
        "absent": "/runs/none",
        "unlike": f"/compare/{worse.id}/{chat.id}",
    }


def unfold(page):
    page.evaluate("for (const box of document.querySelectorAll('details')) box.open = true")


def wider(page):
    return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")


@pytest.mark.parametrize("width", HEIGHTS)
def test_no_page_of_the_viewer_has_barriers(browser, everything, width):
    client, pages = everything
    tab = Tab(browser, client, width)
    tab.page.set_viewport_size({"width": width, "height": HEIGHTS[width]})
    found = {}
    for name, path in pages.items():
        page = tab.open(path)
        problems = barriers_in_both_schemes(page)
        if name == "sample":
            page.keyboard.press("?")
            problems += barriers(page)
            page.keyboard.press("Escape")
        unfold(page)
        if beyond := max(0, wider(page)):
            problems.append(f"{beyond} px wider than the window")
        if problems:
            found[name] = problems
    assert found == {}
    tab.problems = [problem for problem in tab.problems if not re.search("status of 4(00|04|09)", problem)]
    tab.close()


@pytest.mark.parametrize("width", HEIGHTS)
def test_no_page_of_an_empty_store_has_barriers(browser, serve, tmp_path, width):
    tab = Tab(browser, serve(tmp_path), width)
    for path in ("/runs", "/compare", "/sweeps", "/watch", "/agreement", "/truth"):
        assert barriers_in_both_schemes(tab.open(path)) == [], path
        assert wider(tab.page) <= 0, path
    tab.close()


def test_unfolded_pages_have_no_barriers(browser, everything):
    client, pages = everything
    tab = Tab(browser, client)
    found = {}
    for name in ("run", "sample-long", "comparison", "pair", "leaderboard", "case"):
        page = tab.open(pages[name])
        unfold(page)
        if problems := barriers(page):
            found[name] = problems
    assert found == {}
    tab.close()


def test_pages_of_running_interrupted_and_absent_runs_have_no_barriers(browser, serve, tmp_path, under_way, worse):  # noqa: F811
    tab = Tab(browser, serve(tmp_path))
    found = {}
    for name, path in (("live", f"/runs/{worse.id}"), ("runs", "/runs"), ("absent", "/runs/none")):
        if problems := barriers(tab.open(path)):
            found[name] = problems
    (under_way / "owner.json").unlink()
    if problems := barriers(tab.open(f"/runs/{worse.id}")):
        found["killed"] = problems
    assert found == {}
    tab.problems = [problem for problem in tab.problems if "404" not in problem]
    tab.close()


@pytest.mark.parametrize("width", HEIGHTS)
def test_no_report_has_barriers(browser, viewer, tmp_path, worse, better, hostile, width):
    made = {
        "run": run_html(worse),
        "hostile": run_html(hostile),
        "comparison": comparison_html(compare_runs(worse, better, slices=["topic"])),
        "sweep": sweep_html(make_results()),
        "sample": viewer.ask(f"/runs/{worse.id}/samples/8/page.html")[1].decode(),
    }
    context = browser.new_context(viewport={"width": width, "height": HEIGHTS[width]})
    page = context.new_page()
    found = {}
    for name, text in made.items():
        file = tmp_path / f"{name}.html"
        file.write_text(text, encoding="utf-8")
        page.goto(file.as_uri())
        unfold(page)
        problems = barriers_in_both_schemes(page)
        if beyond := max(0, wider(page)):
            problems.append(f"{beyond} px wider than the window")
        if problems:
            found[name] = problems
    context.close()
    assert found == {}
