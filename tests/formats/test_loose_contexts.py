"""Chunks as people write them."""

import pytest

from ragstone.formats.loose_contexts import open_contexts, parse_list


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ('["a", "b"]', ["a", "b"]),
        ("['a', \"b's\"]", ["a", "b's"]),
        ("['a'\n 'b']", ["a", "b"]),  # numpy
        ("[{'text': 'a'}]", [{"text": "a"}]),
        ("['a' 'b', 'c']", None),
        ("[1] a mark", None),
        ("['a', __import__('os')]", None),
        ("[nan]", None),
        ("plain", None),
    ],
)
def test_lists_in_texts(cell, value):
    assert parse_list(cell) == value


def test_one_text_is_one_chunk():
    value, remark = open_contexts("one text")
    assert value == ["one text"]
    assert "one chunk" in remark


def test_chunks_of_langchain():
    value, remark = open_contexts([{"page_content": "a", "metadata": {"source": "x.md"}}])
    assert value == [{"text": "a", "metadata": {"source": "x.md"}, "source": "x.md"}]
    assert "page_content" in remark
    mixed = [{"page_content": "a"}, {"content": "b"}]
    assert open_contexts(mixed) == (mixed, "")
