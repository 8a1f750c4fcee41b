"""Whatever a system returns becomes one form, or a failure that says what was wrong."""

import json

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage

from ragstone.data.types import Chunk
from ragstone.llm.answers import Answer, read_answer, reply_with, write_answer
from ragstone.llm.base import LLMError

CHUNKS = [Chunk("Boats leave at nine.", "c1", 0.5, "boats.txt")]


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        ("At nine.", Answer("At nine.")),
        (Answer("At nine.", CHUNKS), Answer("At nine.", CHUNKS)),
        (("At nine.", CHUNKS), Answer("At nine.", CHUNKS)),
        (("At nine.", ["one", "two"]), Answer("At nine.", [Chunk("one"), Chunk("two")])),
        (("At nine.", None), Answer("At nine.")),
        ({"answer": "At nine.", "contexts": []}, Answer("At nine.", [])),
        ({"response": "At nine.", "question": "When?", "model": "m"}, Answer("At nine.", None, {"model": "m"})),
        ({"answer": "At nine.", "metadata": {"cost_usd": 0.5}}, Answer("At nine.", None, {"cost_usd": 0.5})),
        (
            {"text": "At nine.", "chunks": [{"content": "Boats.", "chunk_id": 7, "score": 1}]},
            Answer("At nine.", [Chunk("Boats.", "7", 1.0)]),
        ),
        (
            {"input": "When?", "context": [Document("Boats.", id="d", metadata={"source": "s"})], "answer": "At nine."},
            Answer("At nine.", [Chunk("Boats.", "d", None, "s")]),
        ),
        ({"answer": AIMessage("At nine.")}, Answer("At nine.")),
        (AIMessage("At nine."), Answer("At nine.")),
    ],
)
def test_shapes(returned, expected):
    assert read_answer(returned, "mine") == expected


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        (None, "must return"),
        (7, "not int"),
        ({"contexts": []}, "without 'answer'; it has contexts"),
        ({}, "it has nothing"),
        (("At nine.", 7), "chunks as a list, not int"),
        (("At nine.", [{"id": "a"}]), "a chunk without a text; it has id"),
    ],
)
def test_what_is_no_answer(returned, words):
    with pytest.raises(LLMError, match=words):
        read_answer(returned, "mine")


def test_an_answer_survives_json():
    whole = Answer("At nine.", CHUNKS, {"tries": 2})
    assert read_answer(json.loads(write_answer(whole)), "mine") == whole
    assert read_answer(json.loads(write_answer(Answer("No."))), "mine") == Answer("No.")


@pytest.mark.parametrize("cost", [-1.0, float("nan"), 10**400, "0.1", True])
def test_an_absurd_cost_or_score_is_dropped(cost):
    assert reply_with(Answer("fine", None, {"cost_usd": cost}), "mine.py:ask", 0.0).cost_usd is None
    answer = read_answer({"answer": "fine", "contexts": [{"text": "a", "score": 10**400}]}, "mine.py:ask")
    assert answer.contexts[0].score is None
