"""Numbers in addresses, pages of a list, and neighbours."""

import pytest

from ragstone.web.navigation import ListPage, NotFoundError, neighbours, required_number, whole_number


@pytest.mark.parametrize("text", [None, "", "x", "-1", "1.5", "²", "1234567890"])
def test_other_texts_are_not_numbers(text):
    assert whole_number(text) is None
    if text:
        with pytest.raises(NotFoundError, match="version"):
            required_number(text, "version")


def test_numbers_are_read():
    assert (whole_number("0"), required_number("123456789", "sample")) == (0, 123_456_789)


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (1, (1, 1, 2, [0, 1])),
        (3, (3, 5, 5, [4])),
        (99, (3, 5, 5, [4])),
        (0, (1, 1, 2, [0, 1])),
        (None, (1, 1, 2, [0, 1])),
    ],
)
def test_a_page_is_cut(number, expected):
    page = ListPage.cut(list(range(5)), number, 2)
    assert (page.number, page.first, page.last, page.items) == expected
    assert page.pages == 3


def test_an_empty_list_has_one_empty_page():
    page = ListPage.cut([], 4, 2)
    assert (page.number, page.pages, page.first, page.last) == (1, 1, 0, 0)
    assert page.links(str) == {}


def test_links_lead_to_the_other_pages():
    links = ListPage.cut(list(range(5)), 2, 2).links(lambda number: f"?page={number}" if number > 1 else "")
    assert links == {"first": "?", "previous": "?", "next": "?page=3", "last": "?page=3"}


def test_neighbours_end_at_the_ends():
    assert neighbours(3, 0, str) == {"place": 1, "of": 3, "previous": "", "next": "1"}
    assert neighbours(3, 2, str) == {"place": 3, "of": 3, "previous": "1", "next": ""}
    assert neighbours(3, None, str) == {"place": None, "of": 3, "previous": "", "next": ""}
