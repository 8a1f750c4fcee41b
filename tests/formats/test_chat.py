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
