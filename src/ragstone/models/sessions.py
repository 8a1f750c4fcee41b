"""ONNX models and tokenizers, opened so that a broken file or a missing package is a message and not a traceback."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

from ragstone.errors import MissingExtraError, StopRunError, StorageError
from ragstone.models.store import Installed

Item = TypeVar("Item")
R = TypeVar("R")


def cores() -> int:
    """How many this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def open_session(model: Installed, file: str = "model.onnx", threads: int | None = None) -> Any:
    """An onnxruntime session on the CPU, with as many threads as there are cores."""
    path = model.path(file)
    try:
        import onnxruntime  # noqa: PLC0415  (only who uses a model waits for it)
    except ImportError:
        raise MissingExtraError(f"the model '{model.name}'", "local") from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads or cores()
    # Threads that wait would keep a core busy, which costs more than it gains wherever others work too.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has an exception for each of its states
        raise _unusable(model, file, error) from error


def open_tokenizer(model: Installed, file: str = "tokenizer.json") -> Any:
    """A tokenizer that neither pads nor cuts."""
    path = model.path(file)
    try:
        from tokenizers import Tokenizer  # noqa: PLC0415
    except ImportError:
        raise MissingExtraError(f"the model '{model.name}'", "local") from None
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # it raises the bare Exception
        raise _unusable(model, file, error) from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def or_stop(work: Callable[[list[Item]], R], items: list[Item]) -> R:
    """What is wrong with a model is wrong for all rows: it stops the run."""
    try:
        return work(items)
    except (StorageError, MissingExtraError) as error:
        raise StopRunError(str(error)) from error


def _unusable(model: Installed, file: str, error: Exception) -> StorageError:
    words = " ".join(str(error).split())[:200]
    return StorageError(
        f"the model '{model.name}' cannot be used: {file}: {words}. "
        f"Get it anew with: ragstone models remove {model.name}, then ragstone models pull {model.name}"
    )
