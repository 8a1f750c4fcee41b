"""All providers of LiteLLM, under LiteLLM's model names. The package is imported at the first call, because that takes seconds."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import os
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any

from ragstone.errors import MissingExtraError, nearest
from ragstone.http.retry import read_retry_after
from ragstone.llm.base import (
    LLMAccessError,
    LLMBusyError,
    LLMError,
    LLMRefusedError,
    Reply,
    Request,
    UnsupportedFormatError,
)
from ragstone.llm.endpoints import SERVERS, hide_secrets
from ragstone.llm.providers.openai import ALTERNATIVES, read_choice, response_format, write_image

# Providers that a misspelled name may mean: our servers and the common ones of LiteLLM.
_PROVIDERS = (
    *SERVERS,
    *("anthropic", "azure_ai", "bedrock", "cohere", "deepseek", "fireworks_ai", "gemini", "groq", "hosted_vllm"),
    *("huggingface", "mistral", "nvidia_nim", "ollama_chat", "openai_like", "openrouter", "perplexity", "replicate"),
    *("sagemaker", "together_ai", "vertex_ai", "watsonx", "xai"),
)
_OPTIONAL = ("temperature", "max_tokens", "top_logprobs", "logprobs", "seed")
_ACCESS = ("AuthenticationError", "PermissionDeniedError", "NotFoundError", "BudgetExceededError")
_BUSY = (
    *("RateLimitError", "Timeout", "APIConnectionError", "ServiceUnavailableError", "InternalServerError"),
    *("BadGatewayError", "APIError", "APIResponseValidationError", "JSONSchemaValidationError"),
)
_TOO_LONG = "ContextWindowExceededError"
_FILTERED = "ContentPolicyViolationError"
_IMPORT = threading.Lock()


class LiteLLM:
    """A model that is called through the package litellm."""

    def __init__(self, name: str, timeout_s: float = 120.0, base_url: str | None = None) -> None:
        self.name = self.signature = name
        self._timeout_s = timeout_s
        self._base_url = base_url
        self._unwanted: frozenset[str] = frozenset()
        self._module: Any = None

    def __repr__(self) -> str:
        return f"LiteLLM({self.name!r})"

    def check_installed(self) -> None:
        """Raise if the package is not installed."""
        if "litellm" not in sys.modules and importlib.util.find_spec("litellm") is None:
            provider, _, model = self.name.partition("/")
            near = [] if provider in _PROVIDERS else nearest(provider, _PROVIDERS, most=1, cutoff=0.75)
            meant = f"unknown provider '{provider}'. Did you mean {near[0]}/{model}? Otherwise " if near else ""
            raise MissingExtraError(f"{meant}the model {self.name}", "litellm")

    async def complete(self, request: Request) -> Reply:
        """Send one call; repeat it only if an optional parameter is refused."""
        if self._module is None:
            self.check_installed()
            self._module = await asyncio.to_thread(_load)
        module = self._module
        while True:
            unwanted = self._unwanted
            started = time.perf_counter()
            try:
                async with asyncio.timeout(self._timeout_s):
                    reply = await module.acompletion(**self._arguments(request, unwanted))
            except TimeoutError:
                raise LLMBusyError(f"{self.name} sent no reply within {self._timeout_s:g} s", timed_out=True) from None
            except Exception as error:  # noqa: BLE001  (_explain maps all of litellm's errors)
                if (refused := _refused_parameter(error, unwanted)) is None:
                    raise self._explain(error, request) from None
                self._unwanted = unwanted | {refused}
                continue
            return read_choice(
                reply.model_dump() if hasattr(reply, "model_dump") else reply, self.name, time.perf_counter() - started
            )

    async def close(self) -> None:
        """Do nothing: litellm keeps its own connections."""

    def _arguments(self, request: Request, unwanted: frozenset[str]) -> dict[str, Any]:
        optional = {
            "temperature": request.temperature,
            "max_tokens": request.max_tokens,
            "logprobs": request.logprobs or None,
            "top_logprobs": ALTERNATIVES if request.logprobs and "logprobs" not in unwanted else None,
            "seed": request.repeat or None,
        }
        arguments: dict[str, Any] = {
            "model": self.name,
            "messages": [{"role": message.role, "content": message.parts(write_image)} for message in request.messages],
            "timeout": self._timeout_s,
            # Ragstone retries by itself, within the budget, the limits and the deadline.
            "num_retries": 0,
            **{name: value for name, value in optional.items() if value is not None and name not in unwanted},
        }
        if request.reply_format != "text":
            arguments["response_format"] = response_format(request)
        if self._base_url:
            arguments["api_base"] = self._base_url
        return arguments

    def _explain(self, error: Exception, request: Request) -> Exception:
        kinds = {kind.__name__ for kind in type(error).__mro__}
        words = hide_secrets(" ".join(str(error).split()))[:200]
        message = f"{self.name}: {words}"
        if _TOO_LONG in kinds:
            return LLMRefusedError(f"the prompt is longer than the model's context window: {message}")
        if _FILTERED in kinds:
            return LLMRefusedError(f"the content filter refused the request: {message}")
        if kinds & set(_ACCESS):
            return LLMAccessError(f"{message}. Check the model's name and its key for LiteLLM.")
        if request.reply_format != "text" and ("UnsupportedParamsError" in kinds or "response_format" in words):
            return UnsupportedFormatError(f"replies as {request.reply_format} are not supported: {message}")
        if "BadRequestError" in kinds:
            return LLMRefusedError(message)
        if kinds & set(_BUSY):
            headers = getattr(getattr(error, "response", None), "headers", None)
            wait_s = read_retry_after(headers) if isinstance(headers, Mapping) else None
            return LLMBusyError(message, wait_s, slow_down="RateLimitError" in kinds, timed_out="Timeout" in kinds)
        return LLMError(f"{self.name} failed with {type(error).__name__}: {words}")


def _refused_parameter(error: Exception, unwanted: frozenset[str]) -> str | None:
    kinds, words = {kind.__name__ for kind in type(error).__mro__}, str(error)
    if not kinds & {"UnsupportedParamsError", "BadRequestError"} or "support" not in words.lower():
        return None
    return next((name for name in _OPTIONAL if name in words and name not in unwanted), None)


def _load() -> Any:
    # Otherwise the import downloads prices; no data leaves the machine unless the user names a remote model.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    # `sys.modules` contains the package before its import is complete.
    with _IMPORT:
        module: Any = importlib.import_module("litellm")
    module.suppress_debug_info = True
    module.telemetry = False
    return module
