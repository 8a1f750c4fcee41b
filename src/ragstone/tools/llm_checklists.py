"""Checklists and tests that are passed or failed, by a language model: one call per answer, reasons before verdicts."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import partial
from itertools import accumulate
from typing import Any

from ragstone.data.types import CheckedItem, Grade
from ragstone.llm.base import Reply
from ragstone.llm.prompted import Bounds, Judge, ask_in_pieces
from ragstone.llm.prompts import Prompt
from ragstone.llm.reply_types import (
    ChecklistReply,
    DecisionReply,
    PassFailReply,
    ReasonedChecklistReply,
    ReasonedPassFailReply,
)
from ragstone.tools.aspects import Aspect
from ragstone.tools.checklists import SCORE, DecisionTree, Leaf, fold_answer
from ragstone.tools.nugget_labels import check_numbers

_ITEMS = 'Reply with JSON: {"items": [{"item": 1, "verdict": "..."}]}'
_REASONED_ITEMS = (
    "For each item, write first in one sentence what decides it. "
    'Reply with JSON: {"items": [{"item": 1, "reason": "...", "verdict": "..."}]}'
)
_PLAIN_REPLY = 'Reply with JSON: {"verdict": "pass"} or {"verdict": "fail"}.'
_REASONED_REPLY = (
    "Write first, in at most three sentences, what speaks for and against the text. "
    'Reply with JSON: {"reasoning": "...", "verdict": "pass"} or {"reasoning": "...", "verdict": "fail"}.'
)
_GUESSED_REASON = "The second sentence of the answer states it."
_GUESSED_REASONING = "It answers what was asked, but leaves something out. " * 2
_VERDICT = re.compile(r'"verdict"\s*:\s*"?(?=pass|fail)')
# The least total probability of both words.
_LEAST_KNOWN = 0.5


class BinaryJudge:
    """Asks a language model for verdicts of two kinds: items of a checklist, and tests that are passed or failed."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    async def check(
        self, items: Sequence[str], data: dict[str, str | Sequence[str]], shown: Sequence[str], reasons: bool
    ) -> list[CheckedItem]:
        """The verdict on each item, all in one call."""
        reply = _REASONED_ITEMS if reasons else _ITEMS
        prompt = self._judge.prompts.get("checklist").fill({"reply": reply}, (*shown, "answer", "items"))

        async def ask(some: Sequence[str], repair: bool) -> list[CheckedItem]:
            numbers = range(1, len(some) + 1)
            bounds: Bounds = {
                "items": {"minItems": len(some), "maxItems": len(some)},
                "items.item": {"enum": list(numbers)},
            }
            asked = {**{name: data[name] for name in (*shown, "answer")}, "items": some}
            check = partial(_check_items, count=len(some))
            kind: Any = ReasonedChecklistReply if reasons else ChecklistReply
            guessed = [{"item": at, "reason": _GUESSED_REASON, "verdict": "yes"} for at in numbers]
            guess = kind.model_validate({"items": guessed})
            found = await self._judge.ask(prompt, kind, asked, guess, check, bounds=bounds, repair=repair)
            by_number = {one.item: one for one in found.items}
            return [
                CheckedItem(item, by_number[at].verdict, getattr(by_number[at], "reason", None))
                for at, item in enumerate(some, start=1)
            ]

        return await ask_in_pieces(items, ask)

    async def decide(self, tree: DecisionTree, data: dict[str, str | Sequence[str]]) -> list[CheckedItem]:
        """The replies on the path through a tree, one call each, and its score."""
        asked = {name: data[name] for name in (*tree.shows, "answer")}
        checks: list[CheckedItem] = []
        step: str | Leaf = next(iter(tree.decisions))
        while isinstance(step, str):
            decision = tree.decisions[step]
            terms = {"ask": decision.ask, "choices": "\n".join(f'- "{answer}"' for answer in decision.steps)}
            prompt = self._judge.prompts.get("decision").fill(terms, asked)
            guess = DecisionReply(reason=_GUESSED_REASON, choice=tree.longest(decision))
            bounds: Bounds = {"choice": {"enum": list(decision.steps)}}
            reply = await self._judge.ask(prompt, DecisionReply, asked, guess, decision.check, bounds=bounds)
            choice = decision.answers[fold_answer(reply.choice)]
            checks.append(CheckedItem(decision.ask, choice, reply.reason))
            step = decision.steps[choice]
        return [*checks, CheckedItem(SCORE, f"{step.score:g}", step.reason)]

    def pass_fail_prompt(self, aspect: Aspect, shown: Sequence[str], guidance: str, reasons: bool) -> Prompt:
        """The prompt for an aspect that is passed or failed."""
        passes = aspect.instruction
        if not aspect.is_binary:
            passes = f"it is good enough in {aspect.words}, which measures {aspect.instruction}"
        terms = {
            "task": aspect.task,
            "aspect": aspect.words,
            "passes": passes,
            "fails": aspect.opposite,
            "guidance": guidance,
            "reply": _REASONED_REPLY if reasons else _PLAIN_REPLY,
        }
        return self._judge.prompts.get("pass_fail").fill(terms, shown)

    async def pass_fail(self, prompt: Prompt, data: dict[str, str | Sequence[str]], reasons: bool) -> Grade:
        """1 if the answer passes, else 0; its expected value if the server returns token probabilities."""
        kind: Any = ReasonedPassFailReply if reasons else PassFailReply
        guess = kind.model_validate({"reasoning": _GUESSED_REASONING, "verdict": "pass"})
        verdict, reply = await self._judge.ask_whole(prompt, kind, data, guess, logprobs=True)
        reasoning = getattr(verdict, "reasoning", None)
        return Grade(float(verdict.verdict == "pass"), 0.0, 1.0, probability_of_pass(reply), reasoning)


def _check_items(reply: ChecklistReply | ReasonedChecklistReply, count: int) -> str | None:
    return check_numbers([one.item for one in reply.items], count, "item", "verdict")


def probability_of_pass(reply: Reply) -> float | None:
    """The share of `pass` among the tokens with which the verdict may begin; None if these are unknown."""
    written = list(_VERDICT.finditer(reply.text))
    place = token_at(reply, written[-1].end()) if written else None
    return None if place is None else _share_of_pass((reply.alternatives or ())[place])


def token_at(reply: Reply, offset: int) -> int | None:
    """Which token covers a place of the text, if the tokens spell the text."""
    tokens = [token for token, _ in reply.logprobs or ()]
    if "".join(tokens) != reply.text or len(tokens) != len(reply.alternatives or ()):
        return None
    ends = accumulate(map(len, tokens))
    return next((place for place, end in enumerate(ends) if offset < end), None)


def _share_of_pass(alternatives: Sequence[tuple[str, float]]) -> float | None:
    likely = {"pass": 0.0, "fail": 0.0}
    for token, logprob in alternatives:
        start = token.strip(" \"'\n").casefold()
        for word in likely:
            if len(start) > 1 and (word.startswith(start) or start.startswith(word)):
                likely[word] += math.exp(logprob)
    known = sum(likely.values())
    return likely["pass"] / known if known >= _LEAST_KNOWN else None
