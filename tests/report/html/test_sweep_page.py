"""The page of a sweep: balanced, safe against hostile names, and readable in a real browser."""

import json
import re

import pytest

from ragstone.report.html.sweep_page import sweep_html
from tests.axe import barriers
from tests.report.html.test_browser import CONTRAST
from tests.report.pages import Page
from tests.sweep.made_results import make_results


def test_the_page_is_whole_and_hostile_names_do_nothing():
    text = sweep_html(make_results())
    page = Page(text)
    assert {"leaderboard", "effects", "tradeoffs", "stopped", "failed", "remarks"} <= set(page.ids)
    assert "<script>alert" not in text
    assert "\u202e" not in text
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)
    data = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', text, flags=re.DOTALL)[1]
    assert json.loads(data)["schema"] == "ragstone.sweep"


def test_a_sweep_in_which_everything_failed():
    results = make_results()
    empty = make_results(standings=results.standings[3:], effects=(), panels=(), remarks=())
    page = Page(sweep_html(empty))
    assert "Every setting failed." in page.text()
    assert "effects" not in page.ids


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_it_is_readable(browser, tmp_path, scheme, width):
    path = tmp_path / "sweep.html"
    path.write_text(sweep_html(make_results()), encoding="utf-8")
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True)
    page, troubles = context.new_page(), []
    page.on("console", lambda message: troubles.append(message.text))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.goto(path.as_uri())
    assert page.locator("svg.curve").count() == 1
    assert page.evaluate(CONTRAST) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert barriers(page) == []
    assert not troubles
    context.close()
