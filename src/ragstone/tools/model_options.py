"""The options that choose the models of a run and limit their calls, as one value for every layer."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any, Self

from ragstone.errors import UnknownNameError, UsageError
from ragstone.tools.keywords import describe_unknown

# How verdicts are asked for.
VERDICTS = ("auto", "tokens", "json")


@dataclass(frozen=True)
class ModelOptions:
    """Models and call limits. Without a named model only local models are used.

    `ragstone.evaluate` and `ragstone.quote` take the same names as keyword arguments.

    Attributes:
        judge: Judge model: a name such as `openai/gpt-4o-mini`, a function, or an object; `local` is the local judge, `local>openai/gpt-4o-mini` escalates uncertain verdicts.
        extractor: Model that extracts claims, in place of the judge.
        checker: Model that checks claims, in place of the judge.
        agreement: Confidence at which the local judge decides without escalating.
        trained_judge: Your own tool in place of the judge `trained/NAME`.
        estimator: Your own tool in place of the local judge's estimates.
        embedder: Embedding model: `local`, a name, or several names joined by + (their mean is used).
        scorer: Model for token probabilities: `local`, `hf/NAME`, or a server with echo.
        reward_model: Local reward model.
        toxicity_model: Local toxicity classifier.
        corpus: Documents, or a JSONL file of chunks, that claims are looked up in: a path, several, or an object with `search`.
        base_url: Address of an OpenAI-compatible server.
        claims: Form of claims: "sentences" or "triplets".
        scale: Scale of grades: "points" (0 to 100), "stars" (1 to 5), "ten" (1 to 10) or "binary" (pass or fail).
        grading: Grading steps, any of "cot", "few-shot", "rubric", "own-reference".
        aspect: Pairwise judging: the aspect in which answers are compared.
        order: Pairwise judging: in "both" orders or in one "random" order.
        claims_per_call: Claims checked per call.
        chunks_per_call: Chunks checked per call.
        repeats: Times each verdict is asked for; the majority counts.
        verdicts: "tokens" (one yes or no per claim and text, with its probability), "json", or "auto": tokens for local and small models.
        exam: False: a language model is not examined before it checks claims.
        calibration: False: probabilities and means are not calibrated by what judge-check and agree measured.
        prompts: Folder with prompts that replace the built-in ones.
        budget: Most that may be spent, such as "5usd". Runs that share one Budget object spend it together.
        timeout_s: Time limit per call, in seconds.
        deadline_s: Time limit for all calls together, in seconds.
        requests_per_minute: Maximum calls per minute.
        tokens_per_minute: Maximum tokens per minute.
        cache: False: replies of earlier runs are not used.
        offline: True: only replies of earlier runs are used; a missing reply fails.
        batch: True: language models are asked through their batch API; a folder: through files in OpenAI's batch format.
    """

    judge: Any = None
    extractor: Any = None
    checker: Any = None
    agreement: float = 0.9
    trained_judge: Any = None
    estimator: Any = None
    embedder: Any = None
    scorer: Any = None
    reward_model: Any = None
    toxicity_model: Any = None
    corpus: Any = None
    base_url: str | None = None
    claims: str = "sentences"
    scale: str = "points"
    grading: Sequence[str] = ()
    aspect: str = "quality"
    order: str = "both"
    claims_per_call: int = 25
    chunks_per_call: int = 10
    repeats: int = 1
    verdicts: str = "auto"
    exam: bool = True
    calibration: Any = True
    prompts: str | os.PathLike[str] | None = None
    budget: Any = None
    timeout_s: float = 120.0
    deadline_s: float | None = None
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    cache: bool = True
    offline: bool = False
    batch: Any = False

    def __post_init__(self) -> None:
        for name in ("repeats", "claims_per_call", "chunks_per_call"):
            value = getattr(self, name)
            if not isinstance(value, int) or value < 1:
                raise UsageError(f"{name} must be 1 or more, got {value!r}")

        if self.budget is not None:
            from ragstone.llm.budget import parse_budget  # noqa: PLC0415  (slow import)

            parse_budget(self.budget)
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
            raise TypeError(describe_unknown("evaluate", unknown[0], known))
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
