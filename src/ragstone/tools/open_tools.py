"""Opens the tools of a run from the user's options. `TOOLS` lists all of them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Never, cast

from ragstone.errors import UnknownNameError, UsageError
from ragstone.llm.base import LLM, LLMAccessError
from ragstone.number_format import duration
from ragstone.text.matchers import MATCHERS, JudgeMatcher, Matcher, make_matcher
from ragstone.tools import protocols
from ragstone.tools.calibrations import Calibrations
from ragstone.tools.corpus import WordCorpus
from ragstone.tools.embedders import Embedding
from ragstone.tools.judging_options import JudgingOptions
from ragstone.tools.llama import LARGE, in_process, is_llama, is_trained_judge, open_large
from ragstone.tools.model_options import ModelOptions
from ragstone.tools.protocols import Tool
from ragstone.tools.roles import Roles
from ragstone.tools.scorers import Scoring

if TYPE_CHECKING:
    from ragstone.llm.gateway import Gateway, GatewaySettings
    from ragstone.llm.prompts import PromptBook
    from ragstone.models.local_judge import Card

# If the large judge takes longer, it must be named: a plain run takes seconds, or minutes with the small judge.
MOST_SECONDS_LARGE = 300.0


class ToolFactory:
    """The models of one run, opened from its options."""

    def __init__(
        self,
        options: JudgingOptions,
        concurrency: int,
        dry_run: bool = False,
        wanted: Collection[str] | None = None,
        large: bool = False,
    ) -> None:
        """`wanted` are the tools to open; all by default. `large`: the large judge is used by default if it is installed."""
        ModelOptions.from_keywords(options)  # checks names and values
        self.options = options
        self._concurrency = concurrency
        self._dry_run = dry_run
        self._wanted = TOOLS.keys() if wanted is None else TOOLS.keys() & set(wanted)
        self.calibrations = Calibrations(options.get("calibration", True))
        self._roles = Roles(options, large)
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
    def has_cascade(self) -> bool:
        """Whether a local judge escalates to a language model."""
        return self._roles.has_cascade

    @property
    def checker_name(self) -> str | None:
        """The language models that check claims, if they are named by a text; None for your own objects and the local judges."""
        models = [model for model in self._roles.remote.get("checker", ()) if model != LARGE]
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

    def untried(self, needs: Collection[str]) -> list[Any]:
        """The models of these tools that are asked for tokens if a trial shows that they can be."""
        known = self.options
        wanted: Any = known.get("verdicts", "auto")
        roles = ("checker", "grader", *(["pair_judge"] if wanted == "tokens" else ()))
        models = [model for role in roles if role in needs for model in self._roles.remote.get(role, ())]
        if not models:
            return []
        from ragstone.llm.batches import read_batch_option  # noqa: PLC0415  (slow imports)
        from ragstone.tools.verdict_tools import choose_verdicts  # noqa: PLC0415

        settings, found = read_batch_option(known.get("batch")), []
        for model in models if not (settings and settings.folder) else ():  # files: no model can be asked now
            if model in self._roles.remote.get("checker", ()) and (find_function(model) or _find_facts(model)):
                continue
            way = choose_verdicts(wanted, model, known.get("base_url"), known.get("repeats", 1))
            is_tried = isinstance(wanted, Mapping) and model in wanted
            if way != "json" and not (is_tried or is_llama(model) or is_trained_judge(model)) and model not in found:
                found.append(model)
        return found

    @property
    def full_options(self) -> JudgingOptions:
        """The options with the large judge by its name if it is used by default, for processes on other machines."""
        return {**self.options, "judge": f"local>{LARGE}"} if self._roles.defaults else self.options

    def caches(self, needs: Collection[str]) -> bool:
        """Whether replies of language models for these tools stay in the cache."""
        return bool(self.options.get("cache", True)) and not self._roles.remote.keys().isdisjoint(needs)

    def settle_large(self, estimate: Callable[[Collection[str]], float]) -> str:
        """Leave out the large judge if it is not named and its estimated seconds are many; return a note, or nothing."""
        if not self._roles.defaults or (seconds := estimate(self._roles.defaults)) <= MOST_SECONDS_LARGE:
            return self._roles.unused
        self._roles = Roles(self.options)
        self.__dict__.pop("tools", None)
        return f"the larger judge would take about {duration(seconds)} here: --judge {LARGE} asks it"

    def settle_verdicts(self, ways: Mapping[str, str]) -> None:
        """Fix how each model is asked for verdicts, unless the user did. The tools are opened again: their signatures differ."""
        if self.options.get("verdicts") != "tokens":
            self.options = cast("JudgingOptions", {**self.options, "verdicts": dict(ways)})
            self.__dict__.pop("tools", None)

    async def try_tokens(self, models: Sequence[Any], note: Callable[[str], object]) -> dict[str, str]:
        """Ask models a question each, and return the way of asking for their verdicts. A budget includes these calls."""
        from ragstone.llm.budget import parse_budget  # noqa: PLC0415  (slow import)

        if self.options.get("budget") is not None:
            self.options = {**self.options, "budget": parse_budget(self.options["budget"])}
        opened, started = self._open(), time.monotonic()
        try:
            faults = [(str(model), await opened.find_token_fault(model)) for model in models]
        finally:
            await opened.close()
        if deadline := self.options.get("deadline_s"):
            self.options = {**self.options, "deadline_s": max(deadline - (time.monotonic() - started), 1e-3)}
        for fault in (fault for _, fault in faults if fault):
            if self.options.get("verdicts") == "tokens":
                raise LLMAccessError(f"{fault}: verdicts cannot be read from tokens. Choose --verdicts json.")
            note(f"{fault}: verdicts are asked for as JSON (--verdicts json)")
        return {model: "json" if fault else "tokens" for model, fault in faults}

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
        local = self._roles.local_tools(self._dry_run) if self._wanted - {"matcher"} else {}
        opener = ToolOpener(self.options, *models, gateway, prompts, local, self._dry_run, self.calibrations)
        opening = ((name, spec.open(opener)) for name, spec in TOOLS.items() if name in self._wanted)
        tools = {name: tool for name, tool in opening if tool is not None}
        return Opened(tools, gateway, prompts)


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
    # Models in this process, by name.
    in_process: dict[str, LLM] = field(default_factory=dict)

    def remote(self, method: str) -> Any:
        """A method of the gateway; there is a gateway if a remote model is named."""
        return getattr(self.gateway, method, _no_gateway)

    def role(self, role: str) -> Tool | None:
        """A tool that the judge models provide."""
        models = self.roles.remote.get(role, ())
        if role == "checker" and len(models) == 1 and (function := find_function(models[0], self.dry_run)):
            if self.options.get("checker") is None:
                raise UsageError(
                    f"{function.name} takes claims and texts: name it with --checker (checker=…), not as judge"
                )
            return self.roles.open_role(role, function, self.local, self.dry_run)
        rungs: list[Any] = [self._open_field_checker(role, model) or self._open_remote(role, model) for model in models]
        remote = rungs[0] if rungs else None
        if len(rungs) > 1 and role in ("checker", "grader"):
            from ragstone.tools.checkers import TokenCascade  # noqa: PLC0415

            remote = TokenCascade(
                rungs[0], rungs[1], self.roles.agreement, self.dry_run, tally=self.roles.is_lowest(role)
            )
        return self.roles.open_role(role, remote, self.local, self.dry_run)

    def _open_field_checker(self, role: str, model: Any) -> Tool | None:
        """One of the field's checkers, asked in its own form; None for any other model."""
        if (facts := _find_facts(model)) is None:
            return None
        from ragstone.tools import field_checkers as field  # noqa: PLC0415  (slow import)

        if role != "checker" or self.options.get("checker") is None:
            raise UsageError(
                f"{model} only checks claims: name it with --checker (checker=…), not as judge or extractor"
            )
        if facts.runner != field.CHAT:
            return field.open_in_process(facts, model, self.dry_run)
        field.check_server(facts, model)
        return field.ChatFieldChecker(facts, model, self._open_llm(model))

    def _open_llm(self, model: Any, writes: bool = False) -> LLM:
        """A language model behind the gateway; `llama/NAME` runs in this process. `writes`: the large judge without its adapter."""
        if self.gateway is None:
            raise AssertionError("a remote model needs a gateway")
        if is_llama(model):
            key = f"{model}{' writes' if writes else ''}"
            model = self.in_process.setdefault(key, open_large(writes=True) if writes else in_process(model))
        return self.gateway.open_llm(model)

    def _open_remote(self, role: str, model: Any) -> Tool:
        from ragstone.llm.prompted import Judge as PromptedJudge  # noqa: PLC0415  (slow import)
        from ragstone.llm.vision import find_vision  # noqa: PLC0415
        from ragstone.tools.llm_extractor import JudgeExtractor  # noqa: PLC0415
        from ragstone.tools.llm_judges import JudgeReader  # noqa: PLC0415
        from ragstone.tools.llm_pairs import JudgePair  # noqa: PLC0415
        from ragstone.tools.llm_rater import JudgeRater  # noqa: PLC0415
        from ragstone.tools.token_pair import TokenPair  # noqa: PLC0415
        from ragstone.tools.verdict_tools import open_verdicts  # noqa: PLC0415

        if self.gateway is None or self.prompts is None:
            raise AssertionError("a remote model needs a gateway")
        if role == "extractor" and is_trained_judge(model):
            if model.strip() != LARGE:
                raise UsageError(f"{model} only judges. Name its base model, or --extractor {LARGE}")
            from ragstone.tools.large_extractor import LargeExtractor  # noqa: PLC0415

            return LargeExtractor(self._open_llm(model, writes=True))
        options, images = self.options, self.options.get("images", "auto")
        note = "" if images == "auto" else f",images={images}"
        judge = PromptedJudge(self._open_llm(model), self.prompts, vision=find_vision(model, images), note=note)
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
            tool: Tool = open_verdicts(role, model, judge, options, self.calibrations)
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
        "name a language model with --judge; the local judge does not write questions, select sentences or grade chunks",
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


def find_function(model: Any, dry_run: bool = False) -> Any:
    """The checker of a function of claims and texts; None for a language model."""
    if isinstance(model, LLM) or (isinstance(model, str) and ".py:" not in model):
        return None
    from ragstone.tools.function_checker import open_function  # noqa: PLC0415  (slow import)

    return open_function(model, dry_run)


def _find_facts(model: Any) -> Any:
    """The facts about one of the field's checkers; None for any other model."""
    from ragstone.models.checker_facts import recognise  # noqa: PLC0415  (slow import)

    return recognise(model) if isinstance(model, str) else None


def _no_gateway(name: str) -> Never:
    raise AssertionError(f"{name} is local and needs no gateway")


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
        # A tool may ask with prompts of its own in place of a declared one.
        replaced = {name: asked for tool in self.tools.values() for name, asked in getattr(tool, "prompts", {}).items()}
        wanted = {asked for name in names for asked in replaced.get(name, (name,))}
        sent = {name: self._prompts.get(name) for name in sorted(wanted)}
        return {name: {"hash": prompt.hash, "text": prompt.text} for name, prompt in sent.items()}

    @property
    def problem(self) -> str | None:
        """A problem that did not fail the run, or None."""
        return self._gateway.problem if self._gateway else None

    async def find_token_fault(self, model: Any) -> str | None:
        """Return why verdicts of a model cannot be read from tokens, or None if they can."""
        from ragstone.tools.verdict_tools import find_token_fault  # noqa: PLC0415  (slow import)

        if self._gateway is None or self._prompts is None:
            raise AssertionError("a remote model needs a gateway")
        return await find_token_fault(self._gateway.open_llm(model), self._prompts)

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
