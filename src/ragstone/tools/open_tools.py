"""Opens the tools of a run from the user's options. `TOOLS` lists all of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Never

from ragstone.errors import UnknownNameError
from ragstone.llm.base import LLM
from ragstone.text.matchers import MATCHERS, JudgeMatcher, Matcher, make_matcher
from ragstone.tools import protocols
from ragstone.tools.calibrations import Calibrations
from ragstone.tools.corpus import WordCorpus
from ragstone.tools.embedders import Embedding
from ragstone.tools.judging_options import JudgingOptions
from ragstone.tools.llama import in_process, is_llama
from ragstone.tools.model_options import ModelOptions
from ragstone.tools.protocols import Tool
from ragstone.tools.roles import Roles
from ragstone.tools.scorers import Scoring

if TYPE_CHECKING:
    from ragstone.llm.gateway import Gateway, GatewaySettings
    from ragstone.llm.prompts import PromptBook
    from ragstone.models.local_judge import Card


class Judging:
    """The models of one run, opened from its options."""

    def __init__(self, options: JudgingOptions, concurrency: int, dry_run: bool = False) -> None:
        ModelOptions.from_keywords(options)  # checks names and values
        self.options = options
        self._concurrency = concurrency
        self._dry_run = dry_run
        self.calibrations = Calibrations(options.get("calibration", True))
        self._roles = Roles(options)
        self._embedding = Embedding(options.get("embedder"))
        self._scoring = Scoring(*(options.get(name) for name in ("scorer", "reward_model", "toxicity_model")))
        # Tools that are open and that `open` has not returned yet.
        self._waiting: Opened | None = None

    @cached_property
    def tools(self) -> Mapping[str, Tool]:
        """The tools, for their signatures. A wrong name or a missing key raises an error here, before data is read."""
        self._waiting = self._open()
        return self._waiting.tools

    @property
    def unnamed(self) -> frozenset[str]:
        """The tools that no option names: local models that are used by default."""
        return (self._roles.unnamed | self._embedding.unnamed | self._scoring.unnamed) & self.tools.keys()

    @property
    def has_ladder(self) -> bool:
        """Whether a local judge escalates to a language model."""
        return self._roles.has_ladder

    @property
    def checker_name(self) -> str | None:
        """The language models that check claims, if they are named by a text; None for your own objects and the local judge."""
        models = self._roles.remote.get("checker", ())
        return ">".join(models) if models and all(isinstance(model, str) for model in models) else None

    @property
    def card(self) -> Card | None:
        """The card of the local judge."""
        return self._roles.judge.card if self._roles.judge else None

    def describe(self, needs: Collection[str]) -> dict[str, str]:
        """Tool signatures for run.json; default tools appear only if the plan needs them."""
        return {name: tool.signature for name, tool in self.tools.items() if name in needs or name not in self.unnamed}

    def open(self, replies: str | None = None, shared: Mapping[str, Any] | None = None) -> Opened:
        """Tools for one event loop; the caller closes them.

        `replies` is a folder for the replies of this run, used if the cache is off. `shared` has gateway settings that hold for
        several processes together: limiter, budget, remaining time. The tools that were opened for their signatures
        are returned if their settings are the same. Otherwise they are dropped: they made no connection, and the new set
        closes the user's own models.
        """
        waiting, self._waiting = self._waiting, None
        same = not shared and self.options.get("cache", True) and self.options.get("deadline_s") is None
        return waiting if waiting and same else self._open(replies, shared)

    @property
    def is_open(self) -> bool:
        """Whether there are open tools that `open` has not returned."""
        return self._waiting is not None

    async def close(self) -> None:
        """Close the tools that were opened for their signatures, unless `open` returned or replaced them."""
        waiting, self._waiting = self._waiting, None
        if waiting:
            await waiting.close()

    def _open(self, replies: str | None = None, shared: Mapping[str, Any] | None = None) -> Opened:
        gateway = prompts = None
        if self._embedding.asks or self._scoring.asks or self._roles.remote:
            from ragstone.llm.gateway import Gateway  # noqa: PLC0415  (slow import)
            from ragstone.llm.prompts import PromptBook  # noqa: PLC0415

            settings = replace(gateway_settings(self.options, self._concurrency, replies), **(shared or {}))
            gateway = Gateway(settings, quoting=self._dry_run)
            folder = self.options.get("prompts")
            prompts = PromptBook(None if folder is None else os.fspath(folder))
        models = (self._roles, self._embedding, self._scoring)
        local = self._roles.local_tools(self._dry_run)
        opener = ToolOpener(self.options, *models, gateway, prompts, local, self._dry_run, self.calibrations)
        tools = {name: tool for name, spec in TOOLS.items() if (tool := spec.open(opener)) is not None}
        return Opened(tools, gateway, prompts, opener.notes)


@dataclass(frozen=True)
class ToolOpener:
    """The models of one run, from which `TOOLS` opens each tool."""

    options: JudgingOptions
    roles: Roles
    embedding: Embedding
    scoring: Scoring
    gateway: Gateway | None
    prompts: PromptBook | None
    # The tools of the local judge, by role.
    local: Mapping[str, Any]
    dry_run: bool
    calibrations: Calibrations
    # What the user must know about the tools; filled while they are used.
    notes: list[str] = field(default_factory=list)
    # Models in this process, by name.
    in_process: dict[str, LLM] = field(default_factory=dict)

    def remote(self, method: str) -> Any:
        """A method of the gateway; there is a gateway if a remote model is named."""
        return getattr(self.gateway, method, _no_gateway)

    def role(self, role: str) -> Tool | None:
        """A tool that the judge models provide."""
        models = self.roles.remote.get(role, ())
        rungs: list[Any] = [self._open_remote(role, model) for model in models]
        remote = rungs[0] if rungs else None
        if len(rungs) > 1 and role in ("checker", "grader"):
            from ragstone.tools.cascade import TokenLadder  # noqa: PLC0415

            remote = TokenLadder(
                rungs[0], rungs[1], self.roles.agreement, self.dry_run, tally=self.roles.is_lowest(role)
            )
        return self.roles.open_role(role, remote, self.local, self.dry_run)

    def _open_llm(self, model: Any) -> LLM:
        """A language model behind the gateway; `llama/NAME` runs in this process."""
        if self.gateway is None:
            raise AssertionError("a remote model needs a gateway")
        if is_llama(model):
            model = self.in_process.setdefault(model, in_process(model))
        return self.gateway.open_llm(model)

    def _open_remote(self, role: str, model: Any) -> Tool:
        from ragstone.llm.prompted import Judge as PromptedJudge  # noqa: PLC0415  (slow import)
        from ragstone.tools.llm_extractor import JudgeExtractor  # noqa: PLC0415
        from ragstone.tools.llm_judges import JudgeReader  # noqa: PLC0415
        from ragstone.tools.llm_pairs import JudgePair  # noqa: PLC0415
        from ragstone.tools.llm_rater import JudgeRater  # noqa: PLC0415
        from ragstone.tools.token_pair import TokenPair  # noqa: PLC0415
        from ragstone.tools.verdict_tools import VerdictTools  # noqa: PLC0415

        if self.gateway is None or self.prompts is None:
            raise AssertionError("a remote model needs a gateway")
        options, judge = self.options, PromptedJudge(self._open_llm(model), self.prompts)
        grading = options.get("grading", ())
        if role == "rater":
            return JudgeRater(judge, options.get("scale", "points"), grading)
        if role == "pair_judge":
            aspect, order = options.get("aspect", "quality"), options.get("order", "both")
            kind = TokenPair if options.get("verdicts") == "tokens" else JudgePair
            return kind(judge, aspect, order, grading)
        if role == "extractor":
            return JudgeExtractor(judge, options.get("claims", "sentences"))
        if role in ("checker", "grader"):
            tool: Tool = VerdictTools(options, self.calibrations, self.notes.append).open(role, model, judge)
            return tool
        return JudgeReader(judge)


class ToolSpec(NamedTuple):
    """A tool: its protocol, the option that names it, how to get it, and the function that opens it."""

    protocol: type
    flag: str | None
    how_to_get: str
    open: Callable[[ToolOpener], Tool | None]


def _role(name: str) -> Callable[[ToolOpener], Tool | None]:
    return lambda opener: opener.role(name)


def _scoring(name: str) -> Callable[[ToolOpener], Tool | None]:
    return lambda opener: opener.scoring.open(name, opener.remote("open_scorer"), opener.dry_run)


# All tools that evidence functions may need. The matcher is not a judge model: `open_matcher` opens it.
TOOLS: dict[str, ToolSpec] = {
    "matcher": ToolSpec(Matcher, "--matcher", "choose one with --matcher", lambda _: None),
    "judge": ToolSpec(
        protocols.Judge,
        "--judge",
        "name a language model with --judge; the local judge does not write questions or select sentences",
        _role("judge"),
    ),
    "extractor": ToolSpec(
        protocols.Extractor, "--extractor", "name a model with --judge or --extractor", _role("extractor")
    ),
    "checker": ToolSpec(protocols.Checker, "--checker", "name a model with --judge or --checker", _role("checker")),
    "grader": ToolSpec(protocols.Grader, "--judge", "name a model with --judge", _role("grader")),
    "pair_judge": ToolSpec(protocols.PairJudge, "--judge", "name a language model with --judge", _role("pair_judge")),
    "rater": ToolSpec(
        protocols.Rater, "--judge", "name a language model with --judge; the local judge does not grade", _role("rater")
    ),
    "corpus": ToolSpec(
        protocols.Corpus,
        "--corpus",
        "name documents, or a JSONL file of chunks, with --corpus",
        lambda opener: WordCorpus.open(opener.options.get("corpus")),
    ),
    "trained_judge": ToolSpec(
        protocols.LabelGuesser,
        "--judge",
        "name one with --judge trained/NAME; `ragstone train` trains it on your own labels",
        lambda opener: opener.roles.open_trained(),
    ),
    "estimator": ToolSpec(
        protocols.Estimator,
        None,
        "it comes with the local judge; reinstall ragstone",
        lambda opener: opener.roles.open_estimator(opener.local),
    ),
    "embedder": ToolSpec(
        protocols.Embedder,
        "--embedder",
        "name one with --embedder, or install a local one: ragstone models pull minilm",
        lambda opener: opener.embedding.open_embedder(opener.remote("open_embedder"), opener.dry_run),
    ),
    "token_embedder": ToolSpec(
        protocols.TokenEmbedder,
        None,
        "install one: ragstone models pull minilm",
        lambda opener: opener.embedding.open_token_embedder(opener.dry_run),
    ),
    "scorer": ToolSpec(
        protocols.Scorer,
        "--scorer",
        "name one with --scorer, or install a local one: ragstone models pull smollm2",
        _scoring("scorer"),
    ),
    "reward_model": ToolSpec(
        protocols.RewardModel,
        None,
        "install one: ragstone models pull reward (and pip install torch transformers)",
        _scoring("reward_model"),
    ),
    "toxicity_model": ToolSpec(
        protocols.ToxicityModel,
        None,
        "install one: ragstone models pull toxicity (and pip install torch transformers)",
        _scoring("toxicity_model"),
    ),
}


def gateway_settings(options: JudgingOptions, concurrency: int, replies: str | None = None) -> GatewaySettings:
    """The gateway settings of a run; `replies` is a folder for its replies, used if the cache is off."""
    from ragstone.llm.batches import read_batch_option  # noqa: PLC0415  (slow import)
    from ragstone.llm.budget import parse_budget  # noqa: PLC0415
    from ragstone.llm.cache import open_cache  # noqa: PLC0415
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
        batch=read_batch_option(options.get("batch")),
    )


def _no_gateway(name: str) -> Never:
    raise AssertionError(f"{name} is local and needs no gateway")


class Opened:
    """Tools, and what must be closed when they are no longer used."""

    def __init__(
        self,
        tools: Mapping[str, Tool],
        gateway: Gateway | None,
        prompts: PromptBook | None,
        notes: Sequence[str] = (),
    ) -> None:
        self.tools = tools
        self._notes = notes
        self._gateway = gateway
        self._prompts = prompts

    def prompts(self, names: Iterable[str]) -> dict[str, dict[str, str]]:
        """Hash and text of the prompts that were asked with."""
        if self._prompts is None:
            return {}
        # A tool may ask with prompts of its own in place of a declared one.
        replaced = {name: asked for tool in self.tools.values() for name, asked in getattr(tool, "prompts", {}).items()}
        wanted = {asked for name in names for asked in replaced.get(name, (name,))}
        sent = {name: self._prompts.get(name) for name in sorted(wanted)}
        return {name: {"hash": prompt.hash, "text": prompt.text} for name, prompt in sent.items()}

    @property
    def problem(self) -> str | None:
        """A problem that did not fail the run, or None."""
        problem = self._gateway.problem if self._gateway else None
        return "\n".join(dict.fromkeys([*([problem] if problem else []), *self._notes])) or None

    async def close(self) -> None:
        """Give connections back."""
        if self._gateway:
            await self._gateway.close()


SEMANTIC = "semantic"


def open_matcher(name: str | Matcher) -> Matcher:
    """The matcher of that name, or the user's own; the semantic matcher uses a local model."""
    if not isinstance(name, str):
        return name
    if name == JudgeMatcher.name:
        return JudgeMatcher()
    if name == SEMANTIC:
        from ragstone.models.embedders import open_encoder  # noqa: PLC0415  (slow import)
        from ragstone.models.semantic_matcher import SemanticMatcher  # noqa: PLC0415

        return SemanticMatcher(open_encoder("local/minilm"))
    if name not in MATCHERS:
        known = [*MATCHERS, SEMANTIC, JudgeMatcher.name]
        raise UnknownNameError("fact matcher", name, known, f"Choose from: {', '.join(known)}.")
    return make_matcher(name)
