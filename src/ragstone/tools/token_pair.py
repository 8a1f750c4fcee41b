"""Pairs of answers by one token: the probability that the first answer is better, in both orders."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ragstone.data.types import PairVerdict
from ragstone.llm.prompted import Judge
from ragstone.llm.prompts import Prompt
from ragstone.llm.prompts.book import Example
from ragstone.llm.yes_no import YesNoLLM
from ragstone.tools.checkers import HIGH, LOW
from ragstone.tools.llm_pairs import Decision, JudgePair

# Probabilities end here: their log-odds would be without limit.
_EDGE = 1e-4
# The verdict of both orders together.
BOTH = "both"


class TokenPair(JudgePair):
    """Asks whether A is better than B. What the model adds to the first position cancels out over both orders.

    There is no room for reasons: "cot" has no effect.
    """

    def __init__(
        self, judge: Judge, aspect: str = "quality", order: str = "both", manners: Collection[str] = ()
    ) -> None:
        super().__init__(judge, aspect, order, set(manners) - {"cot"}, prompt="token_pair")
        self._asked: dict[str, YesNoLLM] = {}

    @property
    def signature(self) -> str:
        """The model and the settings."""
        return f"{super().signature},verdicts=tokens/2"

    def _examples(self, shown: Collection[str]) -> list[Example]:
        """The examples with a winner, answered by yes or no."""
        found = [(example, json.loads(example.reply)["winner"]) for example in super()._examples(shown)]
        return [Example(one.data, json.dumps("yes" if won == "A" else "no")) for one, won in found if won != "tie"]

    async def _decide(self, prompt: Prompt, data: Mapping[str, Any]) -> Decision:
        if prompt.hash not in self._asked:
            self._asked[prompt.hash] = YesNoLLM(self._judge.llm, self._judge.prompts, [prompt])
        likely = await self._asked[prompt.hash].ask(prompt.name, data, guess=True)
        return Decision(_seat(likely), f"A is better with a probability of {likely:.3f}.", likely)

    def _conclude(self, verdicts: Sequence[PairVerdict], decisions: Sequence[Decision]) -> list[PairVerdict]:
        """Adds the verdict of both orders: half the difference of the log-odds that either answer gets in first position."""
        if len(decisions) < 2:
            return list(verdicts)
        first, second = (_log_odds(one.likely or 0.0) for one in decisions)
        likely = 1.0 / (1.0 + math.exp((second - first) / 2))
        winner = {"A": "one", "B": "other", "tie": "tie"}[_seat(likely)]
        return [*verdicts, PairVerdict(BOTH, winner, f"Over both orders: {likely:.3f}.")]


def _seat(likely: float) -> str:
    return "A" if likely >= HIGH else "B" if likely <= LOW else "tie"


def _log_odds(likely: float) -> float:
    within = min(max(likely, _EDGE), 1.0 - _EDGE)
    return math.log(within / (1.0 - within))
