"""The words of answer, references and chunks."""

from ragstone.data.types import Chunk
from ragstone.evidence.tokens import answer_tokens, context_tokens, reference_tokens


def test_words():
    assert answer_tokens("The answer: 42, the answer!") == ["answer", "42", "answer"]


def test_a_list_of_words_for_each_text():
    assert reference_tokens(["A cat.", "", "the"]) == [["cat"], [], []]
    assert context_tokens([Chunk("A cat.", "id"), Chunk("...")]) == [["cat"], []]
    assert reference_tokens([]) == context_tokens([]) == []
