"""Assigns roles to judges: the local judge, a language model, or a cascade of both."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

from ragstone.errors import UsageError
from ragstone.tools.llama import LARGE, is_llama, is_trained_judge
from ragstone.tools.protocols import DryRunTool, Tool

if TYPE_CHECKING:
    from ragstone.models.local_judge import LocalJudge


# The roles that an option can name a model for.
NAMED = ("judge", "extractor", "checker")
# What the local judge can do.
LOCAL_ROLES = frozenset({"extractor", "checker", "grader", "estimator"})
_NAMES = ("local", "local/judge")
DEFAULT_AGREEMENT = 0.9


class Choice(NamedTuple):
    """The models for a role: the local judge, a language model, a cascade of them, or none that is named."""

    local: bool
    remote: Any
    # The language model to which `remote`, a model in this process, escalates.
    above: Any = None

    @property
    def strongest(self) -> Any:
        """The last language model of a cascade."""
        return self.remote if self.above is None else self.above

    @property
    def is_cascade(self) -> bool:
        """Whether a judge escalates to another one."""
        return self.above is not None or (self.local and self.remote is not None)


def choose(named: Any) -> Choice:
    """Parse a name: `local`, `openai/gpt-4o-mini`, `local>openai/gpt-4o-mini`, a model of one's own, or `("local", model)`."""
    if isinstance(named, tuple) and len(named) == 2 and named[0] in _NAMES:
        return Choice(local=True, remote=named[1])
    if not isinstance(named, str):
        return Choice(local=False, remote=named)
    rungs = [part.strip() for part in named.split(">")]
    if len(rungs) == 1:
        first = rungs[0]
        if first.startswith("local/") and first not in _NAMES and not _is_checker(first):
            raise UsageError(f"'{first}' is not a local judge. Choose from: {', '.join(_NAMES)}")
        return Choice(local=first in _NAMES, remote=None if first in _NAMES else named)
    local = rungs[0] in _NAMES
    models = rungs[1:] if local else rungs
    between = models[:-1]
    if not all(models) or len(between) > 1 or not all(map(is_llama, between)) or any(one in _NAMES for one in models):
        raise UsageError(
            f"'{named}' is not a cascade of judges. Write the local judge first: local>openai/gpt-4o-mini, or "
            "local>llama/qwen2.5-1.5b>openai/gpt-4o-mini"
        )
    return Choice(local, models[0], models[1] if between else None)


def _is_checker(name: str) -> bool:
    from ragstone.models.checker_facts import recognise  # noqa: PLC0415  (slow import)

    return recognise(name) is not None


class Roles:
    """The models for the roles judge, extractor, checker, grader and estimator."""

    def __init__(self, options: Mapping[str, Any], large: bool = False) -> None:
        """`large`: the large judge need not be named to be used."""
        judge = options.get("judge")
        self._trained: Any = options.get("trained_judge")
        if isinstance(judge, str) and judge.startswith("trained/"):
            # It only predicts labels; the local judge takes the other roles.
            self._trained, judge = judge, None
        others = {role: options.get(role) for role in NAMED if role != "judge"}
        self._choices = {role: choose(others.get(role) or judge) for role in NAMED}
        self._triplets, self._is_cached = options.get("claims") == "triplets", options.get("cache", True)
        # Claim extraction has no confidence, so it cannot be a cascade. Models in this process are small: their claims are
        # those of the local rules.
        extractor = self._choices["extractor"]
        small = (is_llama(judge) and not self._triplets) or is_trained_judge(judge)
        if extractor.is_cascade or (small and not others.get("extractor")):
            self._choices["extractor"] = Choice(local=True, remote=None)
        self._choices["grader"] = self._choices["judge"]
        self.unused = ""  # why the large judge is not a default
        self.defaults = self._large_defaults(options) if large and judge is None else frozenset()
        for role in self.defaults:
            self._choices[role] = Choice(local=True, remote=LARGE)
        # The local judges do not grade, so these roles cannot be a cascade. Nor does a cascade write questions: the
        # strongest model does.
        strongest = self._choices["judge"].strongest
        writer = None if is_trained_judge(strongest) else strongest
        for role in ("rater", "pair_judge"):
            self._choices[role] = Choice(local=False, remote=writer)
        self._choices["judge"] = Choice(self._choices["judge"].local, writer)
        # None: of a cascade to the large judge, the confidence that its card names.
        self._given_agreement = options.get("agreement")
        # The confidence at which a judge decides without escalating.
        self.agreement = float(options.get("agreement", DEFAULT_AGREEMENT))
        if not 0.5 <= self.agreement < 1.0:
            raise UsageError(f"agreement must be from 0.5 to less than 1, got {self.agreement:g}")
        self._estimator = options.get("estimator")
        if self._triplets and self._choices["extractor"].local:
            raise UsageError(
                "the local judge cannot write triplets; leave out --claims triplets, or name an --extractor"
            )
        if any(choice.local for choice in self._choices.values()) and self.judge is None:
            raise AssertionError("a named local judge is installed or raised an error")

    def _large_defaults(self, options: Mapping[str, Any]) -> frozenset[str]:
        """The roles in which the small judge escalates to the large one because it is installed."""
        open_roles = {"grader", *(["checker"] if options.get("checker") is None else ())}
        if self._choices["judge"].local or self.judge is None:
            return frozenset()
        from ragstone.models.large_judge import find_large_judge, unused_large_judge  # noqa: PLC0415  (reads its card)

        self.unused = unused_large_judge()
        return frozenset(open_roles if find_large_judge() else ())

    @property
    def remote(self) -> dict[str, tuple[Any, ...]]:
        """The language models that are named, by role; of a cascade, the lowest first."""
        return {
            role: (choice.remote,) if choice.above is None else (choice.remote, choice.above)
            for role, choice in self._choices.items()
            if choice.remote is not None
        }

    @property
    def unnamed(self) -> frozenset[str]:
        """The roles that the local judges take by default."""
        open_roles = {role for role, choice in self._choices.items() if not choice.local and choice.remote is None}
        open_roles |= self.defaults
        named = self._choices["judge"].local or self._estimator is not None
        return frozenset(open_roles if named else {*open_roles, "estimator"})

    @cached_property
    def judge(self) -> LocalJudge | None:
        """The local judge. If it is named it must be installed; otherwise it is used if it is installed and not switched off."""
        from ragstone.models.local_judge import find_local_judge, open_local_judge  # noqa: PLC0415  (reads its card)

        named = any(choice.local for choice in self._choices.values())
        return open_local_judge() if named else find_local_judge()

    @property
    def has_cascade(self) -> bool:
        """Whether the local judge escalates to a language model."""
        return any(choice.is_cascade for choice in self._choices.values())

    def open_role(self, role: str, remote: Tool | None, local: Mapping[str, Any], dry_run: bool) -> Tool | None:
        """The tool for a role: the language model, the local judge, or a cascade of both.

        A dry run counts every call that the language model of a cascade might get.
        """
        choice = self._choices[role]
        if not (choice.local and choice.is_cascade) or role not in local or remote is None or dry_run:
            return remote or local.get(role)
        from ragstone.tools.checkers import CascadeGrader, LocalCascade  # noqa: PLC0415

        above: Any = remote
        needed = getattr(remote, "cascade_at", None) if self._given_agreement is None else None
        return (LocalCascade if role == "checker" else CascadeGrader)(local[role], above, self.agreement, needed)

    def is_lowest(self, role: str) -> bool:
        """Whether a model of this role has no local judge below it."""
        return not self._choices[role].local

    def open_estimator(self, local: Mapping[str, Any]) -> Tool | None:
        """The user's own estimator, or else that of the local judge."""
        return self._estimator or local.get("estimator")

    def open_trained(self) -> Any:
        """The judge that was trained on labels, or the user's own; None if none is named."""
        if not isinstance(self._trained, str):
            return self._trained
        from ragstone.models.trained import open_trained  # noqa: PLC0415
        from ragstone.tools.trained_judge import make_tool  # noqa: PLC0415

        return make_tool(open_trained(self._trained))

    def local_tools(self, dry_run: bool) -> dict[str, Any]:
        """The tools of the local judge, by role."""
        if self.judge is None:
            return {}
        from ragstone.models.local_judge import Judgements  # noqa: PLC0415
        from ragstone.tools.local_judges import LocalChecker, LocalEstimator, LocalExtractor, LocalGrader  # noqa: PLC0415

        signature = self.judge.signature
        run = None
        if self._is_cached and find_spec("_sqlite3"):  # some builds of Python lack it
            from ragstone.models.judge_memory import JudgeMemory  # noqa: PLC0415

            run = JudgeMemory(self.judge).run
        judgements: Any = DryRunTool(signature) if dry_run else Judgements(self.judge, run)
        checker = LocalChecker(judgements, self.judge.card, signature)
        return {
            **({} if self._triplets else {"extractor": LocalExtractor()}),
            "checker": checker,
            "grader": LocalGrader(judgements, checker, signature),
            "estimator": LocalEstimator(judgements, signature, self.judge.card),
        }
