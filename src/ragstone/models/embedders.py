"""Local embedders: `local`, `local/minilm`, `local/wordllama`, `sentence-transformers/…`."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from functools import cached_property
from importlib.util import find_spec
from typing import Any, NamedTuple, Protocol

import numpy as np

from ragstone.errors import MissingExtraError, RagstoneError, StorageError, UnknownNameError, UsageError
from ragstone.models.bert_graph import read_safetensors
from ragstone.models.runtime import Gatherer, open_session, open_tokenizer, or_stop
from ragstone.models.store import Installed, Store
from ragstone.models.word_pieces import WordPieces

_MODELS = ("minilm", "wordllama")
NAMES = ("local", *(f"local/{model}" for model in _MODELS))
_TORCH = "sentence-transformers/"


class Encoder(Protocol):
    """A model that computes embeddings synchronously."""

    @property
    def signature(self) -> str:
        """The string that identifies the model."""
        ...

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return one row per text."""
        ...


class LocalEmbedder:
    """Embeds texts in micro-batches."""

    def __init__(self, model: Encoder) -> None:
        self._gatherer: Gatherer[str, np.ndarray] = Gatherer(lambda texts: list(or_stop(model.encode, texts)))
        self.name = self.signature = model.signature

    async def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return one row per text."""
        rows = await self._gatherer.submit(texts)
        return np.stack(rows) if rows else np.zeros((0, 0), dtype=np.float32)


class LocalTokenEmbedder:
    """Embeds the word pieces of texts in micro-batches."""

    def __init__(self, model: MiniLM) -> None:
        # Many vectors per text, so fewer texts are kept.
        self._gatherer: Gatherer[str, Pieces] = Gatherer(lambda texts: or_stop(model.encode_pieces, texts), 64, 256)
        self.name = self.signature = model.signature

    async def embed_tokens(self, texts: Sequence[str]) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the vectors of the pieces and the rarity of each piece, per text."""
        return [(pieces.vectors, pieces.rarity) for pieces in await self._gatherer.submit(texts)]


def is_local(name: str) -> bool:
    """Return whether an embedder runs on this machine."""
    return name in ("local", *_MODELS) or name.startswith(("local/", _TORCH))


def open_encoder(name: str, store: Store | None = None) -> Encoder:
    """Open a model by name. Its files are checked now and loaded at first use."""
    if name.startswith(_TORCH):
        return SentenceTransformers(name)
    if name in _MODELS:
        name = f"local/{name}"
    if name not in NAMES:
        raise UnknownNameError("local embedder", name, NAMES, f"Choose from: {', '.join(NAMES)}, {_TORCH}NAME.")
    store = store or Store()
    default = "minilm" if store.find("minilm") or not store.find("wordllama") else "wordllama"
    chosen = name.partition("/")[2] or default
    model = store.get(chosen)
    if find_spec("tokenizers" if chosen == "wordllama" else "onnxruntime") is None:
        raise MissingExtraError("a local embedder", "local")
    return WordLlama(model) if chosen == "wordllama" else MiniLM(model)


def find_minilm(store: Store | None = None) -> MiniLM | None:
    """Return the default model, or None if it or its runtime is missing."""
    try:
        return open_encoder("local/minilm", store)  # type: ignore[return-value]
    except RagstoneError:
        return None


WIDTH = 384
WINDOW = 256
_BEGIN, _END = 101, 102
_ROOM = WINDOW - 2
# Text after this many windows (about 12,000 words) is not read.
_MAX_WINDOWS = 64
# Fewer for token vectors, which are compared pair by pair.
MOST_PIECES = 2 * _ROOM
# Pieces per batch, with padding; larger batches are not faster.
_BATCH = 2048
# From here on the vocabulary is ordered by frequency; single characters come before.
_FIRST_WORD = 1996


class Pieces(NamedTuple):
    """The word pieces of a text: unit vectors and the rarity of each piece."""

    vectors: np.ndarray
    rarity: np.ndarray


class _Window(NamedTuple):
    owner: int
    number: int
    tokens: np.ndarray


class MiniLM:
    """all-MiniLM-L6-v2 on onnxruntime. Loaded at first use; thread-safe.

    A text of up to 256 word pieces gets the vector of sentence-transformers: the normalised mean of its pieces' vectors. That
    library truncates longer texts; here they are read in windows, and the mean is over the pieces of all windows.
    """

    def __init__(self, model: Installed) -> None:
        self._model = model
        self.signature = model.signature
        self._lock = threading.Lock()

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return one unit vector per text."""
        totals = np.zeros((len(texts), WIDTH))
        for window, states in self._run(texts, _MAX_WINDOWS):
            totals[window.owner] += states.sum(axis=0, dtype=np.float64)
        return _unit(totals).astype(np.float32)

    def encode_pieces(self, texts: Sequence[str]) -> list[Pieces]:
        """Return the pieces of each text, without start and end tokens."""
        windows: list[dict[int, tuple[np.ndarray, np.ndarray]]] = [{} for _ in texts]
        for window, states in self._run(texts, -(-MOST_PIECES // _ROOM)):
            windows[window.owner][window.number] = states[1:-1], window.tokens[1:-1]
        return [_join([parts[number] for number in sorted(parts)]) for parts in windows]

    def _run(self, texts: Sequence[str], most: int) -> Iterator[tuple[_Window, np.ndarray]]:
        """Yield the states of each window of each text; windows of similar length are batched."""
        with self._lock:
            session, tokenizer = self._loaded
        # Cut before tokenizing; much longer than the windows.
        clipped = [text[: most * WINDOW * 16] for text in texts]
        windows = [
            window for owner, text in enumerate(clipped) for window in _windows(owner, tokenizer.encode(text), most)
        ]
        lengths = np.array([len(window.tokens) for window in windows], dtype=np.int64)
        for batch in _batches(lengths):
            tokens = np.zeros((len(batch), lengths[batch[-1]]), dtype=np.int64)
            for row, index in enumerate(batch):
                tokens[row, : lengths[index]] = windows[index].tokens
            [states] = session.run(None, {"tokens": tokens, "lengths": lengths[batch].astype(np.int32)})
            for row, index in enumerate(batch):
                yield windows[index], states[row, : lengths[index]]

    @cached_property
    def _loaded(self) -> tuple[Any, WordPieces]:
        return open_session(self._model), WordPieces.open(self._model)


def _windows(owner: int, tokens: Sequence[int], most: int) -> Iterator[_Window]:
    """Split the tokens into windows of similar length, with start and end tokens."""
    kept = np.array(tokens[: most * _ROOM], dtype=np.int64)
    for number, part in enumerate(np.array_split(kept, max(1, -(-len(kept) // _ROOM)))):
        yield _Window(owner, number, np.concatenate([[_BEGIN], part, [_END]]))


def _batches(lengths: np.ndarray) -> Iterator[np.ndarray]:
    """Yield indices in batches of similar length, shortest first."""
    order = np.argsort(lengths, kind="stable")
    start = 0
    while start < len(order):
        stop = start + 1
        while stop < len(order) and lengths[order[stop]] * (stop + 1 - start) <= _BATCH:
            stop += 1
        yield order[start:stop]
        start = stop


def _join(parts: Sequence[tuple[np.ndarray, np.ndarray]]) -> Pieces:
    states = np.concatenate([states for states, _ in parts])[:MOST_PIECES]
    tokens = np.concatenate([tokens for _, tokens in parts])[:MOST_PIECES]
    # By Zipf's law frequency is inverse to rank, so the log of the rank approximates inverse document frequency.
    rarity = np.log(np.maximum(tokens - _FIRST_WORD + 1, 1) + 1.0)
    return Pieces(_unit(states.astype(np.float64)), rarity)


def _unit(rows: np.ndarray) -> np.ndarray:
    unit: np.ndarray = rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), np.finfo(float).tiny)
    return unit


_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
# About as much as minilm reads.
_MAX_CHARACTERS = 200_000


class WordLlama:
    """Averaged word vectors, read from the package wordllama without importing it. Loaded at first use; thread-safe."""

    def __init__(self, model: Installed) -> None:
        self._model = model
        self._lock = threading.Lock()

    @property
    def signature(self) -> str:
        """The string that identifies the model."""
        from importlib.metadata import version  # noqa: PLC0415

        return f"local/wordllama#{version('wordllama')}"

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return one unit vector per text, or zeros for a text without tokens."""
        with self._lock:
            vectors, tokenizer = self._loaded
        encoded = tokenizer.encode_batch([text[:_MAX_CHARACTERS] for text in texts], add_special_tokens=False)
        rows = np.zeros((len(texts), vectors.shape[1]))
        for row, text in enumerate(encoded):
            if text.ids:
                rows[row] = vectors[text.ids].mean(axis=0, dtype=np.float64)
        return _unit(rows).astype(np.float32)

    @cached_property
    def _loaded(self) -> tuple[np.ndarray, Any]:
        [vectors] = read_safetensors(self._model.path(_WEIGHTS)).values()
        return vectors.astype(np.float32), open_tokenizer(self._model, _TOKENIZER)


class SentenceTransformers:
    """Any model of sentence-transformers, loaded at first use from the hub's cache or the hub."""

    def __init__(self, name: str) -> None:
        if find_spec("sentence_transformers") is None:
            raise UsageError(
                f"{name} needs sentence-transformers and torch: pip install sentence-transformers. "
                "Otherwise use --embedder local"
            )
        self.signature = name
        self._lock = threading.Lock()

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return one unit vector per text."""
        with self._lock:
            rows = self._loaded.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(rows, dtype=np.float32)

    @cached_property
    def _loaded(self) -> Any:
        import sentence_transformers  # noqa: PLC0415

        try:
            return sentence_transformers.SentenceTransformer(self.signature, model_kwargs={"use_safetensors": True})
        except Exception as error:  # torch and the hub client have many errors
            words = " ".join(str(error).split())[:200]
            raise StorageError(f"{self.signature} cannot be loaded: {words}") from error
