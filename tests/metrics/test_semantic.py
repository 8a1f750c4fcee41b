"""Cosines of whole texts, by hand."""

import asyncio

import numpy as np
import pytest

import ragstone
from ragstone.errors import Skip
from ragstone.evidence_functions.similarity import answer_similarities, question_answer_similarity
from ragstone.metrics.semantic import answer_relevancy_similarity, semantic_similarity


class Angles:
    """A text is an angle in degrees, its vector twice as long as it should be."""

    name = signature = "angles"

    async def embed(self, texts):
        angles = np.radians([float(text) for text in texts])
        return 2 * np.stack([np.cos(angles), np.sin(angles)], axis=1)


def test_similarity_to_the_best_reference():
    found = asyncio.run(answer_similarities("0", ["60", "90", "180"], Angles()))
    assert found == pytest.approx([0.5, 0, -1])
    assert semantic_similarity(found) == pytest.approx(0.5)
    with pytest.raises(Skip):
        semantic_similarity([])


def test_similarity_to_the_question():
    assert answer_relevancy_similarity(asyncio.run(question_answer_similarity("30", "90", Angles()))) == pytest.approx(
        0.5
    )
    assert answer_relevancy_similarity(asyncio.run(question_answer_similarity("7", "7", Angles()))) == pytest.approx(1)
    assert answer_relevancy_similarity(1.0000001) == 1.0


def test_an_answer_to_another_question_is_farther(minilm):
    question = "When was the lighthouse first lit?"
    rows = [
        {"question": question, "answer": answer, "references": ["It was lit in 1871."]}
        for answer in ("The lighthouse was first lit in 1871.", "Bread is baked at six in the morning.")
    ]
    scores = ragstone.evaluate(rows, ["answer_relevancy.similarity", "semantic_similarity"]).scores.to_pylist()
    for name in ("answer_relevancy.similarity", "semantic_similarity"):
        right, wrong = (row["value"] for row in scores if row["metric"] == name)
        assert right > wrong + 0.3


def test_the_same_text_is_1(minilm):
    row = {"question": "Mole?", "answer": "On the mole.", "references": ["Elsewhere.", "On the mole."]}
    assert ragstone.evaluate([row], "semantic_similarity").summary()["semantic_similarity"].mean == pytest.approx(1)
