"""`--judge llama/NAME` and `--judge local-large`: a GGUF model in this process, as a language model."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ragstone.errors import RagstoneError, UsageError
from ragstone.llm.base import LLMAccessError, LLMRefusedError, Reply, Request
from ragstone.llm.concurrency import run_in_thread
from ragstone.models.catalogue import SERVED

if TYPE_CHECKING:
    from ragstone.models.llama_engine import Gguf, LlamaChat

_PREFIX = "llama/"
# The large judge in this process.
LARGE = "local-large"


def is_llama(model: Any) -> bool:
    """Whether a name is `llama/NAME` or `local-large`: a model in this process."""
    return isinstance(model, str) and (model.strip().startswith(_PREFIX) or model.strip() == LARGE)


def is_trained_judge(model: Any) -> bool:
    """Whether a model is the large judge, here or on a server: it is asked in the form that it was trained in."""
    return isinstance(model, str) and (model.strip() == LARGE or SERVED in model.rpartition("/")[2])


class LlamaLLM:
    """Answers one request after the other, in the order in which they come. `fields` are added to each request."""

    def __init__(self, name: str, chat: LlamaChat, fields: Mapping[str, Any] | None = None) -> None:
        self.name = name
        self.signature = chat.model.identity
        self._chat = chat
        self._fields = dict(fields or {})
        self._turn = asyncio.Lock()

    async def complete(self, request: Request) -> Reply:
        """Return the model's reply."""
        from ragstone.llm.providers.openai import chat_body, read_choice  # noqa: PLC0415  (slow import)

        async with self._turn:
            started = time.perf_counter()
            try:
                data = await run_in_thread(self._chat.ask, {**chat_body(request), **self._fields})
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


def open_large(writes: bool = False) -> LlamaLLM:
    """The large judge; with `writes`, its base model without the adapter, which writes text. Both share one engine."""
    from ragstone.models.large_judge import NAME, open_large_judge, read_large_card  # noqa: PLC0415  (slow import)
    from ragstone.models.llama_engine import WITH_ADAPTER, WITHOUT_ADAPTER  # noqa: PLC0415

    llm = LlamaLLM(f"{_PREFIX}{NAME}", _chat(open_large_judge()), WITHOUT_ADAPTER if writes else WITH_ADAPTER)
    if writes:
        llm.name = f"{_PREFIX}{NAME}-base"
        llm.signature = f"{llm.name}#{read_large_card().base['sha256'][:8]}"
    return llm


def in_process(model: Any) -> Any:
    """The model that a gateway can open: a model in this process becomes an object, other models stay as they are."""
    if is_llama(model):
        return open_large() if model.strip() == LARGE else open_llama(model)
    return model


@lru_cache(maxsize=4)
def _chat(model: Gguf) -> LlamaChat:
    """One engine per file, however often it is opened."""
    from ragstone.models.llama_engine import LlamaChat  # noqa: PLC0415

    return LlamaChat(model)
