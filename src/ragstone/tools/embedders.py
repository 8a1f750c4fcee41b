"""Opens the embedder of a run: a local model, a remote one, or the mean of several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ragstone.errors import UsageError
from ragstone.tools.protocols import DryRunTool, Tool

if TYPE_CHECKING:
    from ragstone.models.embedders import Encoder, MiniLM


class Embedding:
    """The embedder options of a run. Local models are loaded once."""

    def __init__(self, named: Any) -> None:
        self._named = named
        self._encoders: dict[str, Encoder] = {}
        parts = named.split("+") if isinstance(named, str) else []
        if any(not part.strip() for part in parts):
            raise UsageError(f"'{named}' names no embedder on one side of a +")
        self._names = [part.strip() for part in parts]

    @property
    def unnamed(self) -> frozenset[str]:
        """The default tools, which no option names."""
        return frozenset({"embedder", "token_embedder"} if self._named is None else {"token_embedder"})

    @property
    def asks(self) -> bool:
        """Whether a model behind the gateway is named."""
        return any(not _is_local(name) for name in self._names)

    def open_embedder(self, open_remote: Callable[[str], Tool], dry_run: bool) -> Tool | None:
        """The embedder that is named, or else the local one if it is installed."""
        if self._named is not None and not self._names:
            return self._named  # type: ignore[no-any-return]
        if members := [self._open(name, open_remote, dry_run) for name in self._names]:
            return members[0] if len(members) == 1 else Ensemble(members)
        return _as_embedder(self._minilm, dry_run) if self._minilm else None

    def open_token_embedder(self, dry_run: bool) -> Tool | None:
        """The user's own embedder if it embeds tokens, or else the local one if it is installed."""
        if not isinstance(self._named, str) and hasattr(self._named, "embed_tokens"):
            return self._named  # type: ignore[no-any-return]
        if self._minilm is None:
            return None
        from ragstone.models.embedders import LocalTokenEmbedder  # noqa: PLC0415

        return DryRunTool(self._minilm.signature) if dry_run else LocalTokenEmbedder(self._minilm)

    def _open(self, name: str, open_remote: Callable[[str], Tool], dry_run: bool) -> Tool:
        if not _is_local(name):
            return open_remote(name)
        if name not in self._encoders:
            from ragstone.models.embedders import open_encoder  # noqa: PLC0415

            self._encoders[name] = open_encoder(name)
        return _as_embedder(self._encoders[name], dry_run)

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
        """One row per text: the concatenated unit vectors of all members."""
        parts = []
        for member in self._members:
            rows = np.asarray(await member.embed(texts), dtype=np.float64)
            parts.append(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.finfo(float).tiny))
        return np.concatenate(parts, axis=1)


def _as_embedder(model: Encoder, dry_run: bool) -> Tool:
    from ragstone.models.embedders import LocalEmbedder  # noqa: PLC0415

    return DryRunTool(model.signature) if dry_run else LocalEmbedder(model)


def _is_local(name: str) -> bool:
    from ragstone.models.embedders import is_local  # noqa: PLC0415

    return is_local(name)
