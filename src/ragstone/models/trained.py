"""Judges trained on a user's labels, in the model store. They contain numbers and words only, no code."""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ragstone.errors import StorageError, UnknownNameError, UsageError
from ragstone.models.store import Store
from ragstone.stats.logit import predict_logit

PREFIX = "trained/"
_CARD, _WEIGHTS = "judge.json", "weights.npz"
# Version of the file layout.
_LAYOUT = 1
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")


@dataclass(frozen=True)
class TrainedCard:
    """A trained judge: its features, inputs, label scale, underlying models and quality.

    `folds` maps each training question to the fold that left it out, so that no question is judged by a model trained on it.
    """

    name: str
    features: tuple[str, ...]
    uses: tuple[str, ...]
    models: Mapping[str, str]
    low: float
    high: float
    labels: int
    folds: Mapping[str, int]
    figures: Mapping[str, Any]


@dataclass(frozen=True)
class Trained:
    """The card and the weights per fold (one row per fold, intercept first) over scaled features."""

    card: TrainedCard
    centres: np.ndarray
    scales: np.ndarray
    weights: np.ndarray

    @property
    def signature(self) -> str:
        """The name with the first characters of the checksum of the weights."""
        parts = (self.centres, self.scales, self.weights)
        content = b"".join(np.ascontiguousarray(part, dtype="<f8").tobytes() for part in parts)
        return f"{PREFIX}{self.card.name}#{hashlib.sha256(content).hexdigest()[:8]}"

    def predict(self, question: str, features: np.ndarray) -> float:
        """Return the predicted label as a share of the scale: by the fold that left the question out, else the mean."""
        scaled = ((features - self.centres) / self.scales)[None, :]
        predictions = np.array([float(predict_logit(scaled, fold)[0]) for fold in self.weights])
        fold = self.card.folds.get(question_key(question))
        return float(predictions.mean() if fold is None else predictions[fold])


def question_key(question: str) -> str:
    """Return a hash that identifies a question without storing its text."""
    return hashlib.sha256(" ".join(question.split()).encode()).hexdigest()[:16]


def check_name(name: str) -> str:
    """Return the name of a judge without its prefix; raise if it is invalid."""
    plain = name.removeprefix(PREFIX)
    if not _NAME.fullmatch(plain):
        raise UsageError(f"'{name}' is not a valid judge name: use lower-case letters, digits, - and _")
    return plain


def save_trained(judge: Trained, store: Store | None = None) -> str:
    """Store a judge, replacing an older one of the same name; return its folder."""
    stream = io.BytesIO()
    np.savez(stream, centres=judge.centres, scales=judge.scales, weights=judge.weights)
    card = json.dumps({"layout": _LAYOUT, **asdict(judge.card)}, indent=2, ensure_ascii=False)
    files = {_CARD: card.encode(), _WEIGHTS: stream.getvalue()}
    return str((store or Store()).put(f"{PREFIX}{judge.card.name}", files, "trained here").folder)


def open_trained(name: str, store: Store | None = None) -> Trained:
    """Open a judge of the store."""
    store, plain = store or Store(), check_name(name)
    names = [model.name for model in store.installed() if model.name.startswith(PREFIX)]
    if f"{PREFIX}{plain}" not in names:
        known = f"Choose from: {', '.join(names)}." if names else "There are none yet."
        hint = f"{known} Train one: ragstone train NAME RUN --human labels.csv"
        raise UnknownNameError("trained judge", f"{PREFIX}{plain}", names, hint)
    model = store.get(f"{PREFIX}{plain}")
    try:
        data = json.loads(model.path(_CARD).read_text(encoding="utf-8"))
        if data.pop("layout") != _LAYOUT:
            raise StorageError(f"the judge '{name}' was created by another version of Ragstone. Train it again.")
        data |= {key: tuple(data[key]) for key in ("features", "uses")}
        with np.load(model.path(_WEIGHTS), allow_pickle=False) as arrays:
            return Trained(TrainedCard(**data), arrays["centres"], arrays["scales"], arrays["weights"])
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise StorageError(f"the judge '{name}' cannot be read: {error}. Train it again.") from error
