"""wordllama's word vectors, read from its package without importing it: a text's vector is the mean of its tokens'."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ragstone.models.safetensors import read_safetensors
from ragstone.models.sessions import open_tokenizer
from ragstone.models.store import Installed

_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
# As many tokens as minilm reads of a text.
_MOST_LETTERS = 200_000


class WordLlama:
    """Loaded when it is first used; may be used from several threads."""

    def __init__(self, model: Installed) -> None:
        self._model = model
        self._lock = threading.Lock()

    @property
    def signature(self) -> str:
        """What identifies the model."""
        from importlib.metadata import version  # noqa: PLC0415

        return f"local/wordllama#{version('wordllama')}"

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """A row a text, of length 1; a text without tokens is all zeros."""
        with self._lock:
            vectors, tokenizer = self._loaded
        encoded = tokenizer.encode_batch([text[:_MOST_LETTERS] for text in texts], add_special_tokens=False)
        rows = np.zeros((len(texts), vectors.shape[1]))
        for row, text in enumerate(encoded):
            if text.ids:
                rows[row] = vectors[text.ids].mean(axis=0, dtype=np.float64)
        rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.finfo(float).tiny)
        return rows.astype(np.float32)

    @cached_property
    def _loaded(self) -> tuple[np.ndarray, Any]:
        [vectors] = read_safetensors(self._model.path(_WEIGHTS)).values()
        return vectors.astype(np.float32), open_tokenizer(self._model, _TOKENIZER)
