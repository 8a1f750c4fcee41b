"""The HTML report in a real browser, opened from disk with the network off. Needs chromium and playwright."""

from collections import Counter
from dataclasses import replace

import pytest

from ragstone.analysis.comparison import compare_runs
from ragstone.analysis.diagnosis import diagnose
from ragstone.report.html.comparison_page import comparison_html
from ragstone.report.html.run_page import run_html
from ragstone.views.diagnosis import DiagnosisView

pytestmark = pytest.mark.slow

# Text on its ground, as WCAG counts contrast; 4.5 is AA for text of ordinary size.
CONTRAST = """
() => {
  const channel = (v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const numbers = (text) => text.match(/[\\d.]+/g).map(Number);
  const ground = (node) => {
    for (; node; node = node.parentElement) {
      const found = numbers(getComputedStyle(node).backgroundColor);
      if (found.length < 4 || found[3] > 0) return found.slice(0, 3);
    }
    return [255, 255, 255];
  };
  const poor = new Set();
  for (const node of document.querySelectorAll("main *, header *, nav a, footer")) {
    const own = Array.from(node.childNodes).some((child) => child.nodeType === 3 && child.textContent.trim());
    if (!own || node.closest("svg") || node.classList.contains("off")) continue;
    const [a, b] = [light(numbers(getComputedStyle(node).color)), light(ground(node))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) poor.add(node.tagName + "." + node.className + " " + ratio.toFixed(2));
  }
  return Array.from(poor);
}
"""


@pytest.fixture(scope="module")
def files(better, worse, hostile, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    pages = {
        "run": run_html(worse),
        "hostile": run_html(hostile),
        "comparison": comparison_html(compare_runs(worse, better, slices=["topic"])),
    }
    for name, text in pages.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def visit(browser, files):
    """Open a page; at the end there must have been no message on the console, no error and no request but for the file."""
    troubles, contexts = [], []

    def visit(name, width=1280, scheme="light", scripts=True, unfolded=True):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True, java_script_enabled=scripts
        )
        contexts.append(context)
        page = context.new_page()
        address = (files / f"{name}.html").as_uri()
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: (troubles.append("a dialog"), dialog.dismiss()))
        page.on("request", lambda request: None if request.url == address else troubles.append(request.url))
        page.goto(address)
        for part in page.locator("details.part > summary").all() if unfolded else ():
            part.click()
        return page

    yield visit
    for context in contexts:
        context.close()
    assert troubles == []


def column(page, table, place):
    cells = page.locator(f"{table} tbody tr:not([hidden])").locator(f"td:nth-child({place}), th:nth-child({place})")
    return [text.strip() for text in cells.all_inner_texts()]


def test_a_table_sorts_both_ways(visit):
    page = visit("run")
    table = "#samples table"
    head = page.locator(f"{table} th", has_text="quality")
    head.get_by_role("button").click()
    down = [float(text) for text in column(page, table, 5)]
    assert down == sorted(down, reverse=True)
    assert head.get_attribute("aria-sort") == "descending"
    page.keyboard.press("Enter")  # the button has the focus
    up = [float(text) for text in column(page, table, 5)]
    assert up == sorted(up) != down
    assert page.locator("[aria-sort]").count() == 1
    page.locator(f"{table} th", has_text="sample").get_by_role("button").click()
    names = column(page, table, 1)
    assert names == sorted(names)


def test_cells_without_a_value_stay_at_the_end(visit):
    page = visit("run")
    head = page.locator("#samples th", has_text="fact_recall").get_by_role("button")
    place = 1 + page.locator("#samples thead th").all_inner_texts().index(head.inner_text())
    for _ in range(2):
        head.click()
        values = column(page, "#samples table", place)
        assert values[-2:] == ["–", "–"]
        assert "–" not in values[:-2]


def test_a_table_filters(visit, worse):
    page = visit("run")
    page.get_by_label("Filter samples").fill("missing CHUNK")
    causes = column(page, "#samples table", 4)
    assert set(causes) == {"missing chunk"}
    assert page.locator("#samples [role=status]").inner_text() == f"{len(causes)} of 25 match"
    page.get_by_label("Filter samples").fill("")
    assert len(column(page, "#samples table", 1)) == 25


def test_a_worst_sample_leads_to_its_evidence(visit, tmp_path):
    page = visit("run")
    link = page.locator("#samples tbody a").nth(3)
    anchor = link.get_attribute("href")
    sample = page.locator(anchor)
    assert not sample.evaluate("node => node.open")
    link.click()
    assert sample.evaluate("node => node.open")
    assert sample.get_by_role("heading", name="Retrieved chunks").is_visible()
    assert sample.get_by_role("heading", name="wrong (").is_visible()
    assert page.evaluate("document.activeElement.parentElement.id") == anchor[1:]
    picture = tmp_path / "page.png"
    page.screenshot(path=picture, full_page=True)
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert picture.stat().st_size > 50_000


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
@pytest.mark.parametrize("name", ["run", "comparison", "hostile"])
def test_it_fits_and_can_be_read(visit, name, width, scheme):
    page = visit(name, width, scheme)
    for box in page.locator("details").all():
        box.evaluate("node => { node.open = true; }")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(CONTRAST) == []
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(23, 22, 20)"
    assert dark == (scheme == "dark")


@pytest.mark.parametrize("width", [1920, 1280, 390])
def test_the_state_of_a_metric_is_never_cut(visit, width):
    page = visit("run", width)
    page.evaluate(
        "() => document.querySelectorAll('#parts td.reading').forEach("
        "(cell) => { cell.textContent = 'unclear: people would have to confirm the verdicts of the judge'; })"
    )
    tables = page.locator("#parts .scroll")
    assert tables.count() == 2
    assert [box.evaluate("node => node.scrollWidth - node.clientWidth") for box in tables.all()] == [0, 0]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_legend_of_claims_has_the_colours_of_the_bar(visit, worse, scheme):
    page = visit("run", scheme=scheme)
    tally = Counter(said=4, ignored=3, missing=2, unsure=1)
    parts = DiagnosisView.of(replace(diagnose(worse), tally=tally)).tally_parts
    rects, items = (
        "".join(mark % tone for _, _, tone in parts)
        for mark in ('<rect class="part %s copied"></rect>', '<li><i class="key %s copied"></i></li>')
    )
    page.evaluate(
        "(html) => document.querySelector('#parts').insertAdjacentHTML('beforeend', html)",
        f'<svg class="plot stacked">{rects}</svg><ul class="legend">{items}</ul>',
    )
    drawn = page.locator("#parts rect.copied").evaluate_all("nodes => nodes.map((node) => getComputedStyle(node).fill)")
    keys = page.locator("#parts .key.copied").evaluate_all(
        "nodes => nodes.map((node) => getComputedStyle(node).backgroundColor)"
    )
    assert drawn == keys
    assert len(set(keys)) == 4


def test_hostile_text_runs_nowhere(visit):
    page = visit("hostile")
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2
    assert "<img src=x onerror=alert(2)>" in page.locator("main").inner_text()


def test_the_policy_stops_what_we_did_not_write(browser, files, tmp_path):
    text = (files / "run.html").read_text(encoding="utf-8")
    evil = tmp_path / "evil.html"
    evil.write_text(text.replace("</main>", "<script>document.title = 'owned'</script></main>"), encoding="utf-8")
    page = browser.new_page()
    page.goto(evil.as_uri())
    assert page.title() != "owned"
    page.close()


def test_without_scripts_everything_is_there(visit):
    page = visit("run", scripts=False)
    assert page.locator("#samples tbody tr").count() == 25
    assert page.locator("#samples button").count() == 0
    page.locator("details.sample").nth(2).locator("> summary").click()
    assert page.locator("details.sample").nth(2).locator(".body").is_visible()


def test_a_comparison_shows_both_answers(visit):
    page = visit("comparison")
    sample = page.locator("#changed details.sample").first
    assert sample.locator(".sides > div").count() == 2
    sample.get_by_text("claims, facts, chunks and scores of B").click()
    assert sample.locator(".sides > div").nth(1).get_by_role("heading", name="Retrieved chunks").is_visible()
    page.locator("#metrics th", has_text="B − A").first.get_by_role("button").click()
    assert page.locator("#metrics th[aria-sort]").count() == 1


def test_it_prints(visit, tmp_path):
    page = visit("run")
    paper = tmp_path / "report.pdf"
    page.pdf(path=paper)
    assert paper.read_bytes().startswith(b"%PDF")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_keys_are_listed_and_walk_through_the_samples(visit):
    page = visit("run", unfolded=False)
    page.keyboard.press("?")
    assert page.locator("#keys").is_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("j")
    second = page.locator("details.sample").nth(1)
    assert second.locator("> summary").evaluate("head => head === document.activeElement")
    page.keyboard.press("Enter")
    assert second.evaluate("box => box.open")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.ariaLabel") == "Filter samples"
    page.keyboard.type("?j")
    assert not page.locator("#keys").is_visible()
