"""Signal weights: the probability that an answer is good, from the sum of its signals' log-odds."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from ragstone.errors import InputError, Problem, UnknownNameError
from ragstone.storage.places import open_place
from ragstone.text.feedback import MEANINGS, WEIGHTS

Verdict = Literal["good", "bad", "unclear"]
VERDICTS: tuple[Verdict, ...] = ("good", "bad", "unclear")
FEATURES = tuple(WEIGHTS)


@dataclass(frozen=True)
class Weights:
    """The log-odds per signal; `prior` is the log-odds of an answer that has any signal."""

    weights: Mapping[str, float] = field(default_factory=lambda: dict(WEIGHTS))
    prior: float = 0.0
    # The probability from which an answer counts as good, and up to which it counts as bad.
    good_from: float = 0.8
    bad_up_to: float = 0.2

    def vector(self) -> np.ndarray:
        """The weights in the order of `FEATURES`."""
        return np.array([self.weights.get(name, 0.0) for name in FEATURES])

    def probabilities(self, features: np.ndarray) -> np.ndarray:
        """The probability that each answer is good; one row of features per answer."""
        # The logistic function, in a form that does not overflow.
        found: np.ndarray = (1.0 + np.tanh((self.prior + features @ self.vector()) / 2)) / 2
        return found

    def verdicts(self, probabilities: np.ndarray, has_signal: np.ndarray) -> np.ndarray:
        """Positions in VERDICTS; an answer without a signal is unclear."""
        good, bad, unclear = range(len(VERDICTS))
        found = np.full(len(probabilities), unclear)
        found[has_signal & (probabilities >= self.good_from)] = good
        found[has_signal & (probabilities <= self.bad_up_to)] = bad
        return found

    def lines(self) -> list[tuple[str, float, float]]:
        """Each signal with its weight and its confidence, the probability that it is right on its own."""
        return [(name, self.weights.get(name, 0.0), confidence_of(self.weights.get(name, 0.0))) for name in FEATURES]


def save_weights(weights: Weights, path: str, note: str = "") -> None:
    """Writes weights as TOML that the user can edit."""
    lines = [
        f"# {line}" for line in ["Log-odds per signal: + means that the answer is good.", *note.split("\n")] if line
    ]
    settings = {"prior": weights.prior, "good_from": weights.good_from, "bad_up_to": weights.bad_up_to}
    lines += [f"{name} = {value!r}" for name, value in settings.items()]
    lines += ["", "[weights]"]
    lines += [f"{name} = {float(weights.weights.get(name, 0.0))!r}  # {MEANINGS[name]}" for name in FEATURES]
    open_place(path).write_bytes(("\n".join(lines) + "\n").encode())


def load_weights(path: str) -> Weights:
    """Reads weights from TOML; signals that are not in the file keep their default weight."""
    try:
        content = tomllib.loads(open_place(path).read_bytes().decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(
            path, [Problem(f"is not TOML: {error}", hint="write `[weights]` and lines such as like = 3.0")]
        ) from None
    named = {name: _number(path, name, value) for name, value in content.get("weights", {}).items()}
    for name in named:
        if name not in FEATURES:
            raise UnknownNameError("signal", name, FEATURES, f"Choose from: {', '.join(FEATURES)}.")
    settings = {
        name: _number(path, name, content[name]) for name in ("prior", "good_from", "bad_up_to") if name in content
    }
    weights = Weights({**WEIGHTS, **named}, **settings)
    if not 0 <= weights.bad_up_to < weights.good_from <= 1:
        raise InputError(path, [Problem("bad_up_to must be below good_from, both from 0 to 1")])
    return weights


def _number(path: str, name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError(path, [Problem(f"must be a number, got {value!r}", field=name)])
    return float(value)


def confidence_of(weight: float) -> float:
    """The probability that a signal of this weight alone is right."""
    return 1.0 / (1.0 + math.exp(-abs(weight)))
