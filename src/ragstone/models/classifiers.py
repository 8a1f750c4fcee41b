"""Models that put texts, or pairs of them, into classes: reward models and those that know hate speech.

An ONNX model runs on onnxruntime, safetensors on torch and transformers. Both are loaded from the store only, never as pickles.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from ragstone.errors import RagstoneError, StorageError
from ragstone.models.gathering import Gatherer
from ragstone.models.sessions import or_stop
from ragstone.models.store import Installed, Store

MOST_TOKENS = 512
_ONNX = ("model.onnx", "onnx/model.onnx")
# Two in one go: so long texts take little room.
_TOGETHER = 2
# Letters of a text that are looked at, for each token that a model reads. The library that cuts texts keeps what it cuts off,
# in all combinations of both texts: of two long ones that would fill any memory.
_LETTERS_A_TOKEN = 10
# What classes of unwelcome texts are called.
_UNWELCOME = ("hate", "toxic", "toxicity", "hateful", "offensive", "label_1")


class Classifier(Protocol):
    """A model with a number for each class, before any softmax or logistic."""

    @property
    def signature(self) -> str:
        """What identifies the model."""
        ...

    @property
    def labels(self) -> list[str]:
        """The names of the classes, in lower case."""
        ...

    @property
    def exclusive(self) -> bool:
        """Whether a text is of one class only."""
        ...

    def logits(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """A row a pair; of a text alone the second is empty."""
        ...


class _Stored:
    """What is told about a model in its config.json."""

    def __init__(self, model: Installed) -> None:
        self._model = model
        self._lock = threading.Lock()

    @property
    def signature(self) -> str:
        """What identifies the model."""
        return self._model.signature

    @property
    def labels(self) -> list[str]:
        """The names of the classes, in lower case."""
        named = self._config.get("id2label") or {"0": "label_0", "1": "label_1"}
        return [str(named[number]).lower() for number in sorted(named, key=int)]

    @property
    def exclusive(self) -> bool:
        """Whether a text is of one class only."""
        return len(self.labels) > 1 and self._config.get("problem_type") != "multi_label_classification"

    @cached_property
    def _config(self) -> dict[str, Any]:
        path = self._model.path("config.json")
        try:
            found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            sorted(found.get("id2label") or (), key=int)
        except (ValueError, AttributeError, TypeError):
            raise StorageError(f"the model '{self._model.name}' cannot be used: its config.json is broken") from None
        return found

    def _clip(self, pair: tuple[str, str]) -> tuple[str, str]:
        most = self._room * _LETTERS_A_TOKEN
        return pair[0][:most], pair[1][:most]

    @property
    def _room(self) -> int:
        """How many tokens the model reads; RoBERTa begins to count at 2."""
        places = int(self._config.get("max_position_embeddings") or MOST_TOKENS + 2)
        return max(8, min(MOST_TOKENS, places - 2))


class OnnxClassifier(_Stored):
    """Loaded when it is first used; may be used from several threads."""

    def logits(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """A row a pair; of a text alone the second is empty."""
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
            raise StorageError(f"the model '{self._model.name}' cannot be used: it asks for {unknown[0]}")
        given = {name: np.array(columns[name], dtype=np.int64) for name in wanted}
        found = np.asarray(session.run(None, given)[0], dtype=np.float64)
        if found.shape != (len(pairs), len(self.labels)):
            raise StorageError(
                f"the model '{self._model.name}' cannot be used: config.json has {len(self.labels)} classes, "
                f"the weights give numbers of shape {found.shape}"
            )
        return found

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        from ragstone.models.sessions import open_session, open_tokenizer  # noqa: PLC0415

        file = next(file for file in _ONNX if file in self._model.files)
        tokenizer = open_tokenizer(self._model)
        tokenizer.enable_truncation(self._room)
        padding = int(self._config.get("pad_token_id") or 0)
        tokenizer.enable_padding(pad_id=padding, pad_token=tokenizer.id_to_token(padding) or "[PAD]")
        return open_session(self._model, file), tokenizer


class TorchClassifier(_Stored):
    """The same through transformers. Loaded when it is first used."""

    def __init__(self, model: Installed) -> None:
        from ragstone.models.torch_scorer import require_torch  # noqa: PLC0415

        require_torch(f"the model '{model.name}'", "Or export it to ONNX and pull that folder.")
        super().__init__(model)

    def logits(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """A row a pair; of a text alone the second is empty."""
        import torch  # noqa: PLC0415

        with self._lock, torch.inference_mode():
            tokenizer, model = self._loaded
            rows = [self._run(tokenizer, model, *self._clip(pair)) for pair in pairs]
        return np.array(rows, dtype=np.float64).reshape(len(pairs), len(self.labels))

    def _run(self, tokenizer: Any, model: Any, first: str, second: str) -> list[float]:
        texts = (first, second) if second else (first,)
        encoded = tokenizer(*texts, return_tensors="pt", truncation=True, max_length=self._room)
        found: list[float] = model(**encoded).logits[0].tolist()
        return found

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        from ragstone.models.torch_scorer import load_from  # noqa: PLC0415

        return load_from(str(self._model.folder), "AutoModelForSequenceClassification")


class LocalRewarder:
    """A reward model for evidence functions."""

    def __init__(self, model: Classifier) -> None:
        self._model = model
        self._gatherer: Gatherer[tuple[str, str], float] = Gatherer(
            lambda pairs: or_stop(self._rate, pairs), most=16, letters=10_000
        )
        self.name = self.signature = model.signature

    async def rate(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """For each question and answer the model's own number, from minus to plus infinity."""
        return await self._gatherer.submit(pairs)

    def _rate(self, pairs: list[tuple[str, str]]) -> list[float]:
        if len(self._model.labels) != 1:
            raise StorageError(f"{self.name} is no reward model: it has {len(self._model.labels)} classes and not one")
        return [float(row[0]) for row in self._model.logits(pairs)]


class LocalToxicity:
    """A model of hate speech for evidence functions."""

    def __init__(self, model: Classifier) -> None:
        self._model = model
        self._gatherer: Gatherer[str, float] = Gatherer(
            lambda texts: or_stop(self._rate, texts), most=16, letters=10_000
        )
        self.name = self.signature = model.signature

    async def rate(self, texts: Sequence[str]) -> list[float]:
        """For each text the probability that it is unwelcome."""
        return await self._gatherer.submit(texts)

    def _rate(self, texts: list[str]) -> list[float]:
        labels = self._model.labels
        place = next((labels.index(name) for name in _UNWELCOME if name in labels), None)
        if place is None and len(labels) > 1:
            raise StorageError(f"{self.name} has no class for hateful or toxic texts: {', '.join(labels[:8])}")
        logits = self._model.logits([(text, "") for text in texts])
        if self._model.exclusive:
            powers = np.exp(logits - logits.max(axis=1, keepdims=True))
            return [float(value) for value in (powers / powers.sum(axis=1, keepdims=True))[:, place]]
        return [float(value) for value in 1.0 / (1.0 + np.exp(-logits[:, place or 0]))]


def open_classifier(name: str, store: Store | None = None) -> Classifier:
    """A model of the store. It is loaded when it is first used; that it is there and whole is checked now."""
    model = (store or Store()).get(name.removeprefix("local/").removeprefix("hf/"))
    return OnnxClassifier(model) if any(file in model.files for file in _ONNX) else TorchClassifier(model)


def find_classifier(name: str, store: Store | None = None) -> Classifier | None:
    """The same where nobody named it: only if it and what runs it are there."""
    try:
        return open_classifier(name, store)
    except RagstoneError:
        return None
