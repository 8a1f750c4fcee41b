"""The HTML of results in a real browser: colours follow the notebook's theme, else the system's, and stay readable."""

import re

import pytest

from ragstone.report.html.notebook import diagnosis_fragment, run_fragment
from tests.browser import browser

__all__ = ["browser"]
# Jupyter's own rules for tables in outputs, which ours must win against.
JUPYTER = """
.jp-RenderedHTMLCommon table { font-size: 12px; table-layout: fixed; color: #777; margin-left: auto; }
.jp-RenderedHTMLCommon td, .jp-RenderedHTMLCommon th { text-align: right; max-width: none; white-space: normal; padding: .5em; }
.jp-RenderedHTMLCommon tbody tr:nth-child(odd) { background: #f00; }
"""


def colours(browser, fragment, attribute, scheme):
    page = browser.new_page(color_scheme=scheme)
    page.set_content(
        f"<!doctype html><style>{JUPYTER}</style><body {attribute}><p id=before>text</p>"
        f"<div class=jp-RenderedHTMLCommon>{fragment}</div>"
    )
    read = "element => { const s = getComputedStyle(element); return [s.color, s.backgroundColor, s.textAlign]; }"
    found = {
        name: page.eval_on_selector(selector, read)
        for name, selector in {
            "output": ".ragstone",
            "cell": ".ragstone tbody th",
            "row": ".ragstone tbody tr",
            "outside": "#before",
        }.items()
    }
    page.close()
    return found


def light(colour):
    return sum(map(int, re.findall(r"\d+", colour)[:3])) > 3 * 128


@pytest.mark.slow
@pytest.mark.parametrize(
    ("attribute", "scheme", "is_light"),
    [
        ("", "light", True),
        ("", "dark", False),
        ('data-jp-theme-light="true"', "dark", True),
        ('data-jp-theme-light="false"', "light", False),
    ],
)
def test_the_theme_of_the_notebook_wins(browser, worse, attribute, scheme, is_light):
    found = colours(browser, run_fragment(worse), attribute, scheme)
    ink, paper, _ = found["output"]
    assert light(paper) is is_light
    assert light(ink) is not is_light
    assert found["cell"][0] == ink
    assert found["cell"][2] == "left"
    assert found["row"][1] == "rgba(0, 0, 0, 0)"


def test_the_page_around_it_keeps_its_style(browser, worse):
    with_output = colours(browser, run_fragment(worse), "", "dark")["outside"]
    assert with_output == ["rgb(0, 0, 0)", "rgba(0, 0, 0, 0)", "start"]


@pytest.mark.slow
def test_nothing_runs_or_loads(browser, hostile):
    page = browser.new_page()
    asked, alerts = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: alerts.append(dialog.message) or dialog.dismiss())
    page.set_content(f"<!doctype html><body>{run_fragment(hostile)}{diagnosis_fragment(hostile.diagnose(), 'evil')}")
    page.wait_for_timeout(200)
    assert (asked, alerts) == ([], [])
    page.close()
