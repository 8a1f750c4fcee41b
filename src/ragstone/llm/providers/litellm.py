"""Every provider that LiteLLM knows, by LiteLLM's own names. It is imported at the first call: that takes seconds."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import os
import sys
import time
from collections.abc import Mapping
from typing import Any

from ragstone.errors import MissingExtraError
from ragstone.llm.base import Reply, Request
from ragstone.llm.failures import (
    LLMAccessError,
    LLMBusyError,
    LLMError,
    LLMRefusedError,
    UnsupportedFormatError,
)
from ragstone.llm.hiding import hide_secrets
from ragstone.llm.providers.openai import ALTERNATIVES, read_choice, response_format
from ragstone.llm.providers.statuses import retry_after_s

_OPTIONAL = ("temperature", "max_tokens", "top_logprobs", "logprobs", "seed")
_ACCESS = ("AuthenticationError", "PermissionDeniedError", "NotFoundError", "BudgetExceededError")
_BUSY = (
    *("RateLimitError", "Timeout", "APIConnectionError", "ServiceUnavailableError", "InternalServerError"),
    *("BadGatewayError", "APIError", "APIResponseValidationError", "JSONSchemaValidationError"),
)
_TOO_LONG = "ContextWindowExceededError"
_FILTERED = "ContentPolicyViolationError"


class LiteLLM:
    """A model that is reached through the package litellm."""

    def __init__(self, name: str, timeout_s: float = 120.0, base_url: str | None = None) -> None:
        self._name = name
        self._timeout_s = timeout_s
        self._base_url = base_url
        self._unwanted: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return f"LiteLLM({self._name!r})"

    @property
    def name(self) -> str:
        """LiteLLM's name of the model."""
        return self._name

    @property
    def signature(self) -> str:
        """The name."""
        return self._name

    def check_installed(self) -> None:
        """Complain if the package is not there."""
        if "litellm" not in sys.modules and importlib.util.find_spec("litellm") is None:
            raise MissingExtraError(f"the model {self._name}", "litellm")

    async def complete(self, request: Request) -> Reply:
        """One call, repeated only where a parameter that can be left out is refused."""
        self.check_installed()
        module: Any = sys.modules.get("litellm") or await asyncio.to_thread(_load)
        while True:
            unwanted = self._unwanted
            started = time.perf_counter()
            try:
                async with asyncio.timeout(self._timeout_s):
                    found = await module.acompletion(**self._arguments(request, unwanted))
            except TimeoutError:
                raise LLMBusyError(f"{self._name} gave no reply in {self._timeout_s:g} s", timed_out=True) from None
            except Exception as error:  # noqa: BLE001  (its errors are many; all of them are explained)
                if (refused := _refused_parameter(error, unwanted)) is None:
                    raise self._explain(error, request) from None
                self._unwanted = unwanted | {refused}
                continue
            return read_choice(_as_mapping(found), self._name, time.perf_counter() - started)

    async def close(self) -> None:
        """Nothing to close: litellm keeps its own connections."""

    def _arguments(self, request: Request, unwanted: frozenset[str]) -> dict[str, Any]:
        optional = {
            "temperature": request.temperature,
            "max_tokens": request.max_tokens,
            "logprobs": request.logprobs or None,
            "top_logprobs": ALTERNATIVES if request.logprobs and "logprobs" not in unwanted else None,
            "seed": request.repeat or None,
        }
        arguments: dict[str, Any] = {
            "model": self._name,
            "messages": [{"role": message.role, "content": message.content} for message in request.messages],
            "timeout": self._timeout_s,
            # Retries are ours: only they know the budget, the limits and the deadline.
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
        told = f"{self._name}: {words}"
        if _TOO_LONG in kinds:
            return LLMRefusedError(f"the prompt is longer than the model's context: {told}")
        if _FILTERED in kinds:
            return LLMRefusedError(f"the content filter refused the request: {told}")
        if kinds & set(_ACCESS):
            return LLMAccessError(f"{told}. Check the model's name and the key that LiteLLM wants for it.")
        if request.reply_format != "text" and ("UnsupportedParamsError" in kinds or "response_format" in words):
            return UnsupportedFormatError(f"replies as {request.reply_format} are refused: {told}")
        if "BadRequestError" in kinds:
            return LLMRefusedError(told)
        if kinds & set(_BUSY):
            return _busy(error, kinds, told)
        return LLMError(f"{self._name} failed with {type(error).__name__}: {words}")


def _busy(error: Exception, kinds: set[str], told: str) -> LLMBusyError:
    headers = getattr(getattr(error, "response", None), "headers", None)
    wait_s = retry_after_s(headers) if isinstance(headers, Mapping) else None
    return LLMBusyError(told, wait_s, slow_down="RateLimitError" in kinds, timed_out="Timeout" in kinds)


def _refused_parameter(error: Exception, unwanted: frozenset[str]) -> str | None:
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if not kinds & {"UnsupportedParamsError", "BadRequestError"}:
        return None
    words = str(error)
    if "support" not in words.lower():
        return None
    return next((name for name in _OPTIONAL if name in words and name not in unwanted), None)


def _load() -> Any:
    # Without this the import asks a server for prices; we have our own, and nobody is asked who was not named.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    module: Any = importlib.import_module("litellm")
    module.suppress_debug_info = True
    module.telemetry = False
    return module


def _as_mapping(found: Any) -> Any:
    return found.model_dump() if hasattr(found, "model_dump") else found
