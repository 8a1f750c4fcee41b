import json

from ragstone.data.types import Chunk, Step, Turn
from ragstone.formats import open_reader, read_dataset
from tests.formats.fixtures import fixture_langgraph


def read(*messages, **columns):
    (sample,) = read_dataset([{"messages": list(messages), **columns}], format="langgraph")
    return sample


def test_messages_become_steps(tmp_path):
    (path,) = fixture_langgraph(tmp_path)
    assert open_reader(path).format.name == "langgraph"
    first, second = read_dataset(path)
    document = Chunk("It leaves at eight.", "d1", None, "t.md")
    assert (first.id, first.question, first.answer) == ("g1", "When does the ferry leave?", "At eight.")
    assert first.steps == [Step("search", "ferry departure", [document])]
    assert first.contexts == [document]
    assert first.references == ["At eight."]
    assert first.metadata == {"topic": "timetable"}
    assert second.steps == [Step("search", "fares", [Chunk("Adults pay ten.")])]
    assert (second.question, second.answer) == ("What do adults pay?", "Ten.")


def test_earlier_questions_are_history_and_their_calls_are_not_steps():
    sample = read(
        {"role": "user", "content": "one"},
        {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "search", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "a", "content": "x"},
        {"role": "assistant", "content": "first"},
        {"role": "user", "content": "two"},
        {"role": "assistant", "content": "second"},
    )
    assert sample.history == [Turn("user", "one"), Turn("assistant", "first")]
    assert (sample.question, sample.answer, sample.steps) == ("two", "second", [])


def test_columns_win_over_messages():
    call = {"role": "assistant", "content": "a", "tool_calls": [{"id": "1", "name": "s", "args": {}}]}
    sample = read({"role": "user", "content": "q"}, call, question="other", contexts=["c"])
    assert (sample.question, sample.contexts) == ("other", [Chunk("c")])


def test_messages_without_calls_are_not_recognised(tmp_path):
    path = tmp_path / "chat.jsonl"
    row = {"messages": [{"role": "user", "content": "q"}], "question": "q"}
    path.write_text(json.dumps(row) + "\n")
    assert open_reader(str(path)).format.name == "ragstone"
