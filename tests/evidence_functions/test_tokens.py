"""The words of answer, references and chunks."""

import pyarrow as pa
import pytest

from ragstone.data.schema import FIELDS
from ragstone.evidence_functions.tokens import answer_tokens, context_tokens, reference_tokens, shared_with_references


def test_words():
    words = answer_tokens(pa.array(["The answer: 42, the answer!", "", "Straße"]))
    assert list(words) == [["answer", "42", "answer"], [], ["strasse"]]


def test_a_list_of_words_for_each_text():
    words = reference_tokens(pa.array([["A cat.", "", "the"], []]))
    assert [words[0], words[1]] == [[["cat"], [], []], []]


def test_a_chunk_that_comes_twice():
    chunk = {"text": "A cat.", "id": "c"}
    words = context_tokens(pa.array([[chunk, {"text": "..."}], [chunk]], type=FIELDS["contexts"].type))
    assert [words[0], words[1]] == [[["cat"], []], [["cat"]]]


@pytest.mark.parametrize("rows", [[0, 1], [1], [1, 0, 1]])
def test_shared_words_of_chosen_rows(rows):
    answers = answer_tokens(pa.array(["cat cat dog", "bird"]))
    references = reference_tokens(pa.array([["cat cat cat", "dog"], ["fish"]]))
    shared = shared_with_references(answers, references).take(rows)
    assert [shared[position].tolist() for position in range(len(rows))] == [[[2, 1], [0]][row] for row in rows]
