"""all-MiniLM-L6-v2 on onnxruntime: vectors of texts and of their word pieces.

A text of up to 256 pieces has the vector that sentence-transformers gives it: the mean of its pieces' vectors, of length 1.
That library cuts what is longer; here it is read in windows, and the mean is over the pieces of all of them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ragstone.models.sessions import open_session, open_tokenizer
from ragstone.models.store import Installed

WIDTH = 384
WINDOW = 256
_BEGIN, _END = 101, 102
_ROOM = WINDOW - 2
# What is beyond so many windows (some 12,000 words) is not read.
MOST_WINDOWS = 64
# Of the pieces' own vectors fewer are kept: whoever compares them does so pair by pair.
MOST_PIECES = 2 * _ROOM
# Pieces with padding in one go: more are no quicker, and take room.
_BATCH = 2048
# The pieces of the vocabulary stand in the order of their frequency from here on; single characters come before.
_FIRST_WORD = 1996


class Pieces(NamedTuple):
    """A text's word pieces: a vector of length 1 each, and how rare each is."""

    vectors: np.ndarray
    rarity: np.ndarray


class _Window(NamedTuple):
    owner: int
    number: int
    tokens: np.ndarray


class MiniLM:
    """Loaded when it is first used; may be used from several threads."""

    def __init__(self, model: Installed) -> None:
        self._model = model
        self._lock = threading.Lock()

    @property
    def signature(self) -> str:
        """What identifies the model."""
        return self._model.signature

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """A row a text, of length 1."""
        totals = np.zeros((len(texts), WIDTH))
        for window, states in self._run(texts, MOST_WINDOWS):
            totals[window.owner] += states.sum(axis=0, dtype=np.float64)
        return _unit(totals).astype(np.float32)

    def encode_pieces(self, texts: Sequence[str]) -> list[Pieces]:
        """For each text its pieces, without the marks of beginning and end."""
        found: list[dict[int, tuple[np.ndarray, np.ndarray]]] = [{} for _ in texts]
        for window, states in self._run(texts, -(-MOST_PIECES // _ROOM)):
            found[window.owner][window.number] = states[1:-1], window.tokens[1:-1]
        return [_join([parts[number] for number in sorted(parts)]) for parts in found]

    def _run(self, texts: Sequence[str], most: int) -> Iterator[tuple[_Window, np.ndarray]]:
        """The states of each window of each text; windows of like length are computed together."""
        with self._lock:
            session, tokenizer = self._loaded
        # Far longer than the windows can hold; so the tokenizer need not read a whole book.
        clipped = [text[: most * WINDOW * 16] for text in texts]
        encoded = tokenizer.encode_batch(clipped, add_special_tokens=False)
        windows = [window for owner, text in enumerate(encoded) for window in _windows(owner, text.ids, most)]
        lengths = np.array([len(window.tokens) for window in windows], dtype=np.int64)
        for batch in _batches(lengths):
            tokens = np.zeros((len(batch), lengths[batch[-1]]), dtype=np.int64)
            for row, place in enumerate(batch):
                tokens[row, : lengths[place]] = windows[place].tokens
            [states] = session.run(None, {"tokens": tokens, "lengths": lengths[batch].astype(np.int32)})
            for row, place in enumerate(batch):
                yield windows[place], states[row, : lengths[place]]

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        return open_session(self._model), open_tokenizer(self._model)


def _windows(owner: int, tokens: Sequence[int], most: int) -> Iterator[_Window]:
    """The tokens in windows of like length, each with the marks of beginning and end."""
    kept = np.array(tokens[: most * _ROOM], dtype=np.int64)
    for number, part in enumerate(np.array_split(kept, max(1, -(-len(kept) // _ROOM)))):
        yield _Window(owner, number, np.concatenate([[_BEGIN], part, [_END]]))


def _batches(lengths: np.ndarray) -> Iterator[np.ndarray]:
    """Places in batches of nearly equal length, each from the shortest to the longest."""
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
    # By Zipf's law a word's frequency falls as its rank; so the logarithm of the rank is its inverse document frequency.
    rarity = np.log(np.maximum(tokens - _FIRST_WORD + 1, 1) + 1.0)
    return Pieces(_unit(states.astype(np.float64)), rarity)


def _unit(rows: np.ndarray) -> np.ndarray:
    unit: np.ndarray = rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), np.finfo(float).tiny)
    return unit
