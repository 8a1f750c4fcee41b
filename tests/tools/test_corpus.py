"""A corpus that claims are looked up in."""

import json

import pytest

from ragstone.data.types import Chunk
from ragstone.errors import UsageError
from ragstone.tools.corpus import WordCorpus

TEXTS = [
    "The Lirra lake was dammed in 1974.",
    "The lake is 62 m deep.",
    "Swimming is forbidden from October to April, and boats may not be hired.",
    "The road to Tessel was widened.",
]
CORPUS = WordCorpus([Chunk(text, str(at)) for at, text in enumerate(TEXTS)])


@pytest.mark.parametrize(
    ("claim", "best"),
    [("The Lirra lake was dammed in 1974", "0"), ("Depth: 62 m", "1"), ("One may swim in October", "2")],
)
def test_the_nearest_passage_comes_first(claim, best):
    assert CORPUS.search(claim, 5)[0].id == best


def test_rare_words_count_more_and_common_ones_bring_others():
    assert [chunk.id for chunk in CORPUS.search("the Lirra lake", 5)] == ["0", "1"]
    assert [chunk.id for chunk in CORPUS.search("the Lirra lake", 1)] == ["0"]
    assert CORPUS.search("Zebra", 5) == []
    assert CORPUS.search("", 5) == []


def test_files_folders_and_objects_are_opened(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "lake.md").write_text("# Lake\n\nIt is deep.\n")
    (tmp_path / "chunks.jsonl").write_text(json.dumps({"id": "c1", "text": "It is cold."}))
    both = WordCorpus.open([tmp_path / "chunks.jsonl", tmp_path / "docs"])
    assert [chunk.id for chunk in both.search("cold", 5)] == ["c1"]
    assert both.search("deep", 5)[0].source == "lake.md"
    assert WordCorpus.open(CORPUS) is CORPUS
    assert WordCorpus.open(None) is None
    assert WordCorpus.open([]) is None


def test_the_content_decides_the_signature(tmp_path):
    one, same, other = (WordCorpus([Chunk(text)]) for text in ("a b", "a b", "a c"))
    assert one.signature == same.signature != other.signature


def test_a_corpus_without_text_is_refused(tmp_path):
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(UsageError, match="contains no text"):
        WordCorpus.open(str(tmp_path / "empty.jsonl"))
    (tmp_path / "empty.md").write_text("")
    with pytest.raises(UsageError, match="it is empty"):
        WordCorpus.open(str(tmp_path / "empty.md"))
