"""Cosines of embeddings: their range, their order, and texts without a vector."""

import asyncio

import numpy as np
import pytest

from ragstone.evidence_functions.similarity import (
    answer_similarities,
    question_answer_similarity,
    question_similarities,
)

VECTORS = {"east": [1.0, 0.0], "far east": [5.0, 0.0], "north": [0.0, 2.0], "west": [-3.0, 0.0], "": [0.0, 0.0]}


class Embedder:
    signature = "toy"

    def __init__(self):
        self.calls = 0

    async def embed(self, texts):
        self.calls += 1
        return np.array([VECTORS[text] for text in texts])


def test_the_length_of_a_vector_does_not_matter():
    found = asyncio.run(answer_similarities("east", ["far east", "north", "west", ""], Embedder()))
    assert found == pytest.approx([1.0, 0.0, -1.0, 0.0])


def test_one_call_for_all_texts():
    embedder = Embedder()
    assert asyncio.run(question_similarities("north", ["north", "east"], embedder)) == pytest.approx([1.0, 0.0])
    assert embedder.calls == 1


def test_nothing_to_compare_needs_no_call():
    embedder = Embedder()
    assert asyncio.run(question_similarities("north", [], embedder)) == []
    assert embedder.calls == 0


def test_question_and_answer():
    assert asyncio.run(question_answer_similarity("east", "west", Embedder())) == pytest.approx(-1.0)
