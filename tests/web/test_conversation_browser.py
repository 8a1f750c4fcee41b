"""A conversation in a browser: the bad turn in two clicks, arrow keys, one column on a phone, no barriers."""

import pytest

from tests.axe import barriers
from tests.web.made_conversations import conversation_run
from tests.web.test_browser import Tab

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def talks(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("talks")
    run = conversation_run(root)
    return serve(root), run


def chosen(page):
    return page.locator(".turn[aria-current=true] .verdicts").inner_text()


def test_the_bad_turn_in_two_clicks_and_the_arrows(browser, talks):
    tab = Tab(browser, talks[0], 1440)
    page = tab.open("/runs")
    tab.follow(page.get_by_role("link", name="chat", exact=True))
    tab.follow(page.locator("#conversations").get_by_role("link", name="second", exact=True))
    assert "Turn 2" in chosen(page)
    assert "wrong" in chosen(page)
    assert "Ticket 2 costs 52 crowns." in page.locator("#evidence .subjects").first.inner_text()
    for key, turn in (("ArrowDown", 3), ("ArrowUp", 2), ("ArrowUp", 1), ("ArrowUp", 1), ("j", 2)):
        page.keyboard.press(key)
        page.wait_for_function(
            "(words) => document.querySelector('.turn.chosen a')?.textContent === words", arg=f"Turn {turn}"
        )
    # In the evidence the arrows scroll.
    page.locator("#evidence").focus()
    page.keyboard.press("ArrowDown")
    page.wait_for_timeout(300)
    assert "Turn 2" in chosen(page)
    tab.follow(page.get_by_role("link", name="Open the sample page"))
    tab.follow(page.get_by_role("link", name="Whole conversation"))
    assert "Turn 2" in chosen(page)
    tab.close()


@pytest.mark.parametrize(
    ("width", "scheme"), [(1440, "light"), (1440, "dark"), (1024, "light"), (390, "dark"), (390, "light")]
)
def test_no_barriers(browser, talks, width, scheme):
    client, run = talks
    tab = Tab(browser, client, width, scheme)
    found = {}
    for path in (f"/runs/{run.id}/conversations/1", f"/runs/{run.id}/conversations/8", f"/runs/{run.id}"):
        page = tab.open(path)
        problems = barriers(page)
        if page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") > 0:
            problems.append("wider than the window")
        if problems:
            found[path] = problems
    assert found == {}
    if width == 390:
        page = tab.open(f"/runs/{run.id}/conversations/1")
        transcript, evidence = page.locator("#reading").bounding_box(), page.locator("#evidence").bounding_box()
        assert transcript["y"] + transcript["height"] <= evidence["y"] + 1
    tab.close()
