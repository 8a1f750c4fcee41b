"""Filters and plots of a run in a real browser: the row filter with its names, chips, bars and a brush."""

import pytest

from tests.axe import barriers
from tests.web.test_browser import SHOTS, Tab

pytestmark = pytest.mark.slow


@pytest.fixture
def page(browser, unsure):
    client, run = unsure
    tab = Tab(browser, client)
    yield tab.open(f"/runs/{run.id}")
    tab.close()


def shown(page):
    """The rows of the table, once the page is loaded."""
    page.wait_for_load_state()
    return page.locator("table.samples tbody tr").count()


def test_a_filter_is_typed_with_completion(page):
    field = page.locator("#where")
    field.click()
    field.press_sequentially("uns")
    assert page.locator("#where-names [role=option]:visible").all_inner_texts() == ["unsure"]
    assert field.get_attribute("aria-expanded") == "true"
    field.press("ArrowDown")
    assert field.get_attribute("aria-activedescendant") == page.locator(
        "#where-names li", has_text="unsure"
    ).get_attribute("id")
    field.press("Enter")
    assert field.input_value() == "unsure "
    field.press_sequentially("> 0 and fai")
    page.locator("#where-names li", has_text="faithfulness").click()
    field.press_sequentially("<= 1")
    assert field.input_value() == "unsure > 0 and faithfulness <= 1"
    field.press_sequentially(' and answer contains "wron')
    assert not page.locator("#where-names").is_visible(), "texts are not names"
    for _ in range(len(' and answer contains "wron')):
        field.press("Backspace")
    field.press("Escape")
    with page.expect_navigation():
        field.press("Enter")
    assert "where=unsure+%3E+0+and+faithfulness" in page.url
    assert 0 < shown(page) < 14


def test_a_mistake_is_told_where_it_is(page):
    page.locator("#where").fill("faithfullness < .5")
    with page.expect_navigation():
        page.locator("#where").press("Enter")
    said = page.get_by_role("alert")
    assert "did you mean faithfulness?" in said.inner_text()
    assert page.locator("#where").get_attribute("aria-invalid") == "true"
    assert said.locator("mark").inner_text() == "f"
    assert barriers(page) == []


def test_all_unsure_rows_are_one_click_away(page):
    count = int(page.locator(".rowchips a", has_text="unsure").locator("b").inner_text())
    with page.expect_navigation():
        page.get_by_role("link", name="unsure of").click()
    assert shown(page) == count
    chip = page.locator(".rowchips a", has_text="unsure")
    assert chip.get_attribute("aria-current") == "true"
    with page.expect_navigation():
        chip.click()
    assert shown(page) == 14


def test_a_click_on_a_bar_shows_its_samples(page):
    bar = page.locator("tr", has=page.get_by_role("link", name="token_f1", exact=True)).locator(".spread a").first
    count = int(bar.locator("title").text_content().partition(": ")[2].split()[0])
    with page.expect_navigation():
        bar.click()
    assert "where=token_f1" in page.url
    assert shown(page) == count


def test_a_rectangle_over_points_filters_the_table(page):
    plot = page.locator(".scatter")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    page.mouse.move(box["x"] + 2, box["y"] + 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=4)
    page.mouse.move(box["x"] + box["width"] * 0.75, box["y"] + box["height"] - 2, steps=4)
    assert float(plot.locator(".brush").get_attribute("width")) > 100
    with page.expect_navigation():
        page.mouse.up()
    name = page.locator("select[name=x]").input_value()
    where = page.locator("#where").input_value()
    assert where.startswith(f"{name} >= 0 and {name} <= 0.7")
    # The rectangle is in the filter, so the points outside of it are faded.
    inside = page.locator(".scatter .point:not(.out)").count()
    assert 0 < inside < page.locator(".scatter .point").count()
    assert shown(page) == inside
    with page.expect_navigation():
        page.locator(".scatter a", has=page.locator(".point:not(.out)")).last.click()
    assert "/samples/" in page.url


def test_filters_work_without_scripts(browser, unsure):
    client, run = unsure
    tab = Tab(browser, client, java_script_enabled=False)
    page = tab.open(f"/runs/{run.id}")
    page.locator("#where").fill("latency > 2 and unsure > 0")
    tab.follow(page.get_by_role("button", name="Show"))
    assert 0 < shown(page) < 14
    assert page.locator("#where").input_value() == "latency > 2 and unsure > 0"
    tab.close()


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1014, "dark"), (1440, "light")])
def test_a_filtered_run_has_no_barriers(browser, unsure, width, scheme):
    client, run = unsure
    tab = Tab(browser, client, width, scheme)
    page = tab.open(f"/runs/{run.id}?where=unsure+%3E+0")
    page.evaluate("for (const box of document.querySelectorAll('details')) box.open = true")
    SHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SHOTS / f"filtered-{width}-{scheme}.png", full_page=True)
    assert barriers(page) == []
    page.locator("#where").fill("")
    page.locator("#where").press_sequentially("sl")
    assert barriers(page) == []
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    tab.close()
