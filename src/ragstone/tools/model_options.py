"""The options that choose the models of a run and limit their calls, as one value for every layer."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any, Self

from ragstone.errors import UnknownNameError, UsageError

# How verdicts are asked for.
VERDICTS = ("auto", "tokens", "json")


@dataclass(frozen=True)
class ModelOptions:
    """Models and call limits. Without a named model only local models are used.

    `ragstone.evaluate` takes the same names as keyword arguments.
    """

    # Models, by name or as objects. `local` is the local judge; `local>openai/gpt-4o-mini` escalates uncertain verdicts.
    # `extractor` and `checker` replace the judge for claims and verdicts.
    judge: Any = None
    extractor: Any = None
    checker: Any = None
    # Confidence at which the local judge decides without escalating.
    agreement: float = 0.9
    # Your own tools in place of the judge `trained/NAME` and of the local judge's estimates.
    trained_judge: Any = None
    estimator: Any = None
    # One model, or several names joined by + (their mean is used).
    embedder: Any = None
    scorer: Any = None
    reward_model: Any = None
    toxicity_model: Any = None
    # Documents, or a JSONL file of chunks, that claims are looked up in: a path or several, or an object with `search`.
    corpus: Any = None
    # Address of an OpenAI-compatible server.
    base_url: str | None = None
    # "sentences" or "triplets".
    claims: str = "sentences"
    # "points" (0 to 100), "stars" (1 to 5), "ten" (1 to 10) or "binary" (pass or fail).
    scale: str = "points"
    # Any of "cot", "few-shot", "rubric", "own-reference".
    grading: Sequence[str] = ()
    # Pairwise judging: the aspect to compare, in "both" orders or in one "random" order.
    aspect: str = "quality"
    order: str = "both"
    claims_per_call: int = 25
    chunks_per_call: int = 10
    # How often each verdict is asked for; the majority counts.
    repeats: int = 1
    # "tokens": one yes or no per claim and text, with its probability; "json"; "auto": tokens for local and small models.
    verdicts: str = "auto"
    # False: a language model is not examined before it checks claims.
    exam: bool = True
    # False: probabilities and means are not calibrated by what judge-check and agree measured.
    calibration: Any = True
    # Folder with prompts that replace the built-in ones.
    prompts: str | os.PathLike[str] | None = None
    # For example "5usd". Runs that share one Budget object spend it together.
    budget: Any = None
    timeout_s: float = 120.0
    deadline_s: float | None = None
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    # False: replies of earlier runs are not used.
    cache: bool = True
    # True: only replies of earlier runs are used; a missing reply fails.
    offline: bool = False
    # True: language models are asked through their batch API. A folder: through files in OpenAI's batch format.
    batch: Any = False

    def __post_init__(self) -> None:
        for name in ("repeats", "claims_per_call", "chunks_per_call"):
            value = getattr(self, name)
            if not isinstance(value, int) or value < 1:
                raise UsageError(f"{name} must be 1 or more, got {value!r}")

        if self.batch and not self.cache:
            raise UsageError("batches need the cache for their replies: leave out --no-cache (cache=False).")
        if self.verdicts not in VERDICTS:
            hint = f"Choose from: {', '.join(VERDICTS)}."
            raise UnknownNameError("way of asking for verdicts", self.verdicts, VERDICTS, hint)

    @classmethod
    def from_keywords(cls, keywords: Mapping[str, Any]) -> Self:
        """Options from keyword arguments of `evaluate`; an unknown name is a TypeError."""
        known = {field.name for field in fields(cls)}
        if unknown := sorted(set(keywords) - known):
            raise TypeError(f"evaluate() got an unexpected keyword argument '{unknown[0]}'")
        # `None` means the default unless None is itself a value.
        defaults = {field.name: field.default for field in fields(cls) if field.default is not MISSING}
        return cls(**{k: v for k, v in keywords.items() if v is not None or defaults[k] is None})

    def keywords(self) -> dict[str, Any]:
        """The options that differ from their defaults, as keyword arguments for `evaluate`."""
        return {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if getattr(self, field.name) != field.default
        }
