"""Judges that were trained on a user's own labels, in the store of models: numbers and words, nothing that can run."""

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
# What the files look like; another number means files that this code cannot read.
_LAYOUT = 1
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")


@dataclass(frozen=True)
class TrainedCard:
    """What a trained judge is: what it reads, the ends of the labels' scale, the models under it, and how good it was.

    `folds` says of each question that it was trained on which fold left it out, so that nobody is judged by a judge that
    saw his label.
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
    """The card, and for each fold the weights (a row a fold, the intercept first) over features that are scaled alike."""

    card: TrainedCard
    centres: np.ndarray
    scales: np.ndarray
    weights: np.ndarray

    @property
    def signature(self) -> str:
        """The name, and the beginning of the checksum of the weights."""
        content = b"".join(np.ascontiguousarray(part, dtype="<f8").tobytes() for part in self._parts())
        return f"{PREFIX}{self.card.name}#{hashlib.sha256(content).hexdigest()[:8]}"

    def predict(self, question: str, features: np.ndarray) -> float:
        """What people would say, as a share of their scale: by the fold that never saw this question, else by all together."""
        scaled = ((features - self.centres) / self.scales)[None, :]
        found = np.array([float(predict_logit(scaled, fold)[0]) for fold in self.weights])
        fold = self.card.folds.get(question_key(question))
        return float(found.mean() if fold is None else found[fold])

    def _parts(self) -> tuple[np.ndarray, ...]:
        return self.centres, self.scales, self.weights


def question_key(question: str) -> str:
    """What a question is known by, without keeping its words."""
    return hashlib.sha256(" ".join(question.split()).encode()).hexdigest()[:16]


def check_name(name: str) -> str:
    """The name of a judge, with or without the word before it."""
    plain = name.removeprefix(PREFIX)
    if not _NAME.fullmatch(plain):
        raise UsageError(f"'{name}' is no good name for a judge: lower-case letters, digits, - and _ only")
    return plain


def save_trained(judge: Trained, store: Store | None = None) -> str:
    """Put a judge into the store, in place of an older one of its name; where it lies."""
    stream = io.BytesIO()
    np.savez(stream, centres=judge.centres, scales=judge.scales, weights=judge.weights)
    card = json.dumps({"layout": _LAYOUT, **asdict(judge.card)}, indent=2, ensure_ascii=False)
    files = {_CARD: card.encode(), _WEIGHTS: stream.getvalue()}
    return str((store or Store()).put(f"{PREFIX}{judge.card.name}", files, "trained here").folder)


def open_trained(name: str, store: Store | None = None) -> Trained:
    """A judge of the store."""
    store, plain = store or Store(), check_name(name)
    there = [model.name for model in store.installed() if model.name.startswith(PREFIX)]
    if f"{PREFIX}{plain}" not in there:
        known = f"There are: {', '.join(there)}." if there else "There is none yet."
        hint = f"{known} Train one: ragstone train NAME RUN --human labels.csv"
        raise UnknownNameError("trained judge", f"{PREFIX}{plain}", there, hint)
    model = store.get(f"{PREFIX}{plain}")
    try:
        told = json.loads(model.path(_CARD).read_text(encoding="utf-8"))
        if told.pop("layout") != _LAYOUT:
            raise StorageError(f"the judge '{name}' was made by another version of Ragstone. Train it again.")
        told |= {key: tuple(told[key]) for key in ("features", "uses")}
        with np.load(model.path(_WEIGHTS), allow_pickle=False) as arrays:
            return Trained(TrainedCard(**told), arrays["centres"], arrays["scales"], arrays["weights"])
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise StorageError(f"the judge '{name}' cannot be read: {error}. Train it again.") from error
