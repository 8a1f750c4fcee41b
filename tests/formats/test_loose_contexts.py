"""Chunks as people write them."""

import json

import pytest

from ragstone.data.dataset import view_samples
from ragstone.data.types import Chunk
from ragstone.errors import UsageError
from ragstone.formats import open_reader, read_dataset
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


CHUNK = {"text": "a", "doc": "a.md", "rank_score": "0.7", "key": 3}
PARTS = {"contexts.source": "doc", "contexts.score": "rank_score", "contexts.id": "key"}


@pytest.mark.parametrize("contexts", [[CHUNK], json.dumps([CHUNK]), str([CHUNK])])
@pytest.mark.parametrize("name", ["contexts", "retrieved_contexts"])
def test_parts_of_chunks_can_be_mapped(contexts, name):
    row = {"question" if name == "contexts" else "user_input": "q?", name: contexts}
    reader = open_reader([row], columns=PARTS)
    [sample] = view_samples(next(reader.batches()))
    assert sample.contexts == [Chunk("a", "3", 0.7, "a.md")]
    assert not [note for note in reader.report.notes if "not kept" in note]


def test_the_text_of_a_chunk_can_be_mapped():
    rows = [{"question": "q?", "contexts": [{"id": "1", "wording": "The last boat leaves at nine."}]}]
    assert (
        read_dataset(rows, columns={"contexts.text": "wording"})[0].contexts[0].text == "The last boat leaves at nine."
    )


def test_a_part_that_no_chunk_has():
    with pytest.raises(UsageError, match="no chunk has a part 'dok'"):
        read_dataset([{"question": "q?", "contexts": [CHUNK]}], columns={"contexts.source": "dok"})


@pytest.mark.parametrize(
    ("renames", "row", "seconds"),
    [
        (None, {"took_ms": 1500}, 1.5),
        ({"latency_s": "took"}, {"took": 1.5}, 1.5),
        ({"latency_s": "tookMs"}, {"tookMs": "1500"}, 1.5),
        ({"latency_s": "answer time ms"}, {"answer time ms": 1500}, 1.5),
        ({"latency_s": "seconds_of_items"}, {"seconds_of_items": 3}, 3),
    ],
)
def test_latency_in_the_unit_of_its_name(renames, row, seconds):
    assert read_dataset([{"question": "q?", **row}], columns=renames)[0].metadata["latency_s"] == seconds


def test_parts_of_chunks_may_be_nested():
    row = {"question": "a", "contexts": [{"_source": {"body": "b"}, "meta": {"file": "c.md"}}]}
    reader = open_reader([row], columns={"contexts.text": "_source.body", "contexts.source": "meta.file"})
    (batch,) = reader.batches()
    (sample,) = view_samples(batch)
    assert (sample.contexts, reader.report.notes) == ([Chunk("b", source="c.md")], [])
