"""Features of a row, and the rows that a trained judge cannot rate."""

import asyncio
from types import SimpleNamespace

import numpy as np
import pytest

from ragstone.errors import Skip
from ragstone.tools.trained_judge import EMBEDDED, FeatureReader, Looked, TrainedJudge

ROW = Looked("When does it open?", "It opens at 9:30.", ["The gate opens at 9:30 sharp."], ["It opens at 10:00."])


class Embedder:
    async def embed(self, texts):
        return np.array([[1.0, float(len(text))] for text in texts])


def read(uses, row=ROW, embedder=None):
    return asyncio.run(FeatureReader(uses, None, embedder).read(row))


def test_only_features_of_the_used_fields():
    assert set(read(())) == {"length", "refuses", "answer_in_question"}
    assert "answer_in_contexts" in read(("contexts",))
    assert "answer_in_reference" in read(("references",))


def test_numbers_are_compared():
    found = read(("contexts", "references"))
    assert found["numbers_in_contexts"] == 1.0
    assert found["numbers_in_reference"] == 0.0
    assert found["answer_in_contexts"] > found["answer_in_question"]


def test_embeddings_are_features():
    found = read(("contexts",), embedder=Embedder())
    assert -1.0 <= found["near_contexts"] <= 1.0
    assert sum(name.startswith(f"{EMBEDDED}.") for name in found) == 4


def trained(uses, features):
    card = SimpleNamespace(name="mine", uses=uses, features=features)
    predict = lambda question, values: float(values[0])  # noqa: E731
    return TrainedJudge(
        SimpleNamespace(card=card, signature="trained/mine#1", predict=predict), FeatureReader(uses, None, None)
    )


def test_features_go_to_the_model_by_name():
    judge = trained((), ["refuses", "length"])
    assert (judge.name, judge.signature) == ("trained/mine", "trained/mine#1")
    assert asyncio.run(judge.judge("q", "I do not know.", None, None)) == 1.0
    assert asyncio.run(judge.judge(None, "At nine.", None, None)) == 0.0


def test_rows_without_a_used_field_are_skipped():
    with pytest.raises(Skip, match="contexts"):
        asyncio.run(trained(("contexts",), ["length"]).judge("q", "a", [], None))
