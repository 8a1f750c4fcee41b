"""Reasons on request: the base model of the large judge says in a sentence why a text does not support a claim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragstone.llm.base import LLM, Message, Request
from ragstone.llm.gateway import Gateway
from ragstone.text.passages import Passages
from ragstone.tools.llama import open_large
from ragstone.tools.open_tools import gateway_settings

_SYSTEM = "Say in one short sentence why the evidence does not support the claim. Name what differs or what is missing."
_EXAMPLES = (
    ("The pool opens at nine on weekdays.", "The pool opens at eight.", "The evidence says nine, not eight."),
    ("Tickets cost 8 euros.", "Children get in free.", "The evidence gives a price but says nothing about children."),
)
# Words of the evidence that are shown, and tokens of a reason.
_WORDS, _TOKENS = 200, 60


class Doubt(NamedTuple):
    """A claim that is not supported, and the texts that it was checked against."""

    claim: str
    texts: Sequence[str]


async def write_reasons(doubts: Sequence[Doubt]) -> list[str]:
    """One sentence per claim. Replies are cached."""
    gateway = Gateway(gateway_settings({}, 1))
    try:
        llm = gateway.open_llm(open_large(writes=True))
        return [await _reason(llm, doubt) for doubt in doubts]
    finally:
        await gateway.close()


async def _reason(llm: LLM, doubt: Doubt) -> str:
    evidence = Passages("\n\n".join(doubt.texts)).around(doubt.claim, _WORDS)
    messages = [Message("system", _SYSTEM)]
    for text, claim, reason in _EXAMPLES:
        messages += [Message("user", _task(text, claim)), Message("assistant", reason)]
    messages.append(Message("user", _task(evidence, doubt.claim)))
    reply = await llm.complete(Request(tuple(messages), prompt="large_reason", max_tokens=_TOKENS))
    return " ".join(reply.text.split())


def _task(evidence: str, claim: str) -> str:
    return f"Evidence:\n{evidence}\n\nClaim: {claim}"
