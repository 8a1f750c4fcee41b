"""Pairwise verdicts by a language model: which of two answers is better, in both orders or one drawn at random."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ragstone.data.types import PairVerdict
from ragstone.errors import UnknownNameError, UsageError
from ragstone.llm.concurrency import gather_then_raise
from ragstone.llm.prompted import Judge
from ragstone.llm.prompts import Prompt
from ragstone.llm.prompts.book import Example
from ragstone.llm.reply_types import PairReply
from ragstone.tools.aspects import Aspect, GradedExample, find_aspect
from ragstone.tools.llm_rater import GUIDANCE, LLMTool, ask_own_reference

ORDERS = ("both", "random")
# Examples with at most this grade are the worse answer of a pair.
_LOW_SHARE = 0.5
_GUESS = PairReply(reasoning="Both give the time, but only one says that it holds on Sundays too. " * 2, winner="A")

_REASONED_GUESS = PairReply(reasoning=_GUESS.reasoning * 3, winner="A")
_PAIR_MANNERS = frozenset({"cot", "few-shot", "own-reference"})


class _PairExample(NamedTuple):
    """A graded example next to a better answer to its question."""

    worse: GradedExample
    better: str

    def show(self, shown: Collection[str]) -> Iterator[Example]:
        """Both orders, and the better answer twice in between: B, tie, A."""
        fault = f"{self.worse.reasoning} The other answer does not have this fault."
        seats = (
            (self.worse.answer, self.better, "B"),
            (self.better, self.better, "tie"),
            (self.better, self.worse.answer, "A"),
        )
        for a, b, winner in seats:
            data = {
                "question": self.worse.question,
                "contexts": self.worse.contexts,
                "reference": self.worse.reference or "",
                "answer_a": a,
                "answer_b": b,
            }
            reasons = (
                "Both answers say the same." if winner == "tie" else f"About {'A' if winner == 'B' else 'B'}: {fault}"
            )
            reply = json.dumps({"reasoning": reasons, "winner": winner}, ensure_ascii=False)
            yield Example({name: value for name, value in data.items() if name in shown}, reply)


def _find_pairs(aspect: Aspect) -> list[_PairExample]:
    """The examples of an aspect with a low grade; the better answer is another example, or the reference."""
    pairs = []
    for worse in (example for example in aspect.examples if example.share <= _LOW_SHARE):
        of_question = [one for one in aspect.examples if one.question == worse.question and one.share > worse.share]
        better = max(of_question, key=lambda one: one.share).answer if of_question else worse.reference
        if better:
            pairs.append(_PairExample(worse, better))
    if not pairs:
        raise UsageError(
            f"the aspect '{aspect.name}' has no example with a share up to {_LOW_SHARE:g} and a better answer or a "
            "reference; leave out few-shot, or write one"
        )
    return pairs


class Decision(NamedTuple):
    """The verdict in one order: A, B or tie; `likely` is the probability of A if it is known."""

    seat: str
    reasoning: str
    likely: float | None = None


class JudgePair(LLMTool):
    """Asks a language model which of two answers is better.

    `manners` are those of grading; a rubric does not concern pairs. Reasons always come first; "cot" asks for longer ones.
    """

    def __init__(
        self,
        judge: Judge,
        aspect: str = "quality",
        order: str = "both",
        manners: Collection[str] = (),
        prompt: str | None = None,
    ) -> None:
        if order not in ORDERS:
            raise UnknownNameError("order", order, ORDERS, "Ask in both orders, or in one at random.")
        self._aspect = find_aspect(aspect)
        self._order = order
        self._manners = frozenset(manners) & _PAIR_MANNERS
        self._pairs = _find_pairs(self._aspect) if "few-shot" in self._manners else []
        self._prompt = prompt or ("pair_reasoned" if "cot" in self._manners else "pair")
        own = "".join(f",{name}" for name in sorted(self._manners))
        super().__init__(judge, f",aspect={aspect}/{self._aspect.hash},order={order}{own}")

    @property
    def prompts(self) -> dict[str, tuple[str, ...]]:
        """The prompt that is asked in place of the declared one."""
        return {"pair": (self._prompt,)}

    def prompt_hash(self, name: str) -> str:
        """The hash of a prompt that is sent."""
        return super().prompt_hash(self._prompt if name == "pair" else name)

    async def compare(
        self, question: str, one: str, other: str, contexts: Sequence[str], reference: str | None
    ) -> list[PairVerdict]:
        """One verdict per order; a random order is always the same for the same texts."""
        shown_contexts = contexts if "contexts" in self._aspect.shows else ()
        guided_by = "person" if reference is not None else None
        if reference is None and "own-reference" in self._manners:
            reference, guided_by = await ask_own_reference(self._judge, question, shown_contexts), "own"
        shown = ["question", "answer_a", "answer_b"]
        shown += [*(["contexts"] if shown_contexts else []), *(["reference"] if guided_by else [])]
        terms = {
            "aspect": self._aspect.words,
            "instruction": self._aspect.instruction,
            "guidance": GUIDANCE[guided_by] if guided_by else "",
        }
        prompt = self._judge.prompts.get(self._prompt).fill(terms, shown, self._examples(shown))
        data = {"question": question, "contexts": shown_contexts, "reference": reference or ""}

        async def ask(first: str) -> Decision:
            a, b = (one, other) if first == "one" else (other, one)
            whole = {**data, "answer_a": a, "answer_b": b}
            return await self._decide(prompt, {slot: whole[slot] for slot in prompt.slots})

        orders = [_drawn_first(question, one, other)] if self._order == "random" else ["one", "other"]
        decisions = await gather_then_raise(map(ask, orders))
        verdicts = []
        for first, said in zip(orders, decisions, strict=True):
            seats = {"A": first, "B": "other" if first == "one" else "one", "tie": "tie"}
            verdicts.append(PairVerdict(first, seats[said.seat], said.reasoning))
        return self._conclude(verdicts, decisions)

    def _examples(self, shown: Collection[str]) -> list[Example]:
        return [example for pair in self._pairs for example in pair.show(shown)]

    async def _decide(self, prompt: Prompt, data: Mapping[str, Any]) -> Decision:
        """The verdict in one order."""
        guess = _REASONED_GUESS if "cot" in self._manners else _GUESS
        reply = await self._judge.ask(prompt, PairReply, data, guess)
        return Decision(reply.winner, reply.reasoning)

    def _conclude(self, verdicts: Sequence[PairVerdict], decisions: Sequence[Decision]) -> list[PairVerdict]:  # noqa: ARG002
        """The verdicts of all orders; a judge with probabilities adds one for both together."""
        return list(verdicts)


def _drawn_first(question: str, one: str, other: str) -> str:
    """The answer that is shown first: derived from a hash of the texts, so that it is always the same."""
    digest = hashlib.blake2b(
        "\0".join([question, *sorted((one, other))]).encode(errors="replace"), digest_size=1
    ).digest()
    return "one" if (digest[0] % 2 == 0) == (one <= other) else "other"
