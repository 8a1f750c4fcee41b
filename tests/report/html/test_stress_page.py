"""The page of a stress test in a real browser, from disk with the network off: readable, drawn, nothing loaded."""

import pytest

from ragstone.report.html.stress_page import stress_html
from ragstone.stress.beds import BEDS, Setting
from ragstone.stress.results import contrast_tests, keep_reports, read_stress
from ragstone.stress.run import prepare, run_stress
from tests.report.html.test_browser import CONTRAST
from tests.stress.generators import copies, refuses_above, samples

pytestmark = pytest.mark.slow
HOSTILE = "<script>alert(1)</script>\u202eevil"


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    home = tmp_path_factory.mktemp("stress")
    given = samples()
    given = [type(one)(**{**_parts(one), "id": HOSTILE if number == 0 else one.id}) for number, one in enumerate(given)]
    prepared = prepare(given, Setting(passages=4, rates=(0.0, 0.5, 1.0), beds=BEDS))
    tests = []
    for generator in (copies, refuses_above(0.25)):
        run = run_stress(prepared, generator, home, system_options={"cache": False})
        keep_reports(run, prepared)
        tests.append(read_stress(run))
    path = home / "stress.html"
    path.write_text(stress_html(tests, contrast_tests(tests)), encoding="utf-8")
    return path


def _parts(sample):
    return {name: getattr(sample, name) for name in sample.__dataclass_fields__}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_is_readable_and_draws_its_curves(browser, page_file, scheme, width):
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True)
    page, troubles = context.new_page(), []
    page.on("console", lambda message: troubles.append(message.text))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.goto(page_file.as_uri())
    assert page.locator("svg.curve").count() >= 3
    assert page.locator("polyline.trace").count() >= 6
    assert page.locator("polygon.band").count() >= 4
    assert page.locator("#injection h3").all_inner_texts() == ["Quality lost", "Success by kind of attack"]
    assert page.evaluate(CONTRAST) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert not troubles
    context.close()
