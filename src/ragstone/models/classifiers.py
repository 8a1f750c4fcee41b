"""Classifiers of texts or pairs of texts: reward models and hate speech models.

ONNX models run on onnxruntime, safetensors on torch and transformers. Both are loaded from the store, never from pickles.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np

from ragstone.errors import RagstoneError, StorageError
from ragstone.models.runtime import Gatherer, load_transformer, open_session, open_tokenizer, or_stop, require_torch
from ragstone.models.store import Installed, Store

Item = TypeVar("Item", bound=str | tuple[str, ...])

MOST_TOKENS = 512
_ONNX = ("model.onnx", "onnx/model.onnx")
# Pairs per batch; small, so that long texts need little memory.
_TOGETHER = 2
# Characters that are read per token of the model's input. The tokenizer keeps what it truncates, in all combinations of both
# texts, which would exhaust the memory for two long texts.
_CHARACTERS_PER_TOKEN = 10
# Labels of the class of hateful or toxic texts.
_UNWELCOME = ("hate", "toxic", "toxicity", "hateful", "offensive", "label_1")


class Classifier:
    """Base of the classifiers: a stored model with its config.json."""

    def __init__(self, model: Installed) -> None:
        self._model = model
        self.signature = model.signature
        self._lock = threading.Lock()

    @property
    def labels(self) -> list[str]:
        """The class names, in lower case."""
        named = self._config.get("id2label") or {"0": "label_0", "1": "label_1"}
        return [str(named[number]).lower() for number in sorted(named, key=int)]

    @property
    def exclusive(self) -> bool:
        """Whether a text belongs to exactly one class."""
        return len(self.labels) > 1 and self._config.get("problem_type") != "multi_label_classification"

    def logits(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """Return one row per pair with one logit per class; the second text may be empty."""
        raise NotImplementedError

    @cached_property
    def _config(self) -> dict[str, Any]:
        path = self._model.path("config.json")
        try:
            config: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            sorted(config.get("id2label") or (), key=int)
        except (ValueError, AttributeError, TypeError):
            raise StorageError(f"the model '{self._model.name}' cannot be used: its config.json is broken") from None
        return config

    def _clip(self, pair: tuple[str, str]) -> tuple[str, str]:
        most = self._room * _CHARACTERS_PER_TOKEN
        return pair[0][:most], pair[1][:most]

    @property
    def _room(self) -> int:
        """The maximum number of tokens; RoBERTa counts positions from 2."""
        positions = int(self._config.get("max_position_embeddings") or MOST_TOKENS + 2)
        return max(8, min(MOST_TOKENS, positions - 2))


class OnnxClassifier(Classifier):
    """A classifier on onnxruntime. Loaded at first use; thread-safe."""

    def logits(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """Return one row per pair; the second text may be empty."""
        with self._lock:
            session, tokenizer = self._loaded
        rows = [
            self._run(session, tokenizer, pairs[start : start + _TOGETHER]) for start in range(0, len(pairs), _TOGETHER)
        ]
        return np.concatenate(rows) if rows else np.zeros((0, len(self.labels)))

    def _run(self, session: Any, tokenizer: Any, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        clipped = [self._clip(pair) for pair in pairs]
        encoded = tokenizer.encode_batch([pair if pair[1] else pair[0] for pair in clipped])
        columns = {
            "input_ids": [text.ids for text in encoded],
            "attention_mask": [text.attention_mask for text in encoded],
            "token_type_ids": [text.type_ids for text in encoded],
        }
        wanted = {item.name for item in session.get_inputs()}
        if unknown := sorted(wanted - columns.keys()):
            raise StorageError(f"the model '{self._model.name}' cannot be used: it needs the input {unknown[0]}")
        feeds = {name: np.array(columns[name], dtype=np.int64) for name in wanted}
        logits = np.asarray(session.run(None, feeds)[0], dtype=np.float64)
        if logits.shape != (len(pairs), len(self.labels)):
            raise StorageError(
                f"the model '{self._model.name}' cannot be used: config.json has {len(self.labels)} classes, "
                f"the weights return shape {logits.shape}"
            )
        return logits

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        file = next(file for file in _ONNX if file in self._model.files)
        tokenizer = open_tokenizer(self._model)
        tokenizer.enable_truncation(self._room)
        padding = int(self._config.get("pad_token_id") or 0)
        tokenizer.enable_padding(pad_id=padding, pad_token=tokenizer.id_to_token(padding) or "[PAD]")
        return open_session(self._model, file), tokenizer


class TorchClassifier(Classifier):
    """A classifier on transformers. Loaded at first use."""

    def __init__(self, model: Installed) -> None:
        require_torch(f"the model '{model.name}'", "Or export it to ONNX and pull that folder.")
        super().__init__(model)

    def logits(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """Return one row per pair; the second text may be empty."""
        import torch  # noqa: PLC0415

        with self._lock, torch.inference_mode():
            tokenizer, model = self._loaded
            rows = [self._run(tokenizer, model, *self._clip(pair)) for pair in pairs]
        return np.array(rows, dtype=np.float64).reshape(len(pairs), len(self.labels))

    def _run(self, tokenizer: Any, model: Any, first: str, second: str) -> list[float]:
        texts = (first, second) if second else (first,)
        encoded = tokenizer(*texts, return_tensors="pt", truncation=True, max_length=self._room)
        logits: list[float] = model(**encoded).logits[0].tolist()
        return logits

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        return load_transformer(str(self._model.folder), "AutoModelForSequenceClassification")


class _LocalRater(Generic[Item]):
    """Rates items in micro-batches with a classifier."""

    def __init__(self, model: Classifier) -> None:
        self._model = model
        self._gatherer: Gatherer[Item, float] = Gatherer(
            lambda items: or_stop(self._rate, items), most=16, letters=10_000
        )
        self.name = self.signature = model.signature

    async def rate(self, items: Sequence[Item]) -> list[float]:
        """Return one number per item."""
        return await self._gatherer.submit(items)

    def _rate(self, items: list[Item]) -> list[float]:
        raise NotImplementedError


class LocalRewarder(_LocalRater[tuple[str, str]]):
    """A reward model: the unbounded reward of each (question, answer) pair."""

    def _rate(self, items: list[tuple[str, str]]) -> list[float]:
        if len(self._model.labels) != 1:
            raise StorageError(
                f"{self.name} is not a reward model: it has {len(self._model.labels)} classes instead of 1"
            )
        return [float(row[0]) for row in self._model.logits(items)]


class LocalToxicity(_LocalRater[str]):
    """A hate speech model: the probability that each text is hateful or toxic."""

    def _rate(self, items: list[str]) -> list[float]:
        labels = self._model.labels
        position = next((labels.index(name) for name in _UNWELCOME if name in labels), None)
        if position is None and len(labels) > 1:
            raise StorageError(f"{self.name} has no class for hateful or toxic texts: {', '.join(labels[:8])}")
        logits = self._model.logits([(text, "") for text in items])
        if self._model.exclusive:
            powers = np.exp(logits - logits.max(axis=1, keepdims=True))
            return [float(value) for value in (powers / powers.sum(axis=1, keepdims=True))[:, position]]
        return [float(value) for value in 1.0 / (1.0 + np.exp(-logits[:, position or 0]))]


def open_classifier(name: str, store: Store | None = None) -> Classifier:
    """Open a model of the store. Its files are checked now and loaded at first use."""
    model = (store or Store()).get(name.removeprefix("local/").removeprefix("hf/"))
    return OnnxClassifier(model) if any(file in model.files for file in _ONNX) else TorchClassifier(model)


def find_classifier(name: str, store: Store | None = None) -> Classifier | None:
    """Like `open_classifier`, but return None if the model or its runtime is missing."""
    try:
        return open_classifier(name, store)
    except RagstoneError:
        return None
