"""From what the user names (a judge, an extractor, a checker, an embedder) to the tools that evidence functions ask for."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Never, TypedDict, get_type_hints

from ragstone.engine.embedding import Embedding
from ragstone.engine.planning import Tool
from ragstone.engine.roles import Roles
from ragstone.engine.scoring import Scoring
from ragstone.errors import UsageError
from ragstone.llm.base import LLM

if TYPE_CHECKING:
    from ragstone.llm.gateway import Gateway, GatewaySettings
    from ragstone.llm.prompts import PromptBook

# A name such as `openai/gpt-4o-mini`, a function from a list of prompts to a list of replies, or a model of one's own.
Model = str | Callable[..., Any] | LLM | tuple[str, "Model"]


class JudgingOptions(TypedDict, total=False):
    """How models are asked, where metrics need one. No model is asked unless one is named."""

    # The model that is asked whatever a metric needs; the other two take over the claims and their verdicts. `local` is the
    # judge on this machine, which is also used where nobody is named; `local>openai/gpt-4o-mini` asks only where it is unsure.
    judge: Model | None
    extractor: Model | None
    checker: Model | None
    # How often what the local judge decides alone should agree with people, where another one stands above it.
    agreement: float
    # Who guesses labels, if not the judge `trained/NAME`: a tool of one's own.
    trained_judge: Any
    # Who estimates supported shares, if not the local judge: a tool of one's own.
    estimator: Any
    # A name, several with + whose mean counts, or an embedder of one's own; one on this machine where there is none.
    embedder: Any
    # Who says how likely texts are, how good answers, how hateful: names, or tools of one's own.
    scorer: Any
    reward_model: Any
    toxicity_model: Any
    # The address of an OpenAI-compatible server, in place of the provider's own.
    base_url: str | None
    # "sentences" or "triplets".
    claims: str
    # Grades: "points" (0 to 100), "stars" (1 to 5) or "ten" (1 to 10); and how they are come by, any of "cot", "few-shot",
    # "rubric", "own-reference".
    scale: str
    grading: Sequence[str]
    # Pairs: in which respect one answer is better, and whether it is asked in "both" orders or in one at "random".
    aspect: str
    order: str
    # How many claims and chunks are asked about in one call.
    claims_per_call: int
    chunks_per_call: int
    # How often each verdict is asked for; the majority counts.
    repeats: int
    # A folder with prompts that take the place of ours.
    prompts: str | os.PathLike[str] | None
    # "5usd": no call is made that could exceed it. Runs that are given one Budget share it.
    budget: Any
    timeout_s: float
    deadline_s: float | None
    requests_per_minute: float | None
    tokens_per_minute: float | None
    # False: replies of earlier runs are not used.
    cache: bool
    # True: only replies of earlier runs are used, nothing is asked; what is missing fails.
    offline: bool


class Judging:
    """The models of one run: who does what, and everything that they share."""

    def __init__(self, options: JudgingOptions, concurrency: int, quoting: bool = False) -> None:
        if unknown := sorted(set(options) - set(get_type_hints(JudgingOptions))):
            raise TypeError(f"evaluate() got an unexpected keyword argument '{unknown[0]}'")
        self._options = options
        self._concurrency = concurrency
        for name in ("repeats", "claims_per_call", "chunks_per_call"):
            if (value := options.get(name)) is not None and (not isinstance(value, int) or value < 1):
                raise UsageError(f"{name} must be 1 or more, got {value!r}")
        self._roles = Roles(options)
        self._embedding = Embedding(options.get("embedder"))
        self._scoring = Scoring(*(options.get(name) for name in ("scorer", "reward_model", "toxicity_model")))
        # For the signatures, and so that a wrong name or a missing key shows before the data is read.
        self.tools = self.open(quoting=quoting).tools

    @property
    def options(self) -> JudgingOptions:
        """What was said about the models."""
        return self._options

    @property
    def asks(self) -> bool:
        """Whether any model behind the gateway was named."""
        return self._embedding.asks or self._scoring.asks or bool(self._roles.remote)

    @property
    def unnamed(self) -> frozenset[str]:
        """The tools that are there though nobody named them: models on this machine."""
        return (self._roles.unnamed | self._embedding.unnamed | self._scoring.unnamed) & self.tools.keys()

    def open(
        self, replies: str | None = None, quoting: bool = False, shared: Mapping[str, Any] | None = None
    ) -> Opened:
        """Tools that can be used in one event loop.

        `replies` is a folder for this run's replies, used when those of earlier runs are not wanted. `shared` are settings of the
        gateway that hold for many processes together: the limiter, the budget, the time that is left.
        """
        if not self.asks:
            here = {
                **self._roles.fill({}, quoting),
                **dict(self._embedding.open(_no_gateway, quoting)),
                **dict(self._scoring.open(_no_gateway, quoting)),
            }
            return Opened(here, None, None)
        from ragstone.llm.gateway import Gateway  # noqa: PLC0415  (only who asks a model needs it)
        from ragstone.llm.prompts import PromptBook  # noqa: PLC0415

        settings = replace(gateway_settings(self._options, self._concurrency, replies), **(shared or {}))
        gateway = Gateway(settings, quoting=quoting)
        folder = self._options.get("prompts")
        prompts = PromptBook(None if folder is None else os.fspath(folder))
        tools = {
            **self._roles.fill(dict(self._make_tools(gateway, prompts)), quoting),
            **dict(self._embedding.open(gateway.open_embedder, quoting)),
            **dict(self._scoring.open(gateway.open_scorer, quoting)),
        }
        return Opened(tools, gateway, prompts)

    def describe(self, needs: Collection[str]) -> dict[str, str]:
        """Who is asked for what, for the manifest of a run; of those whom nobody named only those who are needed."""
        return {name: tool.signature for name, tool in self.tools.items() if name in needs or name not in self.unnamed}

    @property
    def has_ladder(self) -> bool:
        """Whether some verdicts are passed on by the local judge to a stronger one."""
        return self._roles.has_ladder

    def _make_tools(self, gateway: Gateway, prompts: PromptBook) -> Iterable[tuple[str, Tool]]:
        from ragstone.evidence.judges.checker import JudgeChecker  # noqa: PLC0415
        from ragstone.evidence.judges.extractor import JudgeExtractor  # noqa: PLC0415
        from ragstone.evidence.judges.pair import JudgePair  # noqa: PLC0415
        from ragstone.evidence.judges.rater import JudgeRater  # noqa: PLC0415
        from ragstone.evidence.judges.reader import JudgeReader  # noqa: PLC0415
        from ragstone.llm.judge import Judge  # noqa: PLC0415

        options = self._options
        judges = {role: Judge(gateway.open_llm(model), prompts) for role, model in self._roles.remote.items()}
        if judge := judges.get("judge"):
            yield "judge", JudgeReader(judge)
        if grader := judges.get("grader"):
            yield "grader", JudgeReader(grader)
        if rater := judges.get("rater"):
            yield "rater", JudgeRater(rater, options.get("scale", "points"), options.get("grading", ()))
        if pair_judge := judges.get("pair_judge"):
            own = "own-reference" in options.get("grading", ())
            yield (
                "pair_judge",
                JudgePair(pair_judge, options.get("aspect", "quality"), options.get("order", "both"), own),
            )
        if extractor := judges.get("extractor"):
            yield "extractor", JudgeExtractor(extractor, options.get("claims", "sentences"))
        if checker := judges.get("checker"):
            sizes = {
                name: options[name] for name in ("repeats", "claims_per_call", "chunks_per_call") if name in options
            }
            yield "checker", JudgeChecker(checker, **sizes)


def gateway_settings(options: JudgingOptions, concurrency: int, replies: str | None = None) -> GatewaySettings:
    """How a gateway asks, from what the user said; `replies` is a folder for replies where those of earlier runs are not wanted."""
    from ragstone.llm.budget import parse_budget  # noqa: PLC0415  (only who asks a model needs it)
    from ragstone.llm.distant_cache import open_cache  # noqa: PLC0415
    from ragstone.llm.gateway import GatewaySettings  # noqa: PLC0415

    budget = options.get("budget")
    return GatewaySettings(
        concurrency=concurrency,
        timeout_s=options.get("timeout_s", 120.0),
        deadline_s=options.get("deadline_s"),
        requests_per_minute=options.get("requests_per_minute"),
        tokens_per_minute=options.get("tokens_per_minute"),
        cache=open_cache() if options.get("cache", True) else open_cache(replies) if replies else None,
        budget=None if budget is None else parse_budget(budget),
        base_url=options.get("base_url"),
        offline=bool(options.get("offline", False)),
    )


def _no_gateway(name: str) -> Never:
    raise AssertionError(f"{name} runs here, no gateway is asked")


class Opened:
    """Tools, and what must be closed when they are no longer used."""

    def __init__(self, tools: Mapping[str, Tool], gateway: Gateway | None, prompts: PromptBook | None) -> None:
        self.tools = tools
        self._gateway = gateway
        self._prompts = prompts

    def prompts(self, names: Iterable[str]) -> dict[str, dict[str, str]]:
        """Hash and text of the prompts that were asked with."""
        if self._prompts is None:
            return {}
        found = {name: self._prompts.get(name) for name in sorted(set(names))}
        return {name: {"hash": prompt.hash, "text": prompt.text} for name, prompt in found.items()}

    @property
    def problem(self) -> str | None:
        """What went wrong without failing the run, if anything did."""
        return self._gateway.problem if self._gateway else None

    async def close(self) -> None:
        """Give connections back."""
        if self._gateway:
            await self._gateway.close()
