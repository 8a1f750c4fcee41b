"""The keyword arguments of `evaluate` that choose models, with their types."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, TypedDict

from ragstone.llm.base import LLM

# A name such as `openai/gpt-4o-mini`, a function from a list of prompts to a list of replies, or a model of one's own.
Model = str | Callable[..., Any] | LLM | tuple[str, "Model"]


class JudgingOptions(TypedDict, total=False):
    """The fields of `ModelOptions`, which describes them, as typed keyword arguments of `evaluate`."""

    judge: Model | None
    extractor: Model | None
    checker: Model | None
    agreement: float
    trained_judge: Any
    estimator: Any
    embedder: Any
    scorer: Any
    reward_model: Any
    toxicity_model: Any
    corpus: Any
    base_url: str | None
    claims: str
    scale: str
    grading: Sequence[str]
    aspect: str
    order: str
    claims_per_call: int
    chunks_per_call: int
    repeats: int
    verdicts: str
    exam: bool
    calibration: Any
    prompts: str | os.PathLike[str] | None
    budget: Any
    timeout_s: float
    deadline_s: float | None
    requests_per_minute: float | None
    tokens_per_minute: float | None
    cache: bool
    offline: bool
    batch: Any
