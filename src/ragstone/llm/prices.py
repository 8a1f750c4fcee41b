"""What a model's tokens cost: a table that ships as data, a user's own file over it, and nothing for local models."""

from __future__ import annotations

import math
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from ragstone.errors import UsageError

VARIABLE = "RAGSTONE_PRICES"
_FREE = ("ollama", "vllm", "llamacpp", "function", "command", "fake")
# The names under which others sell or pass on models of the same name.
_RESELLERS = ("azure", "dial", "litellm_proxy")
_RELEASE = re.compile(r"[-@](?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$")
_MILLION = 1_000_000


@dataclass(frozen=True)
class Price:
    """US dollars per million tokens."""

    input_usd: float
    output_usd: float

    def cost_usd(self, input_tokens: float, output_tokens: float) -> float:
        """What so many tokens cost."""
        return (input_tokens * self.input_usd + output_tokens * self.output_usd) / _MILLION


@dataclass(frozen=True)
class Prices:
    """Prices by `provider/model`."""

    models: Mapping[str, Price] = field(default_factory=dict)
    # When the shipped table was made.
    date: str = ""

    def find(self, name: str) -> Price | None:
        """The price of a model, or of the model of which it is a dated release; None if nobody knows it."""
        if (price := self.models.get(name)) is not None:
            return price
        provider, _, model = name.partition("/")
        if provider in _FREE or not model:
            return Price(0.0, 0.0) if provider in _FREE else None
        undated = _RELEASE.sub("", model)
        candidates = [f"{provider}/{undated}"]
        if provider in _RESELLERS:
            candidates += [model, undated, f"openai/{model}", f"openai/{undated}"]
        return next((self.models[candidate] for candidate in candidates if candidate in self.models), None)


def load_prices() -> Prices:
    """The shipped prices with those of RAGSTONE_PRICES over them."""
    shipped = _shipped()
    path = os.environ.get(VARIABLE)
    return Prices({**shipped.models, **_read_user_file(path)}, shipped.date) if path else shipped


def advise_price(name: str) -> str:
    """How to give the price of a model that has none."""
    return f"""Write a file prices.toml with the lines

  [models]
  "{name}" = [0.15, 0.6]  # US dollars per million tokens, input and output

and set {VARIABLE}=prices.toml"""


@cache
def _shipped() -> Prices:
    table = tomllib.loads((resources.files("ragstone.llm") / "prices.toml").read_text(encoding="utf-8"))
    return Prices({name: Price(*pair) for name, pair in table["models"].items()}, table["date"])


def _read_user_file(path: str) -> dict[str, Price]:
    try:
        with open(path, "rb") as stream:
            table = tomllib.load(stream)
    except OSError as error:
        raise UsageError(f"cannot read {path} ({VARIABLE}): {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} ({VARIABLE}) is not TOML: {error}") from None
    models = table.get("models")
    if not isinstance(models, dict):
        raise UsageError(f"{path} ({VARIABLE}) has no table [models]. {advise_price('openai/gpt-4o-mini')}")
    return {name: _read_price(name, pair, path) for name, pair in models.items()}


def _read_price(name: str, pair: Any, path: str) -> Price:
    good = isinstance(pair, list) and len(pair) == 2 and all(_is_amount(amount) for amount in pair)
    if not good:
        raise UsageError(f"{path}: the price of '{name}' must be two numbers, [input, output], not {pair!r}")
    return Price(float(pair[0]), float(pair[1]))


def _is_amount(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
