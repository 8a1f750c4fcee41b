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
        {"user_input": [{"type": "human", "content": "a"}]},
        {"user_input": "c", "response": {"text": "d"}},
    ]
    with pytest.raises(InputError) as caught:
        read_dataset(rows)
    assert str(caught.value) == (
        "a list in memory: 3 problems\n"
        "  row 1: retrieved_contexts: has 2 chunks, retrieved_context_ids has 1 ids (each chunk needs one id)\n"
        "  row 2: user_input: is a conversation of 1 messages without an answered question "
        "(write {type: human, content} and {type: ai, content})\n"
        "  row 3: response: must be text, got a mapping"
    )


def test_each_answered_message_of_a_conversation_is_a_sample():
    messages = [
        {"type": "human", "content": "What does the museum cost?"},
        {"type": "ai", "content": "", "tool_calls": [{"name": "search", "args": {}}]},
        {"type": "tool", "content": "Adults pay 12 euros."},
        {"type": "ai", "content": "12 euros."},
        {"type": "human", "content": "And for children?"},
        {"type": "ai", "content": "Nothing."},
    ]
    first, last = read_dataset([{"user_input": messages, "reference": "Children enter free.", "id": "c"}])
    assert (first.id, first.question, first.answer, first.history) == (
        "c#1",
        "What does the museum cost?",
        "12 euros.",
        None,
    )
    assert (first.contexts, first.references) == ([Chunk("Adults pay 12 euros.")], None)
    assert (last.id, last.question, last.references) == ("c#2", "And for children?", ["Children enter free."])
    assert [(turn.role, turn.text) for turn in last.history] == [
        ("user", "What does the museum cost?"),
        ("tool", "Adults pay 12 euros."),
        ("assistant", "12 euros."),
    ]
    assert last.metadata == {"conversation": "c", "turn": 2}


def test_a_response_answers_the_last_message():
    messages = [{"type": "human", "content": "a"}, {"type": "ai", "content": "b"}, {"type": "human", "content": "c"}]
    *_, last = read_dataset([{"user_input": messages, "response": "d", "retrieved_contexts": ["e"]}])
    assert (last.question, last.answer, last.contexts) == ("c", "d", [Chunk("e")])
