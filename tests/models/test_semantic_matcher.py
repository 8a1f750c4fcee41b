"""Facts found by meaning, with an encoder whose vectors are known and with the real one."""

import numpy as np
import pytest

from ragstone.errors import UsageError
from ragstone.models.semantic_matcher import SemanticMatcher
from ragstone.tools.open_tools import open_matcher


class Topics:
    """A vector by the topics that a text names."""

    signature = "topics"
    words = ("light", "tower", "boat", "bread")

    def __init__(self):
        self.asked = []

    def encode(self, texts):
        self.asked += texts
        rows = np.array([[0.01, *(float(word in text.lower()) for word in self.words)] for text in texts])
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def find(facts, chunks):
    return list(SemanticMatcher(Topics()).find(facts, chunks))


def test_the_nearest_sentence_of_each_chunk_with_its_place():
    chunks = ["Bread is here. Our light has a tower! And a light.", "No boat. Bread."]
    [place] = find(["A tower bears the light."], chunks)
    assert (place.fact, place.chunk) == (0, 0)
    assert chunks[0][place.start : place.end] == "Our light has a tower!"
    assert place.confidence == pytest.approx(1.0)


def test_a_sentence_that_is_not_near_enough():
    assert find(["The light and the tower and the boat."], ["Bread and a boat."]) == []


def test_numbers_and_negations_must_agree():
    assert find(["The light burns 9 hours."], ["A light burns 8 hours."]) == []
    assert find(["The light burns 9 hours."], ["For 9 hours since 1871 the light is lit."]) != []
    assert find(["The boat does not run."], ["A boat is running."]) == []
    assert find(["The boat does not run."], ["No boat is running."]) != []


def test_a_citation_counts_in_full():
    [place] = find(["bread 7"], ["We eat: Bread, 7 loaves of it."])
    assert place.confidence == 1.0
    assert (place.start, place.end) == (8, 16)


def test_nothing_to_find_and_nowhere():
    assert (
        find([], ["A light."])
        == find(["A light."], [])
        == find(["!?"], ["Light."])
        == find(["Light."], ["", "…"])
        == []
    )


def test_each_text_is_encoded_once():
    model = Topics()
    matcher = SemanticMatcher(model)
    for _ in range(2):
        list(matcher.find(["The tower."], ["A tower stands. A light burns.", "A light burns."]))
    assert sorted(model.asked) == ["A light burns.", "A tower stands.", "The tower."]


def test_its_signature_names_the_model_and_the_threshold():
    assert SemanticMatcher(Topics()).signature == "semantic/1:0.65:topics"


def test_without_the_model_it_says_how_to_get_it():
    with pytest.raises(UsageError, match="ragstone models pull minilm"):
        open_matcher("semantic")


def test_a_paraphrase_is_found_and_another_sentence_is_not(minilm):
    chunk = "The harbour was dug by hand. The lighthouse was first lit in autumn 1871. Tickets cost nine crowns."
    [place] = open_matcher("semantic").find(
        ["In the autumn of 1871 the light of the lighthouse was lit for the first time."], [chunk]
    )
    assert chunk[place.start : place.end] == "The lighthouse was first lit in autumn 1871."
    assert 0.65 <= place.confidence < 1
    assert list(open_matcher("semantic").find(["The lighthouse was sold in 1871."], ["The bakery opens at six."])) == []
