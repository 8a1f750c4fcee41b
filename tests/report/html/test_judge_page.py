"""The pages about judges: escaped, complete, with the look of the other reports."""

import numpy as np
import pytest

from ragstone.agreement.audit import Audit, judge_share
from ragstone.agreement.audit_probes import measure_effects
from ragstone.report.html.judge_page import audit_html
from tests.report.html.test_browser import CONTRAST

HOSTILE = "<script>alert(1)</script>"


def make_audit():
    random = np.random.default_rng(0)
    biased = judge_share("padding", "prefers padding", np.ones(20), fair=0.5, advice="Use another judge.")
    few = judge_share("seat", "prefers a seat", np.ones(2), fair=0.5, advice="")
    changes = {"length": np.full(20, 0.2), "authority": np.zeros(20), "format": random.normal(size=3)}
    effects = measure_effects("grades", changes)
    return Audit(HOSTILE, (biased, few), (), 0, None, tuple(effects))


def test_everything_is_on_the_page():
    page = audit_html(make_audit())
    assert HOSTILE not in page.replace("&lt;script&gt;", "")
    assert "1 bias and 1 effect found" in page
    assert "no effect seen in 20 items (an effect below 0.16 is possible)" in page
    assert "only 3 items, at least 8 are needed" in page
    assert "Use another judge." in page
    assert '"schema": "ragstone.judge"' in page


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_is_readable(browser, tmp_path, scheme, width):
    file = tmp_path / "audit.html"
    file.write_text(audit_html(make_audit()), encoding="utf-8")
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True)
    page, troubles = context.new_page(), []
    page.on("console", lambda message: troubles.append(message.text))
    page.goto(file.as_uri())
    assert page.locator("svg.strip").count() >= 5
    assert page.evaluate(CONTRAST) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert not troubles
    context.close()
