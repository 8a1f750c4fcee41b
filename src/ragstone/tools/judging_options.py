"""The keyword arguments of `evaluate` that choose models, with their types."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, TypedDict, TypeVar, cast

from ragstone.llm.base import LLM
from ragstone.tools.keywords import refuses_unknown_names
from ragstone.tools.model_options import ModelOptions

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


F = TypeVar("F", bound=Callable[..., Any])


def lists_model_options(function: F) -> F:
    """Decorator for a function with `**options: Unpack[JudgingOptions]`: its signature and its help list every option.

    Another name is refused with the nearest names, before anything is read.
    """
    signature = inspect.signature(function)
    named = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
    types = JudgingOptions.__annotations__
    options = [
        inspect.Parameter(
            one.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=one.default,
            annotation=getattr(types[one.name], "__forward_arg__", types[one.name]),
        )
        for one in fields(ModelOptions)
    ]
    wrapper = cast("Any", refuses_unknown_names(function, [one.name for one in (*named, *options)]))
    wrapper.__signature__ = signature.replace(parameters=[*named, *options])
    described = (ModelOptions.__doc__ or "").partition("    Attributes:\n")[2].rstrip()
    wrapper.__doc__ = f"{(function.__doc__ or '').rstrip()}\n\n    Model options:\n{described}\n    "
    return cast("F", wrapper)
