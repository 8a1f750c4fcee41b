"""Chunks as people write them."""

import pytest

from ragstone.errors import UsageError
from ragstone.formats.loose_contexts import OneTexts, open_contexts, parse_list, read_separator


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
    assert open_contexts("one text") == (["one text"], "")
    assert open_contexts("one || text") == (["one || text"], "")


def test_a_text_is_split_at_the_separator_of_the_user():
    assert open_contexts("one || two||", "||") == (["one", "two"], "")
    assert open_contexts(" one ", "||") == ([" one "], "")
    assert open_contexts('["a || b"]', "||") == (["a || b"], "")


def test_separators_may_be_written_with_a_backslash():
    assert read_separator(None) == ""
    assert read_separator(r"\n\n") == "\n\n"
    assert read_separator("\n") == "\n"
    with pytest.raises(UsageError, match="--split-contexts"):
        read_separator("")


@pytest.mark.parametrize(
    ("texts", "option"),
    [
        (["a ## b", "c ## d", "e"], "Most look like several: if so, add --split-contexts ' ## ',"),
        (["## A title", "## Another", "e"], "If they are several, add --split-contexts SEPARATOR,"),
        (["a || b", "c || d", "e"], "Most look like several: if so, add --split-contexts '||',"),
        (["a\nb", "c\nd", "e"], r"Most look like several: if so, add --split-contexts '\n',"),
        (["a\nb", "c", "e"], "If they are several, add --split-contexts SEPARATOR,"),
    ],
)
def test_the_remark_names_the_separator(texts, option):
    seen = OneTexts()
    for text in texts:
        seen.add(text)
    assert option in seen.remark
    assert OneTexts().remark == ""


def test_chunks_of_langchain():
    value, remark = open_contexts([{"page_content": "a", "metadata": {"source": "x.md"}}])
    assert value == [{"text": "a", "metadata": {"source": "x.md"}, "source": "x.md"}]
    assert "page_content" in remark
    mixed = [{"page_content": "a"}, {"content": "b"}]
    assert open_contexts(mixed) == (mixed, "")
