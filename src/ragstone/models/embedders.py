"""From names to embedders that run here: `local`, `local/minilm`, `local/wordllama`, `sentence-transformers/…`."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ragstone.errors import MissingExtraError, RagstoneError, UnknownNameError
from ragstone.models.gathering import Gatherer
from ragstone.models.sessions import or_stop
from ragstone.models.store import Store

if TYPE_CHECKING:
    from ragstone.models.minilm import MiniLM, Pieces

_MODELS = ("minilm", "wordllama")
NAMES = ("local", *(f"local/{model}" for model in _MODELS))
_TORCH = "sentence-transformers/"


class Encoder(Protocol):
    """A model that turns texts into vectors here and now."""

    @property
    def signature(self) -> str:
        """What identifies the model."""
        ...

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """A row a text."""
        ...


class LocalEmbedder:
    """An embedder for evidence functions: rows that wait at the same time are encoded together."""

    def __init__(self, model: Encoder) -> None:
        self._gatherer: Gatherer[str, np.ndarray] = Gatherer(lambda texts: list(or_stop(model.encode, texts)))
        self.name = self.signature = model.signature

    async def embed(self, texts: Sequence[str]) -> np.ndarray:
        """A row a text."""
        rows = await self._gatherer.submit(texts)
        return np.stack(rows) if rows else np.zeros((0, 0), dtype=np.float32)


class LocalTokenEmbedder:
    """The same for the pieces of texts."""

    def __init__(self, model: MiniLM) -> None:
        # Many vectors a text: fewer texts are kept.
        self._gatherer: Gatherer[str, Pieces] = Gatherer(lambda texts: or_stop(model.encode_pieces, texts), 64, 256)
        self.name = self.signature = model.signature

    async def embed_tokens(self, texts: Sequence[str]) -> list[tuple[np.ndarray, np.ndarray]]:
        """For each text the vectors of its pieces, and how rare each piece is."""
        return [(pieces.vectors, pieces.rarity) for pieces in await self._gatherer.submit(texts)]


def is_local(name: str) -> bool:
    """Whether an embedder of that name runs here."""
    return name in ("local", *_MODELS) or name.startswith(("local/", _TORCH))


def open_encoder(name: str, store: Store | None = None) -> Encoder:
    """The model of that name. It is loaded when it is first used; that it is there and whole is checked now."""
    if name.startswith(_TORCH):
        from ragstone.models.torch_embedder import SentenceTransformers  # noqa: PLC0415

        return SentenceTransformers(name)
    if name in _MODELS:
        name = f"local/{name}"
    if name not in NAMES:
        raise UnknownNameError("local embedder", name, NAMES, f"There are: {', '.join(NAMES)}, {_TORCH}NAME.")
    store = store or Store()
    chosen = name.partition("/")[2] or (
        "minilm" if store.find("minilm") or not store.find("wordllama") else "wordllama"
    )
    model = store.get(chosen)
    _require("tokenizers")
    if chosen == "wordllama":
        from ragstone.models.static import WordLlama  # noqa: PLC0415

        return WordLlama(model)
    from ragstone.models.minilm import MiniLM  # noqa: PLC0415

    _require("onnxruntime")
    return MiniLM(model)


def find_minilm(store: Store | None = None) -> MiniLM | None:
    """The model that is used without being named, if it and its engine are there."""
    try:
        found = open_encoder("local/minilm", store)
    except RagstoneError:
        return None
    return found  # type: ignore[return-value]


def _require(package: str) -> None:
    if find_spec(package) is None:
        raise MissingExtraError("a local embedder", "local")
