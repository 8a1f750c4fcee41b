"""The chat model of the slow tests: Qwen2.5-Coder-1.5B in this process on one thread, or a server.

The file comes from RAGSTONE_TEST_GGUF, the path of a .gguf file, or from the store of models (`make qwen15`).
`RAGSTONE_TEST_LLM=base_url,model` names a server instead, for example http://localhost:8080/v1,qwen.
"""

import os
import time
from functools import cache
from pathlib import Path

import pytest

from ragstone.models.llama_engine import Gguf, LlamaChat
from ragstone.models.store import Store
from tests.conftest import MODELS

NAME = "qwen2.5-coder-1.5b"
SERVER, FIGURES, THREADS = "RAGSTONE_TEST_LLM", "RAGSTONE_TEST_FIGURES", "RAGSTONE_LLAMA_THREADS"
# Tokens of a prompt per second. Below it these tests would take an hour; a laptop of today reads twenty or more.
LEAST_SPEED = 12.0


def threads():
    return int(os.environ.get(THREADS, "1"))


def find_chat_model():
    pytest.importorskip("xllamacpp", reason="there is no xllamacpp for this machine")
    if named := os.environ.get("RAGSTONE_TEST_GGUF"):
        return Path(named)
    found = Store(MODELS).find(NAME)
    if found is None:
        pytest.skip(f"the model is not there: make qwen15, or set RAGSTONE_TEST_GGUF (a .gguf file of {NAME})")
    return found.path(next(file for file in found.files if file.endswith(".gguf")))


@cache
def speed(path):
    """Tokens of a prompt that the model reads in a second."""
    chat = LlamaChat(Gguf("speed", path, "llama/speed"), threads=threads())
    chat.ask(_short("Say yes."))  # loads the file
    started = time.perf_counter()
    usage = chat.ask(_short("Boats, dogs, nets and oars. " * 12))["usage"]
    seconds = time.perf_counter() - started
    chat.close()
    return (usage["prompt_tokens"] - usage["prompt_tokens_details"]["cached_tokens"]) / seconds


def _short(text):
    return {"messages": [{"role": "user", "content": text}], "max_tokens": 1, "temperature": 0}


def require_speed():
    """Skip where a test would take hours; RAGSTONE_TEST_FIGURES, the file for the table, asks for it nevertheless."""
    if os.environ.get(SERVER) or os.environ.get(FIGURES):
        return
    if (found := speed(find_chat_model())) < LEAST_SPEED:
        pytest.skip(
            f"the model reads {found:.1f} tokens/s here, too few ({LEAST_SPEED:.0f}); set {FIGURES}=FILE to wait"
        )


def chat_model():
    """The model and the address of its server, if it has one."""
    if named := os.environ.get(SERVER):
        address, _, name = named.partition(",")
        assert name, f"{SERVER} must be base_url,model"
        return (name if "/" in name else f"llamacpp/{name}"), address
    return f"llama/{find_chat_model()}", None
