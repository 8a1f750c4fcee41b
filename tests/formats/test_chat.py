from ragstone.data.types import Chunk, Turn
from ragstone.formats import open_reader, read_dataset
from tests.formats.fixtures import fixture_chat


def test_one_sample_per_answered_message(tmp_path):
    first, second, alone = read_dataset(fixture_chat(tmp_path)[0])
    assert [sample.id for sample in (first, second)] == ["c1#1", "c1#2"]
    assert alone.id.endswith("#1")
    assert (first.question, first.answer, first.contexts) == ("What do adults pay?", "Ten.", [Chunk("Adults pay ten.")])
    assert first.history is None
    assert (second.question, second.answer) == ("And children?", "Five.")
    assert second.contexts == [Chunk("Children pay five.", "d1")]
    assert second.references == ["Children pay five."]
    assert second.history[1:] == [
        Turn("user", "What do adults pay?"),
        Turn("assistant", "Ten.", [Chunk("Adults pay ten.")]),
    ]
    assert second.metadata == {"conversation": "c1", "turn": 2}


def test_sharegpt():
    turns = [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}]
    (sample,) = read_dataset([{"id": "x", "conversations": turns, "topic": "t"}])
    assert (sample.id, sample.question, sample.answer) == ("x#1", "a", "b")
    assert sample.metadata == {"conversation": "x", "turn": 1, "topic": "t"}


def test_rows_with_a_question_of_their_own_are_not_chats():
    assert open_reader([{"question": "a", "messages": []}]).format.name == "ragstone"


def test_one_conversation_with_tools_does_not_change_the_others():
    plain = [{"role": "user", "content": "a?"}, {"role": "assistant", "content": "b."}]
    call = {"id": "1", "function": {"name": "search", "arguments": "{}"}}
    tools = [
        plain[0],
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "Found."},
        plain[1],
    ]
    rows = [{"messages": [*plain, *plain]}, {"messages": plain}, {"messages": tools}]
    reader = open_reader(rows)
    assert reader.format.name == "chat"
    assert len(read_dataset(rows)) == 4
    assert open_reader(rows[2:]).format.name == "langgraph"


def test_an_empty_list_of_chunks_means_that_nothing_was_retrieved():
    messages = [{"role": "user", "content": "a?"}, {"role": "assistant", "content": "b.", "contexts": []}]
    assert read_dataset([{"messages": messages}])[0].contexts == []
    del messages[1]["contexts"]
    assert read_dataset([{"messages": messages}])[0].contexts is None


def test_time_and_tokens_of_a_row_are_those_of_its_last_answer():
    turns = [{"role": "user", "content": "a?"}, {"role": "assistant", "content": "b."}] * 2
    first, last = read_dataset([{"messages": turns, "usage": {"prompt_tokens": 9}, "latency_s": 2, "topic": "t"}])
    assert first.metadata.keys() == {"conversation", "turn", "topic"}
    assert (last.metadata["input_tokens"], last.metadata["latency_s"]) == (9, 2)
