"""The navigation: the same on every page, with the current section marked."""

import pytest

NAMES = ["/runs", "/compare", "/sweeps", "/watch", "/agreement", "/truth"]


def marked(page):
    return [link["href"] for link in page.find("a") if link.get("aria-current") == "true" and link["href"] in NAMES]


@pytest.mark.parametrize(
    ("path", "section"),
    [
        ("/runs", "/runs"),
        ("/runs/{worse}", "/runs"),
        ("/runs/{worse}/samples/1", "/runs"),
        ("/runs/{worse}/samples/1/facts", "/runs"),
        ("/compare", "/compare"),
        ("/compare/{worse}/{better}", "/compare"),
        ("/sweeps", "/sweeps"),
        ("/watch", "/watch"),
        ("/agreement", "/agreement"),
        ("/truth", "/truth"),
        ("/runs/{worse}/truth", "/truth"),
    ],
)
def test_every_page_has_the_navigation(viewer, worse, better, path, section):
    page = viewer.page(path.format(worse=worse.id, better=better.id))
    links = [link["href"] for link in page.find("a") if link.get("href") in NAMES]
    assert [link for link in NAMES if link in links] == NAMES
    assert marked(page) == [section]


def test_an_error_page_marks_nothing(viewer):
    page = viewer.page("/runs/nothing", 404)
    assert marked(page) == []
    assert set(NAMES) <= set(page.links)
