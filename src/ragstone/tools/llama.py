"""`--judge llama/NAME`: a GGUF model in this process, as a language model."""

from __future__ import annotations

import asyncio
import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ragstone.errors import RagstoneError, UsageError
from ragstone.llm.base import LLMAccessError, LLMRefusedError, Reply, Request
from ragstone.llm.concurrency import run_in_thread

if TYPE_CHECKING:
    from ragstone.models.llama_engine import Gguf, LlamaChat

_PREFIX = "llama/"


def is_llama(model: Any) -> bool:
    """Whether a name is `llama/NAME`."""
    return isinstance(model, str) and model.strip().startswith(_PREFIX)


class LlamaLLM:
    """Answers one request after the other, in the order in which they come."""

    def __init__(self, name: str, chat: LlamaChat) -> None:
        self.name = name
        self.signature = chat.model.identity
        self._chat = chat
        self._turn = asyncio.Lock()

    async def complete(self, request: Request) -> Reply:
        """Return the model's reply."""
        from ragstone.llm.providers.openai import chat_body, read_choice  # noqa: PLC0415  (slow import)

        async with self._turn:
            started = time.perf_counter()
            try:
                data = await run_in_thread(self._chat.ask, chat_body(request))
            except RagstoneError as error:
                raise LLMAccessError(str(error)) from error
        if "error" in data:
            raise LLMRefusedError(f"{self.name}: {str(data['error'].get('message', data['error']))[:300]}")
        return read_choice(data, self.name, time.perf_counter() - started)

    async def close(self) -> None:
        """Free the model's memory."""
        self._chat.close()


def open_llama(name: str) -> LlamaLLM:
    """Open a model by `llama/NAME`. Its file is found now and loaded at first use."""
    from ragstone.models.llama_engine import find_gguf  # noqa: PLC0415  (slow import)

    name = name.strip()
    wanted = name.removeprefix(_PREFIX)
    if not wanted:
        raise UsageError("name a model: llama/qwen2.5-1.5b, or llama/ and the path of a .gguf file")
    return LlamaLLM(name, _chat(find_gguf(wanted)))


def in_process(model: Any) -> Any:
    """The model that a gateway can open: `llama/NAME` becomes an object, other models stay as they are."""
    return open_llama(model) if is_llama(model) else model


@lru_cache(maxsize=4)
def _chat(model: Gguf) -> LlamaChat:
    """One engine per file, however often it is opened."""
    from ragstone.models.llama_engine import LlamaChat  # noqa: PLC0415

    return LlamaChat(model)
