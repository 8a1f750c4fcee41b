"""The folded words of answers and references."""

import pyarrow as pa

from ragstone.evidence_functions.tokens import answer_words, reference_words


def test_words():
    assert list(answer_words(pa.array(["The answer: 42, the answer!", "", "Straße"]))) == [
        ["the", "answer", "42", "the", "answer"],
        [],
        ["strasse"],
    ]


def test_a_list_of_words_for_each_reference():
    words = reference_words(pa.array([["A cat.", ""], [], ["it’s"]]))
    assert [words[0], words[1], words[2]] == [[["a", "cat"], []], [], [["it", "s"]]]
