"""SmolLM2-135M from the store of models (`make test-slow` pulls it), served by llama.cpp's own server."""

import json
import urllib.request

import pytest

from ragstone.models.store import Store
from tests.conftest import MODELS

CONTEXT = 4096
AT_ONCE = 2
LONGEST_REPLY = 128


def find_weights():
    """The model's file."""
    found = Store(MODELS).find("smollm2")
    if found is None:
        pytest.skip("the model is not there: ragstone models pull smollm2")
    return found.path("model.gguf")


class RealModel:
    """A server of llama.cpp in this process, on one thread and a port of its own."""

    def __init__(self, weights):
        engine = pytest.importorskip("xllamacpp", reason="there is no xllamacpp for this machine")
        settings = engine.CommonParams()
        settings.model.path = str(weights)
        settings.port = 0
        settings.n_ctx = CONTEXT * AT_ONCE
        settings.n_parallel = AT_ONCE
        settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
        # So small a model often repeats itself for ever; servers cut replies off, and so does this one.
        settings.n_predict = LONGEST_REPLY
        settings.warmup = False
        settings.verbosity = 0
        self.server = engine.Server(settings)
        self.address = self.server.listening_address
        self.base_url = f"{self.address}/v1"

    def count_tokens(self, text):
        """By the model's own tokeniser."""
        request = urllib.request.Request(
            f"{self.address}/tokenize",
            json.dumps({"content": text, "parse_special": True}).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as response:
            return len(json.load(response)["tokens"])


@pytest.fixture(autouse=True)
def short_replies(monkeypatch):
    """What our prompts allow a model to say would take this one minutes."""
    monkeypatch.setattr("ragstone.llm.prompted.LONGEST_REPLY", LONGEST_REPLY)
    monkeypatch.setattr("ragstone.llm.prompted._GUESS_MARGIN", 0)


@pytest.fixture(scope="session")
def real_model():
    return RealModel(find_weights())
