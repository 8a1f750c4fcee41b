from ragstone.data.types import Chunk, Turn
from ragstone.formats import read_dataset
from tests.formats.fixtures import fixture_mtrag


def test_a_task_is_a_sample(tmp_path):
    first, second = read_dataset(fixture_mtrag(tmp_path)[0])
    assert (first.id, first.question, first.answer) == ("m1<::>2", "And children?", "Five.")
    assert first.history == [Turn("user", "What do adults pay?"), Turn("assistant", "Ten.")]
    assert first.contexts == [Chunk("Children pay five.", "d1", 3.5)]
    assert first.references == ["Children pay five."]
    assert (first.answerable, second.answerable) == (True, False)
    assert first.metadata["conversation"] == "m1"
    assert (second.history, second.answer) == (None, None)


def test_without_a_task_the_id_is_conversation_and_turn():
    rows = [{"conversation_id": "m", "turn": 3, "input": [{"speaker": "user", "text": "a"}], "targets": []}]
    (sample,) = read_dataset(rows)
    assert (sample.id, sample.references) == ("m#3", None)
