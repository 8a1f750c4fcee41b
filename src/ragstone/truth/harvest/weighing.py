"""From signals to good and bad: the log-odds of all signals of an answer added up, with weights that anybody can read."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from ragstone.errors import InputError, Problem, UnknownNameError
from ragstone.storage.places import open_place
from ragstone.text.signals import MEANINGS, WEIGHTS, confidence_of

Verdict = Literal["good", "bad", "unclear"]
VERDICTS: tuple[Verdict, ...] = ("good", "bad", "unclear")
FEATURES = tuple(WEIGHTS)


@dataclass(frozen=True)
class Weights:
    """What each signal is worth, as log-odds; `prior` is the log-odds of an answer with a signal before it is looked at."""

    weights: Mapping[str, float] = field(default_factory=lambda: dict(WEIGHTS))
    prior: float = 0.0
    # From which probability an answer counts as good, and up to which as bad.
    good_from: float = 0.8
    bad_up_to: float = 0.2

    def vector(self) -> np.ndarray:
        """The weights in the order of `FEATURES`."""
        return np.array([self.weights.get(name, 0.0) for name in FEATURES])

    def probabilities(self, features: np.ndarray) -> np.ndarray:
        """The probability that each answer is good, a row of features an answer."""
        # The logistic function, in a form that does not overflow.
        found: np.ndarray = (1.0 + np.tanh((self.prior + features @ self.vector()) / 2)) / 2
        return found

    def probability(self, features: Mapping[str, float]) -> float:
        """The probability that one answer is good."""
        return float(self.probabilities(np.array([[features.get(name, 0.0) for name in FEATURES]]))[0])

    def judge(self, probability: float, has_signal: bool) -> Verdict:
        """Good, bad or unclear; without a signal nothing is known."""
        if not has_signal or self.bad_up_to < probability < self.good_from:
            return "unclear"
        return "good" if probability >= self.good_from else "bad"

    def lines(self) -> list[tuple[str, float, float]]:
        """Every signal with its weight and its confidence: how likely it is right, alone."""
        return [(name, self.weights.get(name, 0.0), confidence_of(self.weights.get(name, 0.0))) for name in FEATURES]


def save_weights(weights: Weights, path: str, note: str = "") -> None:
    """Keep weights as TOML that a person can read and change."""
    lines = [
        f"# {line}"
        for line in ["What each signal is worth, as log-odds: + speaks for the answer.", *note.split("\n")]
        if line
    ]
    settings = {"prior": weights.prior, "good_from": weights.good_from, "bad_up_to": weights.bad_up_to}
    lines += [f"{name} = {value!r}" for name, value in settings.items()]
    lines += ["", "[weights]"]
    lines += [f"{name} = {float(weights.weights.get(name, 0.0))!r}  # {MEANINGS[name]}" for name in FEATURES]
    open_place(path).write_bytes(("\n".join(lines) + "\n").encode())


def load_weights(path: str) -> Weights:
    """The weights of a file that `save_weights` or a person wrote; signals that it does not name keep the usual weight."""
    try:
        said = tomllib.loads(open_place(path).read_bytes().decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(
            path, [Problem(f"is not TOML: {error}", hint="write `[weights]` and lines such as like = 3.0")]
        ) from None
    found = {name: _number(path, name, value) for name, value in said.get("weights", {}).items()}
    for name in found:
        if name not in FEATURES:
            raise UnknownNameError("signal", name, FEATURES, f"The signals are: {', '.join(FEATURES)}.")
    settings = {name: _number(path, name, said[name]) for name in ("prior", "good_from", "bad_up_to") if name in said}
    weights = Weights({**WEIGHTS, **found}, **settings)
    if not 0 <= weights.bad_up_to < weights.good_from <= 1:
        raise InputError(path, [Problem("bad_up_to must be below good_from, both from 0 to 1")])
    return weights


def _number(path: str, name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError(path, [Problem(f"must be a number, got {value!r}", field=name)])
    return float(value)
