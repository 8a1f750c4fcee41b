"""Keys are nowhere: not in messages, not in reprs, not in the cache, not in the rows of calls."""

import asyncio
from dataclasses import replace

import pytest

from ragstone.errors import UsageError
from ragstone.llm.cache import Cache
from ragstone.llm.endpoints import hide_secrets
from ragstone.llm.gateway import Gateway, GatewaySettings
from ragstone.llm.wrappers import record_calls
from tests.http.loopback import DRIP, GARBAGE, HANG, RESET, completion
from tests.llm.asking import QUICK, request

KEY = "canary-key-0123456789"
PASSWORD = "canary-password"
MODELS = ["openai/m", "azure/m", "dial/m", "ollama/m", "vllm/m", "llamacpp/m", "litellm_proxy/m"]
VARIABLES = ["OPENAI", "AZURE", "DIAL", "OLLAMA", "VLLM", "LLAMACPP", "LITELLM_PROXY"]


def echo(status):
    """A server that quotes whatever it was sent, as careless ones do, around the place where messages are cut."""

    def handler(asked):
        quoted = " ".join([*asked.headers.values(), asked.path])
        return status, {"error": {"message": f"{'x' * 60} {quoted} {'y' * 40} {quoted}", "code": quoted}}

    return handler


TROUBLE = {
    **{f"status {status}": echo(status) for status in (307, 400, 401, 402, 403, 404, 413, 422, 429, 500, 503)},
    **{name: (lambda asked, name=name: name) for name in (HANG, RESET, GARBAGE, DRIP)},
    "no JSON": lambda asked: (200, asked.headers.get("authorization", "").encode()),
    "plain words": lambda asked: (401, str(asked.headers).encode(), {"Content-Type": "text/plain"}),
    "fine": lambda asked: completion(),
}


@pytest.fixture
def keys(monkeypatch):
    for name in VARIABLES:
        monkeypatch.setenv(f"{name}_API_KEY", KEY)


# A timeout includes the time to connect: it must be long enough for the request to arrive on a busy machine.
SILENT_S, LONG_S = 1.0, 30.0


def provoke(address, model, folder, timeout_s=LONG_S):
    """Everything that a call leaves behind, as text."""
    calls, left = [], []
    patience = replace(QUICK, longest_s=0.3)

    async def work():
        settings = GatewaySettings(base_url=address, patience=patience, timeout_s=timeout_s, cache=Cache(folder))
        gateway = Gateway(settings)
        llm = gateway.open_llm(model)
        left.extend([repr(settings), repr(gateway), repr(llm), repr(vars(llm)), llm.name, llm.signature])
        with record_calls(calls, "s", "e"):
            for one in (request(), request(reply_format="json_object")):
                try:
                    left.append(repr(await llm.complete(one)))
                except Exception as error:
                    left.extend([str(error), repr(error), repr(error.__cause__), repr(vars(error))])
        await gateway.close()

    asyncio.run(work())
    files = [path.read_text() for path in folder.rglob("*") if path.is_file()]
    return "\n".join([*left, *map(repr, calls), *files, *map(str, folder.rglob("*"))])


@pytest.mark.slow
@pytest.mark.parametrize("trouble", TROUBLE)
def test_no_trouble_brings_a_key_to_light(loopback, tmp_path, keys, trouble):
    loopback.handler = TROUBLE[trouble]
    timeout_s = SILENT_S if trouble in (HANG, DRIP) else LONG_S
    with_password = f"http://me:{PASSWORD}@127.0.0.1:{loopback.port}/v1?token={KEY}x"
    left = provoke(with_password, "openai/m", tmp_path / "a", timeout_s)
    left += provoke(loopback.url, "openai/m", tmp_path / "b", timeout_s)
    assert any(KEY in str(asked.headers) for asked in loopback.asked)
    assert any("Basic" in str(asked.headers) for asked in loopback.asked)
    assert "canary" not in left
    assert "bWU6Y2FuYXJ5" not in left
    assert "openai/m" in left


@pytest.mark.parametrize("model", MODELS)
def test_nor_does_any_server(loopback, tmp_path, keys, model):
    loopback.handler = echo(401)
    left = provoke(loopback.url, model, tmp_path)
    assert KEY in str(loopback.asked[0].headers)
    assert "canary" not in left


def test_a_dead_address_with_a_password(loopback, tmp_path, keys):
    loopback.stop()
    left = provoke(f"http://me:{PASSWORD}@127.0.0.1:{loopback.port}", "openai/m", tmp_path)
    assert "no server answers at" in left
    assert "canary" not in left


def test_what_looks_like_a_key(monkeypatch):
    monkeypatch.setenv("SOME_TOKEN", "hunter2-hunter2")
    monkeypatch.setenv("SHORT_KEY", "no")
    text = hide_secrets("sk-proj-AbC123_xyz987 and hunter2-hunter2 and given and no", ["given", "given-more"])
    assert text == "*** and *** and given and no"


@pytest.mark.parametrize("key", [f"{KEY}\n{KEY}", f"{KEY}\x1b[31m", f"{KEY}–1", KEY * 250_000])
@pytest.mark.parametrize("model", ["openai/m", "azure/m", "dial/m"])
def test_a_key_that_cannot_be_sent_is_named_before_any_call(loopback, monkeypatch, model, key):
    variable = f"{model.partition('/')[0].upper()}_API_KEY"
    monkeypatch.setenv(variable, key)
    with pytest.raises(UsageError, match=variable) as raised:
        Gateway(GatewaySettings(base_url=loopback.url)).open_llm(model)
    assert KEY not in str(raised.value)
    assert len(str(raised.value)) < 200
    assert not loopback.asked
