"""Weights as safetensors: a header in JSON, then plain numbers. Nothing in such a file can run."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ragstone.errors import StorageError

_KINDS = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I8": "<i1", "U8": "<u1", "BOOL": "?"}
_HEADER_SIZE = 8
# As the reference implementation has it: a longer header is an attack.
_LONGEST_HEADER = 100_000_000


def read_safetensors(path: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    """The tensors of a file by name, as views of its bytes."""
    content = np.memmap(path, dtype=np.uint8, mode="r") if os.path.getsize(path) else np.zeros(0, np.uint8)
    size = int.from_bytes(content[:_HEADER_SIZE].tobytes(), "little")
    start = _HEADER_SIZE + size
    if len(content) < _HEADER_SIZE or size > _LONGEST_HEADER or start > len(content):
        raise _broken(path, "its header is cut off")
    try:
        header = json.loads(content[_HEADER_SIZE:start].tobytes())
        return {name: _view(content[start:], entry) for name, entry in header.items() if name != "__metadata__"}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _broken(path, str(error)) from None


def _view(data: np.ndarray, entry: Mapping[str, Any]) -> np.ndarray:
    start, end = entry["data_offsets"]
    if not 0 <= start <= end <= len(data):
        raise ValueError("it is shorter than its header says")
    return data[start:end].view(np.dtype(_KINDS[entry["dtype"]])).reshape(entry["shape"])


def _broken(path: str | os.PathLike[str], why: str) -> StorageError:
    return StorageError(f"{Path(path).name} is no whole safetensors file: {why}")
