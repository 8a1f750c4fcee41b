"""Which part of a run the local judge takes: what is named `local`, what nobody is named for, and the first rung of a ladder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from ragstone.engine.planning import Tool
from ragstone.errors import UsageError

if TYPE_CHECKING:
    from ragstone.models.local_judge import LocalJudge, Support
    from ragstone.models.trained import Trained

# What a user can name somebody for.
NAMED = ("judge", "extractor", "checker")
# What the local judge can do.
LOCAL_ROLES = frozenset({"extractor", "checker", "grader", "estimator"})
_NAMES = ("local", "local/judge")
DEFAULT_AGREEMENT = 0.9


class Choice(NamedTuple):
    """Who does something: the local judge, a language model, the first before the second, or nobody that was named."""

    local: bool
    remote: Any

    @property
    def is_ladder(self) -> bool:
        """Whether the local judge is asked first and the language model only where that is unsure."""
        return self.local and self.remote is not None


def choose(named: Any) -> Choice:
    """What a name says: `local`, `openai/gpt-4o-mini`, `local>openai/gpt-4o-mini`, a model of one's own, or `("local", model)`."""
    if isinstance(named, tuple) and len(named) == 2 and named[0] in _NAMES:
        return Choice(local=True, remote=named[1])
    if not isinstance(named, str):
        return Choice(local=False, remote=named)
    first, arrow, second = (part.strip() for part in named.partition(">"))
    if not arrow:
        if first.startswith("local/") and first not in _NAMES:
            raise UsageError(f"'{first}' is no local judge. There is: {', '.join(_NAMES)}")
        return Choice(local=first in _NAMES, remote=None if first in _NAMES else named)
    if first not in _NAMES or not second or ">" in second or second in _NAMES:
        raise UsageError(f"'{named}' is no ladder of judges. Write the local one first: local>openai/gpt-4o-mini")
    return Choice(local=True, remote=second)


class Roles:
    """Who takes which part in a run: judge, extractor, checker, grader, estimator."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        judge = options.get("judge")
        self._trained: Any = options.get("trained_judge")
        if isinstance(judge, str) and judge.startswith("trained/"):
            # It says what people would say of an answer; the rest of the work is nobody's or the local judge's.
            self._trained, judge = judge, None
        others = {role: options.get(role) for role in NAMED if role != "judge"}
        self._choices = {role: choose(others.get(role) or judge) for role in NAMED}
        # Claims are taken apart here or there; nobody can be unsure about that.
        if self._choices["extractor"].is_ladder:
            self._choices["extractor"] = Choice(local=True, remote=None)
        self._choices["grader"] = self._choices["judge"]
        # The local judge gives no grades, so there is no ladder either.
        for role in ("rater", "pair_judge"):
            self._choices[role] = Choice(local=False, remote=self._choices["judge"].remote)
        self._agreement = float(options.get("agreement", DEFAULT_AGREEMENT))
        if not 0.5 <= self._agreement < 1.0:
            raise UsageError(f"agreement must be from 0.5 to less than 1, got {self._agreement:g}")
        self._estimator = options.get("estimator")
        self._triplets = options.get("claims") == "triplets"
        if self._triplets and self._choices["extractor"].local:
            raise UsageError(
                "the local judge cannot write triplets; leave out --claims triplets, or name an --extractor"
            )
        if any(choice.local for choice in self._choices.values()) and self.judge is None:
            raise AssertionError("a judge that was named is there, or its absence was told")

    @property
    def remote(self) -> dict[str, Any]:
        """The language models that are named, by role."""
        return {role: choice.remote for role, choice in self._choices.items() if choice.remote is not None}

    @property
    def unnamed(self) -> frozenset[str]:
        """The roles that the local judge takes though nobody named it."""
        open_roles = {role for role, choice in self._choices.items() if not choice.local and choice.remote is None}
        named = self._choices["judge"].local or self._estimator is not None
        return frozenset(open_roles if named else {*open_roles, "estimator"})

    @cached_property
    def judge(self) -> LocalJudge | None:
        """The local judge; one that was named must be there, one that was not is used where it is there and not switched off."""
        from ragstone.models.local_judge import find_local_judge, open_local_judge  # noqa: PLC0415  (reads its card)

        named = any(choice.local for choice in self._choices.values())
        return open_local_judge() if named else find_local_judge()

    @property
    def has_ladder(self) -> bool:
        """Whether a language model stands above the local judge."""
        return any(choice.is_ladder for choice in self._choices.values())

    def fill(self, remote: Mapping[str, Tool], quoting: bool) -> dict[str, Tool]:
        """The tools of the language models, and the local judge's for what is named local or has no other.

        A quote counts every call that the upper rung of a ladder might get.
        """
        local = self._local_tools(quoting)
        estimator = self._estimator or local.get("estimator")
        found: dict[str, Tool] = {"estimator": estimator} if estimator else {}
        if self._trained is not None:
            found["trained_judge"] = self._trained_tool()
        for role, choice in self._choices.items():
            if choice.is_ladder and role in local and not quoting:
                found[role] = self._stack(role, local[role], remote[role])
            elif role in remote:
                found[role] = remote[role]
            elif role in local:
                found[role] = local[role]
        return found

    @cached_property
    def _trained_model(self) -> Trained:
        from ragstone.models.trained import open_trained  # noqa: PLC0415

        return open_trained(self._trained)

    def _trained_tool(self) -> Any:
        """The judge that was trained on labels, or one's own."""
        if not isinstance(self._trained, str):
            return self._trained
        from ragstone.evidence.judges.trained import make_tool  # noqa: PLC0415

        return make_tool(self._trained_model)

    def _local_tools(self, quoting: bool) -> dict[str, Any]:
        if self.judge is None:
            return {}
        from ragstone.evidence.judges.local_checker import LocalChecker  # noqa: PLC0415
        from ragstone.evidence.judges.local_extractor import LocalExtractor  # noqa: PLC0415
        from ragstone.evidence.judges.local_grader import LocalEstimator, LocalGrader  # noqa: PLC0415
        from ragstone.models.local_judge import Judgements  # noqa: PLC0415

        signature = self.judge.signature
        judgements: Any = Unweighed() if quoting else Judgements(self.judge)
        checker = LocalChecker(judgements, self.judge.card, signature)
        return {
            **({} if self._triplets else {"extractor": LocalExtractor()}),
            "checker": checker,
            "grader": LocalGrader(judgements, checker, signature),
            "estimator": LocalEstimator(judgements, signature),
        }

    def _stack(self, role: str, local: Any, above: Any) -> Tool:
        from ragstone.evidence.judges.ladder import LadderChecker, LadderGrader  # noqa: PLC0415

        kind = LadderChecker if role == "checker" else LadderGrader
        return kind(local, above, self._agreement)


class Unweighed:
    """Stands for the local judge while a run is only quoted: it costs nothing, and nothing is computed."""

    async def match(self, question: str, references: Sequence[str], answer: str) -> list[float]:  # noqa: ARG002
        """Nothing matches."""
        return [0.0 for _ in references]

    async def support(self, evidence_and_claims: Sequence[tuple[str, str]]) -> list[Support]:
        """Nothing is supported."""
        from ragstone.models.local_judge import Support  # noqa: PLC0415

        return [Support(0.0, 0.0) for _ in evidence_and_claims]

    async def fraction(self, evidence_and_texts: Sequence[tuple[str, str]]) -> list[float]:
        """No share."""
        return [0.0 for _ in evidence_and_texts]
