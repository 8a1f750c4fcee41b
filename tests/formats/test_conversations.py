import csv
import json
from collections import Counter

import pytest

from ragstone.errors import InputError
from ragstone.formats import read_dataset
from ragstone.formats.conversations import Sessions, conversation_rows, exchanges, read_turns, split_last


def test_messages_in_their_many_forms():
    turns = read_turns(
        [
            {"role": "user", "content": "a"},
            {"type": "ai", "content": [{"type": "text", "text": "b"}]},
            {"speaker": "agent", "text": "c", "contexts": [{"document_id": "d", "text": "t", "title": "of ours"}]},
            {"from": "gpt", "value": "d"},
            {"role": "assistant", "content": None, "tool_calls": [1]},
            {"role": "poet", "content": "e"},
            "f",
        ]
    )
    assert [(turn["role"], turn["text"]) for turn in turns] == [
        ("user", "a"),
        ("assistant", "b"),
        ("assistant", "c"),
        ("assistant", "d"),
    ]
    assert turns[2]["contexts"] == [{"id": "d", "text": "t", "document_id": "d", "title": "of ours"}]
    assert read_turns("nothing") == read_turns(None) == []


def test_a_question_without_a_reply_is_no_exchange():
    turns = read_turns([{"role": role, "content": role} for role in ("user", "user", "assistant", "user")])
    (only,) = exchanges(turns)
    assert (only["question"], only["answer"]) == ("user", "assistant")
    assert only["history"] == [{"role": "user", "text": "user"}]


def test_a_system_message_alone_is_no_history():
    turns = read_turns([{"role": role, "content": role} for role in ("system", "user", "assistant")])
    assert "history" not in next(exchanges(turns))
    assert split_last(turns) == ("user", None)


def test_a_conversation_without_a_name_gets_one_from_its_texts():
    turns = read_turns([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}])
    (row,) = conversation_rows(turns, None, Counter())
    assert row["id"] == f"{row['conversation']}#1"
    assert conversation_rows(turns, "", Counter())[0]["id"] == row["id"]


def test_sessions_collect_what_was_said():
    sessions = Sessions()
    assert sessions.add("s", {"question": "a", "answer": "b", "contexts": [{"text": "c"}]}) is None
    assert sessions.add(None, {"question": "x"}) is None
    assert sessions.add("s", {"question": "d"}) == [
        {"role": "user", "text": "a"},
        {"role": "assistant", "text": "b", "contexts": [{"text": "c"}]},
    ]


def test_a_row_of_messages_without_a_reply_is_a_problem():
    with pytest.raises(InputError, match="has no user message with a reply"):
        read_dataset([{"messages": [{"role": "user", "content": "a"}]}])


def test_a_conversation_without_an_id_may_have_half_a_character(tmp_path):
    messages = [{"role": "user", "content": "When \ud83d?"}, {"role": "assistant", "content": "At nine \udc00"}]
    row = {"messages": messages, "lang": "en"}
    (tmp_path / "chat.jsonl").write_text(json.dumps(row) + "\n")
    (tmp_path / "chat.json").write_text(json.dumps([row]))
    with open(tmp_path / "chat.csv", "w", newline="") as stream:
        csv.writer(stream).writerows([["messages", "lang"], [json.dumps(messages), "en"]])
    for data in (tmp_path / "chat.jsonl", tmp_path / "chat.json", tmp_path / "chat.csv", [row]):
        [sample] = read_dataset(data)
        assert (sample.question, sample.answer) == ("When ??", "At nine ?")
