"""Any model of sentence-transformers, where that library and torch are installed."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from typing import Any

import numpy as np

from ragstone.errors import StorageError, UsageError


class SentenceTransformers:
    """Loaded when it is first used, from the hub's cache or the hub."""

    def __init__(self, name: str) -> None:
        if find_spec("sentence_transformers") is None:
            raise UsageError(
                f"{name} needs sentence-transformers and torch: pip install sentence-transformers. "
                "Without them: --embedder local"
            )
        self._name = name
        self._lock = threading.Lock()

    @property
    def signature(self) -> str:
        """The model's name."""
        return self._name

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """A row a text, of length 1."""
        with self._lock:
            found = self._loaded.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(found, dtype=np.float32)

    @cached_property
    def _loaded(self) -> Any:
        import sentence_transformers  # noqa: PLC0415

        try:
            return sentence_transformers.SentenceTransformer(self._name, model_kwargs={"use_safetensors": True})
        except Exception as error:  # whatever the hub's client and torch raise
            words = " ".join(str(error).split())[:200]
            raise StorageError(f"{self._name} cannot be loaded: {words}") from error
