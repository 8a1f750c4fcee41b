"""LiteLLM as a provider, with a module in its place that behaves as its documentation says."""

import asyncio
import sys
from types import SimpleNamespace

import pytest

from ragstone.llm.base import LLMAccessError, LLMBusyError, LLMError, LLMRefusedError, UnsupportedFormatError
from ragstone.llm.providers.litellm import LiteLLM
from tests.http.loopback import completion
from tests.llm.asking import ask, request


@pytest.fixture(autouse=True)
def no_module_left():
    """Tests put a package called litellm into place; none of it stays."""
    yield
    sys.modules.pop("litellm", None)


class RaisedError(Exception):
    def __init__(self, message="it says no", headers=None):
        super().__init__(message)
        self.response = SimpleNamespace(headers=headers or {})


def kind(name, *bases):
    return type(name, bases or (RaisedError,), {})


BadRequestError = kind("BadRequestError")


@pytest.fixture
def litellm(monkeypatch):
    """A module whose `acompletion` gives what `script` holds, call by call."""
    module = SimpleNamespace(calls=[], script=[])

    async def acompletion(**arguments):
        module.calls.append(arguments)
        found = module.script.pop(0) if module.script else completion()
        if isinstance(found, Exception):
            raise found
        return SimpleNamespace(model_dump=lambda: found)

    module.acompletion = acompletion
    monkeypatch.setitem(sys.modules, "litellm", module)
    return module


def ask_bedrock(*requests, **settings):
    return ask(None, *requests, model="bedrock/some-model", **settings)


def test_what_is_asked(litellm):
    reply = ask_bedrock(request("Hello", max_tokens=5, reply_format="json_object", repeat=2))
    assert (reply.text, reply.model, reply.input_tokens, reply.output_tokens) == ("fine", "bedrock/some-model", 10, 2)
    assert litellm.calls == [
        {
            "model": "bedrock/some-model",
            "messages": [{"role": "user", "content": "Hello"}],
            "temperature": 0.0,
            "max_tokens": 5,
            "seed": 2,
            "response_format": {"type": "json_object"},
            "timeout": 5.0,
            "num_retries": 0,
        }
    ]


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (kind("AuthenticationError")(), LLMAccessError),
        (kind("PermissionDeniedError")(), LLMAccessError),
        (kind("NotFoundError")(), LLMAccessError),
        (kind("ContextWindowExceededError", BadRequestError)(), LLMRefusedError),
        (kind("ContentPolicyViolationError", BadRequestError)(), LLMRefusedError),
        (BadRequestError(), LLMRefusedError),
        (RuntimeError("odd"), LLMError),
    ],
)
def test_errors_that_are_final(litellm, error, expected):
    litellm.script = [error]
    found = ask_bedrock()
    assert type(found) is expected
    assert len(litellm.calls) == 1


@pytest.mark.parametrize(
    "name", ["RateLimitError", "Timeout", "APIConnectionError", "ServiceUnavailableError", "InternalServerError"]
)
def test_errors_that_pass(litellm, name):
    litellm.script = [kind(name)(), kind(name)(headers={"Retry-After": "0"})]
    reply = ask_bedrock()
    assert (reply.text, reply.attempts) == ("fine", 3)


def test_rate_limits_are_asked_until_they_pass(litellm):
    litellm.script = [kind("RateLimitError")() for _ in range(10)]
    assert ask_bedrock().attempts == 11
    litellm.script = [kind("InternalServerError")() for _ in range(10)]
    assert type(ask_bedrock()) is LLMBusyError


def test_formats_and_parameters_that_a_model_does_not_support(litellm):
    unsupported = kind("UnsupportedParamsError", BadRequestError)
    litellm.script = [unsupported("does not support parameters: ['temperature']")]
    assert ask_bedrock(request(reply_format="json_object")).text == "fine"
    assert [sorted(call.keys() & {"temperature", "response_format"}) for call in litellm.calls] == [
        ["response_format", "temperature"],
        ["response_format"],
    ]
    litellm.script = [unsupported("does not support parameters: ['response_format']")]
    assert type(ask_bedrock(request(reply_format="json_object"))) is UnsupportedFormatError


def test_a_call_that_hangs(litellm):
    async def hang(**arguments):
        await asyncio.sleep(60)

    litellm.acompletion = hang
    error = ask_bedrock(timeout_s=0.05, deadline_s=2)
    assert type(error) is LLMBusyError
    assert "sent no reply within 0.05 s" in str(error)


def test_its_words_hold_no_key(litellm, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "canary-1234567")
    litellm.script = [kind("AuthenticationError")("bad key canary-1234567 or sk-proj-abcdefghijk")]
    error = ask_bedrock()
    assert "bad key *** or ***" in str(error)


def test_loading_it_asks_nobody(tmp_path):
    import subprocess

    (tmp_path / "litellm.py").write_text("import os; assert os.environ['LITELLM_LOCAL_MODEL_COST_MAP'] == 'True'")
    script = "from ragstone.llm.providers.litellm import _load; print(_load().telemetry)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env={"PYTHONPATH": str(tmp_path)}
    )
    assert done.stdout == "False\n", done.stderr


def test_it_is_loaded_only_when_asked(tmp_path):
    import subprocess

    (tmp_path / "litellm.py").write_text("raise SystemExit('loaded too early')")
    script = "from ragstone.llm.gateway import *; Gateway(GatewaySettings()).open_llm('bedrock/x'); print('fine')"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env={"PYTHONPATH": str(tmp_path)}
    )
    assert done.stdout == "fine\n", done.stderr


def test_concurrent_first_calls_wait_for_the_import(tmp_path, monkeypatch):
    reply = repr(completion())
    (tmp_path / "litellm.py").write_text(
        f"import time\ntime.sleep(0.3)\nasync def acompletion(**arguments):\n    return {reply}\n", encoding="utf-8"
    )
    monkeypatch.delitem(sys.modules, "litellm", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    model = LiteLLM("bedrock/some-model")

    async def call(number):
        # Later calls begin while the first one imports the package.
        await asyncio.sleep(number * 0.02)
        return await model.complete(request("Hello"))

    async def call_all():
        return await asyncio.gather(*map(call, range(16)), return_exceptions=True)

    replies = asyncio.run(call_all())
    monkeypatch.delitem(sys.modules, "litellm", raising=False)
    assert [getattr(reply, "text", reply) for reply in replies] == ["fine"] * 16
