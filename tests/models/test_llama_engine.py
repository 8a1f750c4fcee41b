"""GGUF models in this process: which file a name means, threads, and what is said where something is missing."""

import sys
import types

import pytest

from ragstone.errors import MissingExtraError, StorageError, UsageError
from ragstone.models import llama_engine
from ragstone.models.llama_engine import Gguf, LlamaChat, default_threads, find_gguf
from ragstone.models.store import Store


@pytest.fixture
def weights(tmp_path):
    path = tmp_path / "tiny.gguf"
    path.write_bytes(b"GGUF" + bytes(1000))
    return path


def test_a_path(weights):
    found = find_gguf(str(weights))
    assert (found.name, found.path) == ("tiny", weights)
    weights.write_bytes(b"GGUF" + bytes(999) + b"x")
    assert find_gguf(str(weights)).identity != found.identity, "other weights are another judge"
    with pytest.raises(UsageError, match="there is no file"):
        find_gguf(str(weights.with_name("other.gguf")))


def test_a_model_of_the_store(weights, tmp_path):
    store = Store(tmp_path / "models")
    (tmp_path / "mine").mkdir()
    weights.rename(tmp_path / "mine" / "tiny.gguf")
    store.pull(str(tmp_path / "mine"))
    found = find_gguf("mine", store)
    assert found.path.name == "tiny.gguf"
    assert found.identity.startswith("llama/mine#")
    with pytest.raises(UsageError, match=r"not installed.*ragstone models pull qwen2\.5-1\.5b"):
        find_gguf("qwen2.5-1.5b", store)
    with pytest.raises(UsageError, match="is not a GGUF model"):
        find_gguf("local-judge", store)


def test_weights_of_the_catalogue_must_have_their_checksum(weights, tmp_path):
    with pytest.raises(StorageError, match="wrong checksum"):
        Store(tmp_path / "models").pull("qwen2.5-coder-1.5b", str(weights))
    assert Store(tmp_path / "models").pull("qwen2.5-1.5b", str(weights)).files.keys() == {"tiny.gguf"}


def test_threads(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(8)), raising=False)
    assert default_threads() == 4
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0}, raising=False)
    assert default_threads() == 1
    monkeypatch.setenv("RAGSTONE_LLAMA_THREADS", "3")
    assert default_threads() == 3
    monkeypatch.setenv("RAGSTONE_LLAMA_THREADS", "all")
    with pytest.raises(UsageError, match="RAGSTONE_LLAMA_THREADS"):
        default_threads()


def test_without_the_package(weights, monkeypatch):
    monkeypatch.setattr(llama_engine, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ragstone\[local\]'"):
        LlamaChat(find_gguf(str(weights)))


def test_it_is_loaded_once_and_at_first_use(weights, monkeypatch):
    started = []

    class Server:
        def __init__(self, settings):
            started.append(settings)

        def handle_chat_completions(self, body):
            return {"asked": body}

    part = types.SimpleNamespace
    params = lambda: part(model=part(), cpuparams=part(), cpuparams_batch=part())  # noqa: E731
    monkeypatch.setitem(sys.modules, "xllamacpp", part(CommonParams=params, Server=Server))
    monkeypatch.setattr(llama_engine, "find_spec", lambda _: True)
    chat = LlamaChat(Gguf("tiny", weights, "llama/tiny"), threads=1)
    assert started == []
    assert chat.ask({"messages": []}) == {"asked": {"messages": [], "cache_prompt": True}}
    chat.ask({})
    [settings] = started
    assert (settings.n_parallel, settings.cpuparams.n_threads, settings.model.path) == (2, 1, str(weights))
    chat.close()
    chat.ask({})
    assert len(started) == 2
