"""Names of models: who is asked, where, and with which key."""

import asyncio
import sys

import pytest

from ragstone.errors import MissingExtraError, UsageError
from ragstone.llm.cache import Cache
from ragstone.llm.endpoints import find_endpoint
from ragstone.llm.gateway import Gateway, GatewaySettings
from ragstone.testing import FakeLLM
from tests.llm.asking import ask, request

KEY = "canary-key-123456"


@pytest.mark.parametrize(
    ("provider", "environment", "url", "headers"),
    [
        ("openai", {}, "https://api.openai.com/v1/chat/completions", {}),
        (
            "openai",
            {"OPENAI_API_KEY": KEY},
            "https://api.openai.com/v1/chat/completions",
            {"Authorization": f"Bearer {KEY}"},
        ),
        ("openai", {"OPENAI_BASE_URL": "http://h:1/v1/"}, "http://h:1/v1/chat/completions", {}),
        ("openai", {"OPENAI_BASE_URL": "http://h:1"}, "http://h:1/v1/chat/completions", {}),
        ("openai", {"OPENAI_BASE_URL": "http://h/api/v3?x=1"}, "http://h/api/v3/chat/completions?x=1", {}),
        (
            "azure",
            {"AZURE_API_BASE": "https://a.test/", "AZURE_API_KEY": KEY, "AZURE_API_VERSION": "2025-01-01"},
            "https://a.test/openai/deployments/m/chat/completions?api-version=2025-01-01",
            {"api-key": KEY},
        ),
        (
            "azure",
            {"AZURE_OPENAI_ENDPOINT": "https://a.test", "AZURE_OPENAI_API_KEY": KEY},
            "https://a.test/openai/deployments/m/chat/completions?api-version=2024-10-21",
            {"api-key": KEY},
        ),
        (
            "dial",
            {"DIAL_URL": "https://d.test/", "DIAL_API_KEY": KEY},
            "https://d.test/openai/deployments/m/chat/completions?api-version=2024-10-21",
            {"Api-Key": KEY},
        ),
        ("ollama", {}, "http://localhost:11434/v1/chat/completions", {}),
        ("ollama", {"OLLAMA_HOST": "box:11434"}, "http://box:11434/v1/chat/completions", {}),
        ("vllm", {}, "http://localhost:8000/v1/chat/completions", {}),
        (
            "vllm",
            {"VLLM_API_KEY": KEY},
            "http://localhost:8000/v1/chat/completions",
            {"Authorization": f"Bearer {KEY}"},
        ),
        ("llamacpp", {}, "http://localhost:8080/v1/chat/completions", {}),
        (
            "litellm_proxy",
            {"LITELLM_PROXY_API_BASE": "http://p", "LITELLM_PROXY_API_KEY": KEY},
            "http://p/v1/chat/completions",
            {"Authorization": f"Bearer {KEY}"},
        ),
    ],
)
def test_where_and_how(monkeypatch, provider, environment, url, headers):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    endpoint = find_endpoint(provider, "m")
    assert endpoint.url("chat/completions") == url
    assert endpoint.headers == headers
    assert KEY not in repr(endpoint)


def test_azure_and_dial_for_real(loopback, monkeypatch):
    monkeypatch.setenv("DIAL_API_KEY", KEY)
    monkeypatch.setenv("DIAL_URL", f"http://127.0.0.1:{loopback.port}")
    monkeypatch.setenv("AZURE_API_KEY", KEY)
    assert ask(None, model="dial/gpt-4o").text == "fine"
    assert ask(f"http://127.0.0.1:{loopback.port}", model="azure/my deployment").text == "fine"
    dial, azure = loopback.asked
    assert dial.path == "/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21"
    assert azure.path == "/openai/deployments/my%20deployment/chat/completions?api-version=2024-10-21"
    assert dial.headers["api-key"] == azure.headers["api-key"] == KEY
    assert "model" not in dial.json


def test_the_given_address_counts_more_than_the_environment(loopback, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
    assert ask(loopback).text == "fine"


def test_credentials_within_the_address(loopback, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert ask(f"http://me:secret@127.0.0.1:{loopback.port}/v1").text == "fine"
    assert loopback.asked[0].headers["authorization"] == "Basic bWU6c2VjcmV0"


def test_a_name_with_slashes(loopback):
    ask(loopback, model="vllm/meta-llama/Llama-3.1-8B")
    assert loopback.asked[0].json["model"] == "meta-llama/Llama-3.1-8B"


@pytest.mark.parametrize("name", ["gpt-4o-mini", "", "/", "openai/", "/gpt"])
def test_names_without_a_provider(name):
    with pytest.raises(UsageError, match=r"no provider.*openai/gpt-4o-mini"):
        Gateway(GatewaySettings()).open_llm(name)


@pytest.mark.parametrize("name", ["openai/gpt-4o", "azure/x", "dial/x"])
def test_a_missing_key_shows_before_any_call(name, monkeypatch):
    monkeypatch.setenv("AZURE_API_BASE", "https://a.test")
    monkeypatch.setenv("DIAL_URL", "https://d.test")
    with pytest.raises(UsageError, match=f"^{name} needs a key: set {name.split('/')[0].upper()}_API_KEY.$"):
        Gateway(GatewaySettings()).open_llm(name)


@pytest.mark.parametrize(("name", "variable"), [("azure/x", "AZURE_API_BASE"), ("dial/x", "DIAL_URL")])
def test_a_missing_address(name, variable):
    with pytest.raises(UsageError, match=f"needs an address: set {variable} or --base-url"):
        Gateway(GatewaySettings()).open_llm(name)


def test_other_providers_need_the_extra(monkeypatch):
    monkeypatch.delitem(sys.modules, "litellm", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ragstone\[litellm\]'"):
        Gateway(GatewaySettings()).open_llm("bedrock/some-model")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "opneai/gpt-4o",
            "^unknown provider 'opneai'. Did you mean openai/gpt-4o\\? Otherwise the model opneai/gpt-4o needs",
        ),
        ("antropic/a/b", "Did you mean anthropic/a/b"),
        ("ollama_chat/x", "^the model ollama_chat/x needs"),
        ("some-house/x", "^the model some-house/x needs"),
    ],
)
def test_a_misspelled_provider(name, words, monkeypatch):
    monkeypatch.delitem(sys.modules, "litellm", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=words):
        Gateway(GatewaySettings()).open_llm(name)


def test_one_stack_for_one_model():
    gateway = Gateway(GatewaySettings(base_url="http://localhost:1"))
    assert gateway.open_llm("openai/a") is gateway.open_llm("openai/a")
    assert gateway.open_llm("openai/a") is not gateway.open_llm("openai/b")


def test_a_model_of_ones_own():
    from ragstone.testing import FakeLLM

    fake = FakeLLM(["mine"])
    assert ask(None, request(), model=fake).text == "mine"
    assert fake.closed


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"concurrency": 0}, "concurrent calls must be more than 0, not 0"),
        ({"timeout_s": -1}, "the timeout must be"),
        ({"deadline_s": 0}, "the deadline must be"),
        ({"requests_per_minute": 0}, "requests per minute must be"),
        ({"tokens_per_minute": float("nan")}, "tokens per minute must be more than 0, not nan"),
    ],
)
def test_settings_that_cannot_work(settings, words):
    with pytest.raises(UsageError, match=words):
        GatewaySettings(**settings)


class CountsCloses(FakeLLM):
    closes = 0

    async def close(self):
        self.closes += 1


@pytest.mark.parametrize("mode", [{}, {"quoting": True}, {"offline": True}])
def test_close_reaches_a_model_once_through_all_wrappers(tmp_path, mode):
    async def work():
        model = CountsCloses(["yes"])
        quoting = mode.get("quoting", False)
        settings = GatewaySettings(cache=Cache(tmp_path), offline=mode.get("offline", False))
        gateway = Gateway(settings, quoting=quoting)
        llm = gateway.open_llm(model)
        assert gateway.open_llm(model) is llm
        assert (llm.name, llm.signature) == (model.name, model.signature)
        await gateway.close()
        await gateway.close()
        return model.closes

    assert asyncio.run(work()) == 1
