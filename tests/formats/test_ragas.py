"""RAGAS 0.2 and newer."""

import pytest

from ragstone.data.types import Chunk, Sample
from ragstone.errors import InputError
from ragstone.formats import read_dataset
from tests.formats.fixtures import fixture_ragas


def test_fields(tmp_path):
    full, bare = read_dataset(*fixture_ragas(tmp_path))
    assert full == Sample(
        id=full.id,
        question="When does the ferry leave?",
        answer="At eight.",
        contexts=[Chunk("It leaves at eight.", "d1"), Chunk("Adults pay ten.", "d3")],
        references=["At eight, in winter at nine."],
        reference_contexts=["It leaves at eight."],
        relevance={"d1": 1.0, "d2": 1.0},
        metadata={"rubrics": {"score1_description": "wrong", "score5_description": "right"}},
    )
    assert bare.contexts == [Chunk("Adults pay ten.")]
    assert (bare.references, bare.relevance) == (None, None)


def test_retrieval_by_ids_alone():
    (sample,) = read_dataset([{"user_input": "a", "retrieved_context_ids": ["d1", 2], "reference_context_ids": [2]}])
    assert sample.contexts == [Chunk("", "d1"), Chunk("", "2")]
    assert sample.relevance == {"2": 1.0}


def test_csv(tmp_path):
    path = tmp_path / "ragas.csv"
    path.write_text(
        "user_input,retrieved_contexts,retrieved_context_ids,reference\n"
        'a,"[""one"", ""two""]","[""d1"", ""d2""]",[sic] the answer\n'
        'b,"[""one""]",,\n'
    )
    first, second = read_dataset(str(path))
    assert first.contexts == [Chunk("one", "d1"), Chunk("two", "d2")]
    assert first.references == ["[sic] the answer"]
    assert (second.contexts, second.references) == ([Chunk("one")], None)


def test_malformed():
    rows = [
        {"user_input": "a", "retrieved_contexts": ["b", "c"], "retrieved_context_ids": ["d1"]},
        {"user_input": [{"type": "human", "content": "a"}, {"type": "ai", "content": "b"}]},
        {"user_input": "c", "response": {"text": "d"}},
    ]
    with pytest.raises(InputError) as caught:
        read_dataset(rows)
    assert str(caught.value) == (
        "a list in memory: 3 problems\n"
        "  row 1: retrieved_contexts: has 2 chunks, retrieved_context_ids has 1 ids (each chunk needs one id)\n"
        "  row 2: user_input: is a conversation of 2 messages (write one row per question)\n"
        "  row 3: response: must be text, got a mapping"
    )
