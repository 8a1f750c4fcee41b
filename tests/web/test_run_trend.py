"""The trend over the runs of a name: which runs it has, its axes, its links, and its chart in a browser."""

import json
import re
import shutil
from urllib.parse import urlencode

import pytest

from ragstone.web.run_trend import trend_chart
from tests.axe import barriers
from tests.web.test_browser import SHOTS, Tab


@pytest.fixture(scope="module")
def repeated(serve, tmp_path_factory, worse, better):
    """Three runs of one name and one of another; each finished on a day of its own."""
    root = tmp_path_factory.mktemp("trend")
    for number, run in enumerate((worse, better, worse), 1):
        folder = root / "runs" / str(number)
        shutil.copytree(run.path, folder)
        info = json.loads((folder / "run.json").read_text())
        info |= {"name": "ferry", "finished_at": f"2026-03-0{number * number}T10:00:00+00:00"}
        info["code"] = {"commit": f"{number}abcdef0123456789"}
        (folder / "run.json").write_text(json.dumps(info))
    shutil.copytree(worse.path, root / "runs" / "4")
    return serve(root)


def trend_of(client, **query):
    return client.when_ready(f"/runs.json?{urlencode({'name': 'ferry'} | query)}", lambda data: not data["waiting"])[
        "trend"
    ]


def test_a_trend_has_the_runs_of_a_name_from_the_oldest(repeated, worse, better):
    found = trend_of(repeated, metric="token_f1")
    assert [point["run"] for point in found["points"]] == ["1", "2", "3"]
    old, new = worse.summary()["token_f1"], better.summary()["token_f1"]
    assert [point["estimate"] for point in found["points"]] == [old.mean, new.mean, old.mean]
    assert [point["low"] for point in found["points"]] == [old.ci_low, new.ci_low, old.ci_low]
    page = repeated.page("/runs?name=ferry&metric=token_f1")
    assert {"/runs/1", "/runs/2", "/runs/3"} <= {
        item["href"] for item in page.find("a") if item.get("tabindex") == "-1"
    }
    assert trend_of(repeated, metric="nothing")["metric"] in found["choices"]
    assert repeated.json("/runs.json?name=harbour-worse")["trend"] is None, "one run is not a trend"
    assert repeated.json("/runs.json")["trend"] is None


def test_the_axis_is_time_or_one_step_per_commit(repeated):
    places = {}
    for by in ("date", "commit"):
        found = trend_of(repeated, metric="token_f1", by=by)
        assert found["by"] == by
        drawn = str(trend_chart(found))
        places[by] = [float(x) for x in re.findall(r'<circle cx="([\d.]+)"', drawn)]
        assert (">2026-03-01<" in drawn, ">1abcdef0<" in drawn) == (by == "date", by == "commit")
    left, middle, right = places["date"]
    assert (middle - left) / (right - left) == pytest.approx(3 / 8, abs=0.01)
    left, middle, right = places["commit"]
    assert middle - left == pytest.approx(right - middle, abs=0.1)
    assert repeated.json("/runs.json?name=ferry&by=%3Cb%3E")["trend"]["by"] == "date"


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1440, "light")])
def test_a_small_trend_opens_the_large_one(browser, repeated, width, scheme):
    tab = Tab(browser, repeated, width, scheme)
    page = tab.open("/runs")
    with page.expect_navigation():
        page.locator("#run-1 .course a").click()
    page.screenshot(path=SHOTS / f"trend-{width}-{scheme}.png")
    assert page.locator(".runtrend .band").count() == 1
    assert barriers(page) == []
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    with page.expect_navigation():
        page.locator("#trend select[name=metric]").select_option("fact_recall")
    assert "fact_recall" in page.locator("#trend h3").inner_text()
    with page.expect_navigation():
        page.locator(".runtrend a").first.click()
    assert page.url.endswith("/runs/1")
    tab.close()
