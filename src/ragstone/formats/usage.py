"""Latency, tokens and price under the names of other tools, as the names of Ragstone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragstone.data.usage import USAGE, number_of
from ragstone.formats.messages import decode


def _spelled(names: str, in_ms: str = "") -> dict[str, float]:
    """Names of other tools with the factor to our unit."""
    return dict.fromkeys(names.split(), 1.0) | dict.fromkeys(in_ms.split(), 1e-3)


# A name without a unit is in seconds, as in Langfuse and LangSmith; MLflow's execution_duration is in milliseconds.
_NAMES = {
    "latency_s": _spelled(
        "latency latency_seconds duration_s duration_seconds response_time_s",
        "latency_ms latencyMs duration_ms response_time_ms took_ms elapsed_ms execution_duration execution_time_ms",
    ),
    "first_token_s": _spelled(
        "time_to_first_token timeToFirstToken ttft ttft_s", "time_to_first_token_ms first_token_ms ttft_ms"
    ),
    "input_tokens": _spelled("prompt_tokens inputTokens promptTokens llm.token_count.prompt gen_ai.usage.input_tokens"),
    "output_tokens": _spelled(
        "completion_tokens outputTokens completionTokens llm.token_count.completion gen_ai.usage.output_tokens"
    ),
    "cost_usd": _spelled("total_cost totalCost calculatedTotalCost token_cost llm.cost.total total_cost_usd"),
}
# Mappings that contain the token counts: OpenAI, LangChain, Langfuse, MLflow.
_PARTS = ("usage", "token_usage", "tokenUsage", "usage_metadata", "mlflow.chat.tokenUsage")
_INNER = {"input": "input_tokens", "output": "output_tokens"}
USAGE_NAMES = frozenset([*USAGE, *_PARTS, *(name for names in _NAMES.values() for name in names)])


def with_usage(metadata: dict[str, Any]) -> dict[str, Any]:
    """Metadata with our names for latency, tokens and price; other names are kept, too. Our own names win."""
    if USAGE_NAMES.isdisjoint(metadata):
        return metadata
    found = {name: value for name in USAGE if (value := find_usage(metadata, name)) is not None}
    return {**metadata, **found}


def find_usage(metadata: Mapping[str, Any], name: str) -> float | int | None:
    """The value of one of our names, from any of its spellings; None if there is no number from 0."""
    for place in (metadata, *_inner_parts(metadata)):
        for key, factor in ({name: 1.0} | _NAMES[name]).items():
            value = number_of(place.get(key))
            if value is not None and value >= 0:
                whole = name.endswith("_tokens") and value.is_integer()
                return int(value) if whole else value * factor
    return None


def _inner_parts(metadata: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    parts = [decode(metadata[name]) for name in _PARTS if name in metadata]
    return [
        {_INNER.get(str(key), str(key)): value for key, value in part.items()}
        for part in parts
        if isinstance(part, Mapping)
    ]
