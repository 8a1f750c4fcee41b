"""Two answers held against each other by a language model, in both orders: judges tend to prefer a seat."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Literal, cast, get_args

from ragstone.data.types import PairVerdict
from ragstone.errors import UnknownNameError
from ragstone.evidence.aspects import find_aspect
from ragstone.evidence.judges.rater import GUIDANCE, ask_own_reference
from ragstone.llm.judge import Judge
from ragstone.llm.replies import PairReply
from ragstone.llm.side_by_side import side_by_side

Order = Literal["both", "random"]
_GUESS = PairReply(reasoning="Both give the time, but only one says that it holds on Sundays too. " * 2, winner="A")


class JudgePair:
    """Asks a language model which of two answers is better."""

    def __init__(self, judge: Judge, aspect: str = "quality", order: str = "both", own_reference: bool = False) -> None:
        if order not in get_args(Order):
            raise UnknownNameError("order", order, get_args(Order), "Ask in both orders, or in one at random.")
        self._judge = judge
        self._aspect = find_aspect(aspect)
        self._order = cast("Order", order)
        self._own_reference = own_reference

    @property
    def signature(self) -> str:
        """The model, the aspect and the manner."""
        aspect = f"aspect={self._aspect.name}/{self._aspect.hash}"
        manners = [f"order={self._order}", *(["own-reference"] if self._own_reference else [])]
        return ",".join([self._judge.signature, aspect, *manners])

    def prompt_hash(self, name: str) -> str:
        """Of a prompt that is asked."""
        return self._judge.prompt_hash(name)

    async def compare(
        self, question: str, one: str, other: str, contexts: Sequence[str], reference: str | None
    ) -> list[PairVerdict]:
        """A verdict for each order; in one order where the answers are asked about in a random one, which is always the same."""
        shown_contexts = contexts if "contexts" in self._aspect.shows else ()
        guided_by = "person" if reference is not None else None
        if reference is None and self._own_reference:
            reference, guided_by = await ask_own_reference(self._judge, question, shown_contexts), "own"
        shown = ["question", "answer_a", "answer_b"]
        shown += [*(["contexts"] if shown_contexts else []), *(["reference"] if guided_by else [])]
        terms = {
            "aspect": self._aspect.words,
            "instruction": self._aspect.instruction,
            "guidance": GUIDANCE[guided_by] if guided_by else "",
        }
        prompt = self._judge.prompts.get("pair").fill(terms, shown)
        data = {"question": question, "contexts": shown_contexts, "reference": reference or ""}

        async def ask(first: str) -> PairVerdict:
            a, b = (one, other) if first == "one" else (other, one)
            whole = {**data, "answer_a": a, "answer_b": b}
            reply = await self._judge.ask(prompt, PairReply, {slot: whole[slot] for slot in prompt.slots}, _GUESS)
            seats = {"A": first, "B": "other" if first == "one" else "one", "tie": "tie"}
            return PairVerdict(first, seats[reply.winner], reply.reasoning)

        if self._order == "random":
            return [await ask(_drawn_first(question, one, other))]
        return await side_by_side(ask(first) for first in ("one", "other"))


def _drawn_first(question: str, one: str, other: str) -> str:
    """Who stands first: drawn by the texts themselves, so that it is the same when asked again, whoever is called one."""
    digest = hashlib.blake2b(
        "\0".join([question, *sorted((one, other))]).encode(errors="replace"), digest_size=1
    ).digest()
    return "one" if (digest[0] % 2 == 0) == (one <= other) else "other"
