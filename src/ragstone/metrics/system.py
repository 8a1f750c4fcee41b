"""The cost of an answer: latency, tokens and price of the evaluated system, and any other number in the metadata.

The score of a run is a mean or, with `q`, a quantile: `latency_p95` is `system.latency(q=0.95)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ragstone.data.usage import USAGE, number_of
from ragstone.errors import Skip
from ragstone.registry import Corpus, evidence, metric
from ragstone.stats.intervals import wilson_interval

_QUANTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}
# The probability from which an answer counts as right.
_MATCH = 0.5
_SOURCE = "metadata of the sample, from `truth collect`, a trace or a log"


def _common(name: str, headline: int | None = None) -> dict[str, Any]:
    return {
        "family": "system",
        "bounds": (0.0, None),
        "better": "lower",
        "judges": "system",
        "against": "metadata",
        "source": _SOURCE,
        "aliases": {f"{name}_{word}": {"q": q} for word, q in _QUANTILES.items()},
        "variants": [{"q": _QUANTILES[word]} for word in ("p50", "p90", "p95")],
        "headline": headline,
    }


def _find(metadata: dict[str, Any], name: str) -> float:
    value = number_of(metadata.get(name))
    if value is None or (value < 0 and name in USAGE):
        raise Skip(f"the metadata has no valid number called {name}")
    return value


@evidence(transient=True)
def latency_s(metadata: dict[str, Any]) -> float:
    """Seconds until the whole answer."""
    return _find(metadata, "latency_s")


@evidence(transient=True)
def first_token_s(metadata: dict[str, Any]) -> float:
    """Seconds until the first token of the answer."""
    return _find(metadata, "first_token_s")


@evidence(transient=True)
def input_tokens(metadata: dict[str, Any]) -> float:
    """Tokens that the system sent to language models."""
    return _find(metadata, "input_tokens")


@evidence(transient=True)
def output_tokens(metadata: dict[str, Any]) -> float:
    """Tokens that language models wrote for the answer."""
    return _find(metadata, "output_tokens")


@evidence(transient=True)
def cost_usd(metadata: dict[str, Any]) -> float:
    """Price of the answer in US dollars."""
    return _find(metadata, "cost_usd")


@evidence
def tokens_and_match(metadata: dict[str, Any], reference_matches: Sequence[float]) -> list[float]:
    """Tokens of the answer, sent and written as far as they are known, and 1 if it matches a reference, otherwise 0."""
    counts = [number_of(metadata.get(name)) for name in ("input_tokens", "output_tokens")]
    if not any(count is not None and count >= 0 for count in counts):
        raise Skip("the metadata has neither input_tokens nor output_tokens")
    return [sum(count for count in counts if count is not None and count >= 0), float(max(reference_matches) >= _MATCH)]


def _tokens_per_match(sums: np.ndarray) -> np.ndarray:
    """Infinite without a right answer; a resample without one counts as half of one, so that intervals have an end."""
    tokens, right = sums[..., 0], sums[..., 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(tokens / (right if sums.ndim == 1 else np.maximum(right, 0.5)))


def _most_per_match(sums: np.ndarray, rows: int, units: int) -> float:
    """The mean tokens / the lowest share of right answers: few wrong answers, or none, do not show how many there may be."""
    return float(sums[0] / rows / wilson_interval(sums[1] / rows * units, units).low)


@metric(
    "system.tokens_per_correct_answer",
    family="system",
    bounds=(0.0, None),
    better="lower",
    judges="system",
    against="metadata",
    source=_SOURCE,
    misleads="The judge's mistakes are not in its interval. Tokens of two models differ in size and price. Rows "
    "without tokens or references do not count.",
    aliases=("tokens_per_correct_answer", "tokens_per_correct"),
    corpus=Corpus(
        "tokens_and_match", _tokens_per_match, high_end=_most_per_match, undefined="no answer matches a reference"
    ),
)
def tokens_per_correct_answer(tokens_and_match: Sequence[float]) -> float:
    """Tokens spent on all answers per right answer.

    Sum of the tokens sent and written / number of answers that match a reference with a probability of 0.5 or more
    (`answer_match`). A row's score is its token count. No score if no answer matches. Skipped without tokens in the metadata.
    """
    return tokens_and_match[0]


@metric(
    "system.latency",
    **_common("latency", headline=21),
    misleads="Waiting in a queue counts: measure with the concurrency of production. Cached answers are faster.",
)
def latency(latency_s: float, q: float | None = None) -> float:  # noqa: ARG001  (for the run's score)
    """Seconds until the whole answer.

    Mean over rows; with `q`, that quantile of the rows. Skipped without `latency_s` in the metadata.
    """
    return latency_s


@metric(
    "system.first_token",
    **_common("first_token"),
    misleads="A system that does not stream has its first token at the end.",
)
def first_token(first_token_s: float, q: float | None = None) -> float:  # noqa: ARG001
    """Seconds until the first token of the answer.

    Mean over rows; with `q`, that quantile of the rows. Skipped without `first_token_s` in the metadata.
    """
    return first_token_s


@metric(
    "system.input_tokens",
    **_common("input_tokens"),
    misleads="Tokenisers differ: counts of two models are not the same unit.",
)
def sent_tokens(input_tokens: float, q: float | None = None) -> float:  # noqa: ARG001
    """Tokens that the system sends to language models for an answer.

    Mean over rows; with `q`, that quantile of the rows. Skipped without `input_tokens` in the metadata.
    """
    return input_tokens


@metric(
    "system.output_tokens",
    **_common("output_tokens"),
    misleads="Hidden reasoning may or may not be counted. A shorter answer is not always better.",
)
def written_tokens(output_tokens: float, q: float | None = None) -> float:  # noqa: ARG001
    """Tokens that language models write for an answer.

    Mean over rows; with `q`, that quantile of the rows. Skipped without `output_tokens` in the metadata.
    """
    return output_tokens


@metric(
    "system.cost",
    **_common("cost", headline=22),
    misleads="Calls that report no price are missing: an index, a reranker, a tool.",
)
def cost(cost_usd: float, q: float | None = None) -> float:  # noqa: ARG001
    """Price of an answer in US dollars.

    Mean over rows; with `q`, that quantile of the rows. Skipped without `cost_usd` in the metadata.
    """
    return cost_usd


@metric(
    "metadata.number",
    family="metadata",
    bounds=(None, None),
    better="none",
    judges="system",
    against="metadata",
    source=_SOURCE,
    misleads="The unit, and whether less is better, are unknown.",
    slow=True,  # it needs a name
)
def number(metadata: dict[str, Any], key: str = "latency_s", q: float | None = None) -> float:  # noqa: ARG001
    """A number of the metadata, by its name.

    `metadata.number(key=retrieval_ms, q=0.9)` is the 0.9 quantile of `retrieval_ms`. Mean over rows without `q`. Skipped if
    the metadata has no such number.
    """
    return _find(metadata, key)
