"""Who turns texts into vectors in a run: a model on this machine, one behind the gateway, or several whose mean counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ragstone.engine.planning import Tool
from ragstone.errors import UsageError

if TYPE_CHECKING:
    from ragstone.models.embedders import Encoder
    from ragstone.models.minilm import MiniLM


class Embedding:
    """What a run was told about embedders. Models on this machine are shared by all who open tools."""

    def __init__(self, named: Any) -> None:
        self._named = named
        self._encoders: dict[str, Encoder] = {}
        parts = named.split("+") if isinstance(named, str) else []
        if any(not part.strip() for part in parts):
            raise UsageError(f"'{named}' names no embedder on one side of a +")
        self._names = [part.strip() for part in parts]

    @property
    def unnamed(self) -> frozenset[str]:
        """The tools that are there though nobody named them."""
        return frozenset({"embedder", "token_embedder"} if self._named is None else {"token_embedder"})

    @property
    def asks(self) -> bool:
        """Whether a model behind the gateway is named."""
        return any(not _is_local(name) for name in self._names)

    def open(self, open_remote: Callable[[str], Tool], quoting: bool) -> Iterator[tuple[str, Tool]]:
        """The tools that there are."""
        if self._named is not None and not self._names:
            yield "embedder", self._named
        elif found := [self._open(name, open_remote, quoting) for name in self._names]:
            yield "embedder", found[0] if len(found) == 1 else Ensemble(found)
        elif self._minilm:
            yield "embedder", self._local(self._minilm, quoting)
        if not isinstance(self._named, str) and hasattr(self._named, "embed_tokens"):
            yield "token_embedder", self._named
        elif self._minilm:
            from ragstone.models.embedders import LocalTokenEmbedder  # noqa: PLC0415

            yield "token_embedder", Unasked(self._minilm.signature) if quoting else LocalTokenEmbedder(self._minilm)

    def _open(self, name: str, open_remote: Callable[[str], Tool], quoting: bool) -> Tool:
        if not _is_local(name):
            return open_remote(name)
        if name not in self._encoders:
            from ragstone.models.embedders import open_encoder  # noqa: PLC0415

            self._encoders[name] = open_encoder(name)
        return self._local(self._encoders[name], quoting)

    def _local(self, model: Encoder, quoting: bool) -> Tool:
        from ragstone.models.embedders import LocalEmbedder  # noqa: PLC0415

        return Unasked(model.signature) if quoting else LocalEmbedder(model)

    @cached_property
    def _minilm(self) -> MiniLM | None:
        from ragstone.models.embedders import find_minilm  # noqa: PLC0415  (only its files are looked at)

        return find_minilm()


class Ensemble:
    """Several embedders as one: the cosine of two texts is the mean of their cosines."""

    def __init__(self, members: Sequence[Any]) -> None:
        self._members = members
        self.name = self.signature = "+".join(member.signature for member in members)

    async def embed(self, texts: Sequence[str]) -> np.ndarray:
        """A row a text: the vectors of all members, each of length 1, one behind the other."""
        parts = []
        for member in self._members:
            rows = np.asarray(await member.embed(texts), dtype=np.float64)
            parts.append(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.finfo(float).tiny))
        return np.concatenate(parts, axis=1)


class Unasked:
    """Stands for a local model while a run is only quoted: it costs nothing, and nothing is computed."""

    def __init__(self, signature: str) -> None:
        self.name = self.signature = signature

    async def embed(self, texts: Sequence[str]) -> np.ndarray:
        """The same row for every text."""
        return np.ones((len(texts), 1))

    async def embed_tokens(self, texts: Sequence[str]) -> list[tuple[np.ndarray, np.ndarray]]:
        """One token a text."""
        return [(np.ones((1, 1)), np.ones(1)) for _ in texts]


def _is_local(name: str) -> bool:
    from ragstone.models.embedders import is_local  # noqa: PLC0415

    return is_local(name)
