"""The card of the local judge, `card.json`: how its outputs are read, how good it was measured to be, and its files' checksums.

version       goes into signatures: local-judge/2
files         name: {"bytes", "sha256"} of model.onnx and tokenizer.json
max_length    tokens of a pair; second_limit: task: tokens of its second text
templates     match: [first, second] with {question}, {reference}, {answer}; support: {evidence}, {claim}; fraction: {evidence}, {text}
match         scale, bias, overlap: probability = sigmoid(scale × logit + overlap × covered words + bias); threshold
support       the same, of the log-odds of supported against the rest; contradiction: from which softmax share on it is one;
              several: what the log-odds of the best of n windows lose, times log n
fraction      scale, bias; overlap: the part of the mean that token overlap has
ladder        task: [{"agreement", "confidence", "share"}]: how sure it must be for which agreement, and how often it is
figures       what was measured: [{"task", "data", "rows", "measure", "judge", "low", "high", "overlap", "cosine"}];
              of answer match also "contained": lexical match
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ragstone.errors import StorageError

CARD = "card.json"


@dataclass(frozen=True)
class Reading:
    """How a head's output becomes a probability: a logistic function of it and of the words that both texts share."""

    scale: float = 1.0
    bias: float = 0.0
    overlap: float = 0.0
    threshold: float = 0.5


@dataclass(frozen=True)
class Card:
    """What is on the card."""

    version: str
    files: Mapping[str, tuple[int, str]]
    max_length: int
    second_limit: Mapping[str, int]
    templates: Mapping[str, tuple[str, str]]
    readings: Mapping[str, Reading]
    contradiction: float = 0.9
    several: float = 0.0
    ladder: Mapping[str, list[tuple[float, float]]] = field(default_factory=dict)
    figures: tuple[Mapping[str, Any], ...] = ()
    what: str = ""
    limits: tuple[str, ...] = ()

    def confidence_for(self, task: str, agreement: float) -> float:
        """How sure the judge must be so that what it decides alone agrees with people so often.

        At least so sure, and as sure as was measured to suffice: what was measured flatters it where texts are of another kind.
        """
        steps = self.ladder.get(task, [(1.0, agreement)])
        return max(agreement, min((confidence for reached, confidence in steps if reached >= agreement), default=1.0))


def read_card(folder: Path) -> Card:
    """The card in a folder; what is wrong with it is told with its place."""
    path = folder / CARD
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        return _parse(told)
    except FileNotFoundError:
        raise StorageError(f"the local judge has no {CARD} in {folder}") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise StorageError(f"the local judge's card cannot be read: {path}: {type(error).__name__} {error}") from error


def _parse(told: Mapping[str, Any]) -> Card:
    return Card(
        version=str(told["version"]),
        files={name: (int(facts["bytes"]), str(facts["sha256"])) for name, facts in told["files"].items()},
        max_length=int(told["max_length"]),
        second_limit={task: int(limit) for task, limit in told["second_limit"].items()},
        templates={task: (str(first), str(second)) for task, (first, second) in told["templates"].items()},
        readings={task: _reading(told[task]) for task in ("match", "support", "fraction")},
        contradiction=float(told["support"].get("contradiction", 0.9)),
        several=float(told["support"].get("several", 0.0)),
        ladder={
            task: [(float(step["agreement"]), float(step["confidence"])) for step in steps]
            for task, steps in told.get("ladder", {}).items()
        },
        figures=tuple(told.get("figures", ())),
        what=str(told.get("what", "")),
        limits=tuple(map(str, told.get("limits", ()))),
    )


def _reading(told: Mapping[str, Any]) -> Reading:
    return Reading(**{name: float(told[name]) for name in ("scale", "bias", "overlap", "threshold") if name in told})
