"""The large judge: a chat model with a LoRA adapter that answers yes, no or unknown with one token.

The adapter comes with the package. `ragstone models pull judge-1.5b` installs the base model.

`card.json` describes it. It has the keys of the local judge's card (models/local_judge.py) for `version`, `files`, `support`,
`match`, `languages` and `limits`, and:
base             name, repository of the original weights, and sha256 of the GGUF file
prompts          system; support with {evidence} and {claim}; match with {question}, {reference} and {answer}
tokens           yes, no, unknown: their ids in the base model's vocabulary
evidence_tokens  tokens of a text that are read at once; joint_tokens: of all chunks together
cascade          confidence at which the small judge decides without the large one
figures          measurements: [{"data", "measure", "judge"}], and "rows" and "small" (the small judge) if known; source: their origin
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ragstone.errors import RagstoneError, StorageError
from ragstone.models.llama_engine import Gguf, find_gguf, require_engine
from ragstone.models.local_judge import CARD, Card, Reading, Support
from ragstone.models.store import Installed, Store

NAME = "judge-1.5b"
ADAPTER = "adapter.gguf"
# `off`: the large judge is not used by default.
VARIABLE = "RAGSTONE_LARGE_JUDGE"
_UNUSED = f"{NAME} is installed, but not used: its engine is missing (pip install 'ragstone[local]')"
WORDS = ("yes", "no", "unknown")
_FOLDER = Path(__file__).parent / "weights" / "judge_1_5b"


@dataclass(frozen=True)
class LargeCard(Card):
    """The content of card.json."""

    base: Mapping[str, str] = field(default_factory=dict)
    prompts: Mapping[str, str] = field(default_factory=dict)
    tokens: Mapping[str, int] = field(default_factory=dict)
    evidence_tokens: int = 1700
    joint_tokens: int = 700
    cascade: float = 0.85
    source: str = ""
    licence: str = ""

    @property
    def signature(self) -> str:
        """The version with a part of the adapter's checksum."""
        return f"{NAME}/{self.version}#{self.files[ADAPTER][1][:8]}"

    @property
    def adapter(self) -> Path:
        """The adapter's file."""
        return _FOLDER / ADAPTER

    def prompt_hash(self, task: str) -> str:
        """A hash of the wording of a prompt."""
        return hashlib.sha256(f"{self.prompts['system']}\n{self.prompts[task]}".encode()).hexdigest()[:12]

    def read_support(self, logprobs: Mapping[str, float]) -> Support:
        """The probabilities of support and contradiction from the log-probabilities of the words."""
        yes, no, unknown = (logprobs[word] for word in WORDS)
        most = max(no, unknown)
        others = most + math.log(math.exp(no - most) + math.exp(unknown - most))
        supported = self._probability("support", yes - others)
        return Support(supported, (1.0 - supported) * _sigmoid(no - unknown))

    def read_match(self, logprobs: Mapping[str, float]) -> float:
        """The probability that the answer agrees with the reference: yes or no."""
        return self._probability("match", logprobs["yes"] - logprobs["no"])

    def _probability(self, task: str, odds: float) -> float:
        reading = self.readings[task]
        return _sigmoid(reading.scale * odds + reading.bias)


# With the adapter "No" or "The" may be a little more probable than "no", and no word is probable; without it one of them is.
_NEAR, _PROBABLE = math.log(3), -2.0


def read_words(alternatives: Mapping[str, float]) -> dict[str, float] | None:
    """The log-probabilities of the three words among the most likely first tokens; None if another word is far more likely.

    Without the adapter the model begins with "Yes", "No" or "The". The adapter was trained on the ratio of the three words, so
    others ("No", "no.") keep a part of the probability. A word that is not among the tokens is at most as likely as the last
    of them, and as what they leave.
    """
    first = max(alternatives, key=alternatives.__getitem__)
    near = max(alternatives.get(word, -math.inf) for word in WORDS) > alternatives[first] - _NEAR
    if first not in WORDS and not (near and (first.casefold() in WORDS or alternatives[first] < _PROBABLE)):
        return None
    rest = max(1e-9, 1.0 - math.fsum(map(math.exp, alternatives.values())))
    least = min(*alternatives.values(), math.log(rest))
    return {word: alternatives.get(word, least) for word in WORDS}


def _sigmoid(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-value)) if value >= 0 else math.exp(value) / (1.0 + math.exp(value))


@cache
def read_large_card() -> LargeCard:
    """The card of the shipped adapter."""
    path = _FOLDER / CARD
    try:
        return _parse(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise StorageError(f"the large judge's card cannot be read: {path}: {type(error).__name__} {error}") from error


def _parse(data: Mapping[str, Any]) -> LargeCard:
    low, high = map(float, data["support"]["unsure"])
    numbers = ("scale", "bias", "threshold")
    return LargeCard(
        version=str(data["version"]),
        files={name: (int(facts["bytes"]), str(facts["sha256"])) for name, facts in data["files"].items()},
        max_length=int(data["evidence_tokens"]),
        second_limit={},
        templates={},
        readings={
            task: Reading(**{name: float(data[task][name]) for name in numbers}) for task in ("support", "match")
        },
        contradiction=float(data["support"]["contradiction"]),
        unsure=(low, high),
        # A claim counts by the model's probability alone: it reads whole texts, and word overlap adds nothing to it.
        coverage_weight=0.0,
        figures=tuple(data["figures"]),
        what=str(data["what"]),
        limits=tuple(map(str, data["limits"])),
        languages=tuple(map(str, data["languages"])),
        base=dict(data["base"]),
        prompts=dict(data["prompts"]),
        tokens={word: int(data["tokens"][word]) for word in WORDS},
        evidence_tokens=int(data["evidence_tokens"]),
        joint_tokens=int(data["joint_tokens"]),
        cascade=float(data["cascade"]),
        source=str(data["source"]),
        licence=str(data["licence"]),
    )


def open_large_judge(store: Store | None = None) -> Gguf:
    """The base model with the adapter; raises if the base or the engine is not installed, or the adapter is damaged."""
    require_engine(NAME)
    card, base = read_large_card(), find_gguf(NAME, store)
    Installed(NAME, _FOLDER, "shipped with ragstone", dict(card.files)).check(thoroughly=True)
    return Gguf(NAME, base.path, f"llama/{card.signature}", card.adapter)


def is_switched_off() -> bool:
    """Whether the user wants no large judge."""
    return os.environ.get(VARIABLE, "").strip().lower() == "off"


def unused_large_judge() -> str:
    """Why an installed large judge is not used by default: its engine is missing; empty otherwise."""
    return "" if is_switched_off() or find_spec("xllamacpp") or Store().find(NAME) is None else _UNUSED


def find_large_judge() -> Gguf | None:
    """The large judge if it can be used by default: installed and not switched off."""
    try:
        return None if is_switched_off() else open_large_judge()
    except RagstoneError:
        return None
