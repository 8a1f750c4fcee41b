"""Names of local language models, and scores in micro-batches."""

import asyncio

import pytest

from ragstone.errors import MissingExtraError, StopRunError, StorageError, UsageError
from ragstone.models.scorers import LocalScorer, find_language_model, is_local, open_language_model
from ragstone.models.store import Store


class Counting:
    signature = "local/fake#1"

    def __init__(self):
        self.batches = []

    def log_probabilities(self, pairs):
        self.batches.append(pairs)
        if any(text == "broken" for _, text in pairs):
            raise StorageError("broken weights")
        return [[-float(len(text))] for _, text in pairs]


def test_texts_that_wait_together_are_scored_together_and_once():
    async def work():
        model = Counting()
        scorer = LocalScorer(model)
        scores = await asyncio.gather(
            scorer.log_probabilities([("", "aa")]), scorer.log_probabilities([("", "b"), ("", "aa")])
        )
        await scorer.log_probabilities([("", "b")])
        with pytest.raises(StopRunError, match="broken weights"):
            await scorer.log_probabilities([("", "broken")])
        return scores, model.batches, scorer.signature

    scores, batches, signature = asyncio.run(work())
    assert scores == [[[-2.0]], [[-1.0], [-2.0]]]
    assert batches == [[("", "aa"), ("", "b")], [("", "broken")]]
    assert signature == "local/fake#1"


@pytest.mark.parametrize(
    ("name", "local"), [("local", True), ("local/x", True), ("hf/a/b", True), ("smollm2", True), ("openai/m", False)]
)
def test_names_of_local_models(name, local):
    assert is_local(name) is local


def test_models_that_cannot_be_opened(tmp_path, monkeypatch):
    store = Store(tmp_path)
    assert find_language_model(store) is None
    store.put("smollm2", {"model.gguf": b"x"}, "here")
    store.put("net", {"model.onnx": b"x"}, "here")
    with pytest.raises(UsageError, match="not a language model"):
        open_language_model("local/net", store)
    monkeypatch.setattr("ragstone.models.llama_engine.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError):
        open_language_model("local", store)
