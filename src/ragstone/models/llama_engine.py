"""GGUF models on llama.cpp in this process: finding the file, starting the engine, asking a chat model.

The engine keeps what it has read: a request that begins like the one before is read from where they differ.
"""

from __future__ import annotations

import hashlib
import os
import threading
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ragstone.errors import MissingExtraError, StorageError, UsageError
from ragstone.models.runtime import cores
from ragstone.models.store import Store

PREFIX = "llama/"
THREADS_VARIABLE = "RAGSTONE_LLAMA_THREADS"
# Tokens of prompt and reply together.
CHAT_CONTEXT = 8192
# Of the large judge, which reads long texts in windows.
ADAPTER_CONTEXT = 4096
# Two beginnings are kept: judges ask two kinds of questions in turns.
CHAT_SLOTS = 2
# Fields of a request to a model with an adapter. Each way has a slot of its own: llama.cpp may reuse what a slot has read in
# the other way, which gives other probabilities. All three verdicts are among the 64 most likely tokens.
WITH_ADAPTER = {"id_slot": 0, "lora": [{"id": 0, "scale": 1.0}], "top_logprobs": 64}
WITHOUT_ADAPTER = {"id_slot": 1, "lora": [{"id": 0, "scale": 0.0}]}
_EDGE = 1 << 20


@dataclass(frozen=True)
class Gguf:
    """A model file, and the LoRA adapter that is applied to it. `identity` is its name with a part of its checksum."""

    name: str
    path: Path
    identity: str
    adapter: Path | None = None


def find_gguf(name: str, store: Store | None = None) -> Gguf:
    """Find a model: the path of a .gguf file, or a model of the store by name or hub repository."""
    path = Path(name).expanduser()
    if path.suffix == ".gguf" and path.is_file():
        return Gguf(path.stem, path, f"{PREFIX}{path.stem}#{_fingerprint(path)}")
    if path.suffix == ".gguf" and path.parent.is_dir() and ":" not in name:
        raise UsageError(f"there is no file {name}")
    model = (store or Store()).get(name)
    files = [file for file in model.files if file.endswith(".gguf")]
    if not files:
        raise UsageError(f"'{name}' is not a GGUF model. `ragstone models list` shows some.")
    return Gguf(name, model.path(files[0]), f"{PREFIX}{name}#{model.files[files[0]][1][:8]}")


def _fingerprint(path: Path) -> str:
    """Of the size, the beginning and the end: the whole file would take seconds."""
    size = path.stat().st_size
    with open(path, "rb") as stream:
        digest = hashlib.sha256(str(size).encode() + stream.read(_EDGE))
        stream.seek(max(0, size - _EDGE))
        digest.update(stream.read(_EDGE))
    return digest.hexdigest()[:8]


def require_engine(name: str) -> None:
    """Raise if xllamacpp is not installed."""
    if find_spec("xllamacpp") is None:
        raise MissingExtraError(f"the model '{name}'", "local")


def default_threads() -> int:
    """RAGSTONE_LLAMA_THREADS, or half of the cores that this process may use; at least 1."""
    if text := os.environ.get(THREADS_VARIABLE):
        if not text.isdecimal() or int(text) < 1:
            raise UsageError(f"{THREADS_VARIABLE} must be a whole number from 1, not '{text}'")
        return int(text)
    return max(1, cores() // 2)


def start_engine(name: str, path: Path, context: int, threads: int, slots: int = 1, adapter: Path | None = None) -> Any:
    """Load a model; return the server of llama.cpp. Each slot has its own context and keeps what it has read.

    A build for CUDA, Metal or Vulkan puts all layers on the GPU, which is llama.cpp's default.
    """
    try:
        import xllamacpp  # noqa: PLC0415  (slow to import)
    except ImportError:
        raise MissingExtraError(f"the model '{name}'", "local") from None
    settings = xllamacpp.CommonParams()
    settings.model.path = str(path)
    settings.port = 0
    settings.n_ctx = context * slots
    settings.n_parallel = slots
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = threads
    settings.cache_ram_mib = 0
    settings.warmup = False
    settings.verbosity = 0
    if adapter:
        lora = xllamacpp.CommonAdapterLoraInfo()
        lora.path, lora.scale = str(adapter), 1.0
        settings.lora_adapters = [lora]
    try:
        return xllamacpp.Server(settings)
    except Exception as error:
        raise StorageError(
            f"the model '{name}' cannot be used: {path.name}: {error}. "
            f"Fetch it again: ragstone models remove {name}, then ragstone models pull {name}"
        ) from error


class LlamaChat:
    """A chat model on llama.cpp, loaded at first use. One request at a time."""

    def __init__(self, model: Gguf, threads: int | None = None) -> None:
        require_engine(model.name)
        self.model = model
        self._threads = threads or default_threads()
        self._lock = threading.Lock()
        self._engine: Any = None

    def ask(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the reply to a chat completion in OpenAI's format; it may be an error."""
        with self._lock:
            if self._engine is None:
                model = self.model
                context = ADAPTER_CONTEXT if model.adapter else CHAT_CONTEXT
                self._engine = start_engine(model.name, model.path, context, self._threads, CHAT_SLOTS, model.adapter)
            reply: dict[str, Any] = self._engine.handle_chat_completions({**body, "cache_prompt": True})
            return reply

    def close(self) -> None:
        """Free the memory."""
        with self._lock:
            self._engine = None
