"""`Judge`, the models of a run and the limits of their calls as one value, and the types of its options."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, TypedDict, Unpack, cast

from ragstone.llm.base import LLM
from ragstone.text.matchers import Matcher
from ragstone.tools.keywords import describe_unknown
from ragstone.tools.model_options import ModelOptions

# A name such as `openai/gpt-4o-mini`, a function from a list of prompts to a list of replies, or a model of one's own.
Model = str | Callable[..., Any] | LLM | tuple[str, "Model"]


class JudgingOptions(TypedDict, total=False):
    """The fields of `ModelOptions`, which describes them, as typed keyword arguments."""

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
    base_url: str | Sequence[str] | None
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
    images: str
    prompts: str | os.PathLike[str] | None
    budget: Any
    timeout_s: float
    deadline_s: float | None
    requests_per_minute: float | None
    tokens_per_minute: float | None
    cache: bool
    offline: bool
    batch: Any


DEFAULT_CONCURRENCY = 16
# The arguments of `Judge`, without the model itself.
OPTIONS = (*(field.name for field in fields(ModelOptions) if field.name != "judge"), "concurrency", "matcher")


class Judge:
    """The models of a run and the limits of their calls: `Judge("openai/gpt-4o-mini", repeats=3, budget="5usd")`.

    Without a model, the local judge is used. `concurrency` is the maximum number of calls at a time, `matcher` how facts
    are found in chunks: "citation", "fuzzy", or your own. The other options are listed under "Model options".
    """

    def __init__(
        self,
        model: Model | None = None,
        *,
        concurrency: int = DEFAULT_CONCURRENCY,
        matcher: str | Matcher = "citation",
        **options: Unpack[JudgingOptions],
    ) -> None:
        if isinstance(model, Judge):
            raise TypeError("the model of a Judge is a name, a function or an object, not another Judge")
        for name in options:
            if name not in OPTIONS:
                raise TypeError(describe_unknown("Judge", name, ["model", *OPTIONS]))
        self.model = model
        self.concurrency = concurrency
        self.matcher = matcher
        self.options: JudgingOptions = cast("JudgingOptions", {**options, "judge": model})
        ModelOptions.from_keywords(self.options)  # a wrong value is an error here

    def __repr__(self) -> str:
        settings = {"concurrency": self.concurrency, "matcher": self.matcher, **self.options}
        defaults = {"concurrency": DEFAULT_CONCURRENCY, "matcher": "citation", "judge": self.model}
        shown = [f"{name}={value!r}" for name, value in settings.items() if value != defaults.get(name)]
        return f"Judge({', '.join([repr(self.model), *shown])})"


def as_judge(judge: Judge | Model | None, checker: Any = None, **more: Any) -> Judge:
    """The judge with further options; a bare model, such as its name, becomes a judge."""
    if checker is not None:
        more["checker"] = checker
    if not isinstance(judge, Judge):
        return Judge(judge, **more)
    own = {name: value for name, value in judge.options.items() if name != "judge"}
    return Judge(judge.model, **{"concurrency": judge.concurrency, "matcher": judge.matcher, **own, **more})
