"""How likely texts are, by a model behind the gateway: cached, limited and recorded like every other call."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.llm.base import LLM, Message, Request
from ragstone.llm.side_by_side import side_by_side

# What stands between the words before a text and the text, as with models on this machine.
_BREAK = "\n"
# Letters of a text, and of the words before it, that are sent: as many as models on this machine look at.
_MOST_TEXT, _MOST_BEFORE = 2_000, 6_000


class RemoteScorer:
    """A scorer over a model that replies with the log-probabilities of the text that it is given, or quotes."""

    def __init__(self, llm: LLM) -> None:
        self._llm = llm

    @property
    def name(self) -> str:
        """The model's name."""
        return self._llm.name

    @property
    def signature(self) -> str:
        """The model's signature."""
        return self._llm.signature

    async def log_probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[list[float]]:
        """For each text the natural logarithm of the probability of each of its tokens."""
        return await side_by_side(self._score(before, text) for before, text in pairs)

    async def _score(self, before: str, text: str) -> list[float]:
        if not text:
            return []
        messages = (Message("user", before[:_MOST_BEFORE] + _BREAK), Message("assistant", text[:_MOST_TEXT]))
        reply = await self._llm.complete(Request(messages, prompt="probabilities", max_tokens=1, logprobs=True))
        # A quote has no numbers.
        return [value for _, value in reply.logprobs] if reply.logprobs is not None else [-1.0]
