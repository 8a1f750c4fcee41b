"""Questions that one word answers: the reply is one token, and the probabilities of that token are the answer.

Several questions about the same data share their instructions, their examples and the beginning of their last message, so
that servers that keep what they have read (llama.cpp, vLLM, Ollama) read it once.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import NamedTuple

from ragstone.llm.base import LLM, LLMError, LLMReplyError, Message, Reply, Request
from ragstone.llm.prompts import Prompt, PromptBook
from ragstone.llm.prompts.book import PLAIN_GUARD
from ragstone.llm.prompts.fence import Data


class Words(NamedTuple):
    """The first tokens that mean one thing, the other one, and neither of both."""

    one: tuple[str, ...]
    other: tuple[str, ...]
    neither: tuple[str, ...] = ()


YES_NO = Words(("yes", "y", "true"), ("no", "n", "false", "not"))
# Of a claim that is not supported: "unknown" may begin with one of several tokens.
FALSE_UNKNOWN = Words(("false", "no"), ("unknown", "un", "unk", "unclear", "not"), ("true", "yes"))
_MARKS = " \t\r\n\"'`*.,:;!<>()[]▁Ġ"
# The least total probability of the words at which their ratio counts.
LEAST_MASS = 0.05


class NoProbabilitiesError(LLMError):
    """The model cannot be asked this way: no token probabilities, or its replies do not begin with yes or no."""


class YesNoLLM:
    """Asks a model questions that are answered by yes or no, and returns the probability of yes.

    `prompts` are asked with common instructions and examples: names, or prompts that are filled. `words` are other words
    than yes and no.
    """

    def __init__(self, llm: LLM, book: PromptBook, prompts: Sequence[str | Prompt], words: Words = YES_NO) -> None:
        self.llm = llm
        self._words = words
        pages = [book.get(prompt) if isinstance(prompt, str) else prompt for prompt in prompts]
        self._prompts = {page.name: page for page in pages}
        self._opening = tuple(_opening(list(self._prompts.values())))
        self._has_answered = False

    def prompt_hashes(self) -> str:
        """Return the hashes of all prompts: each question is asked with the examples of the others."""
        return "+".join(prompt.hash for prompt in self._prompts.values())

    async def ask(self, prompt: str, data: Data, guess: bool) -> float:
        """Return the probability of yes, or raise an LLMError. `guess` is the reply that a quote assumes."""
        page = self._prompts[prompt]
        request = Request(
            messages=(*self._opening, Message("user", page.lay_out(data, plainly=True))),
            prompt=prompt,
            prompt_hash=page.hash,
            max_tokens=1,
            logprobs=True,
            guess=(self._words.one if guess else self._words.other)[0],
        )
        reply = await self.llm.complete(request)
        if reply.quoted:
            return float(guess)
        likely = probability_of(reply, self._words)
        if likely is None:
            raise self._explain(reply)
        self._has_answered = True
        return likely

    def _explain(self, reply: Reply) -> LLMError:
        if not reply.alternatives:
            return NoProbabilitiesError(f"{self.llm.name} returns no log-probabilities of tokens")
        said = f"{self.llm.name} was asked for yes or no and began with {reply.text[:20]!r}"
        return LLMReplyError(said, reply.text, reply.cached) if self._has_answered else NoProbabilitiesError(said)


def probability_of(reply: Reply, words: Words = YES_NO) -> float | None:
    """Return the share of the first meaning, by the first token; None if no word is known or likely enough."""
    if not reply.alternatives or not reply.alternatives[0]:
        return None
    # A server may leave the chosen token out of the alternatives.
    first = dict((*(reply.logprobs or ())[:1], *reply.alternatives[0]))
    one, other, neither = (
        math.fsum(math.exp(value) for token, value in first.items() if _word(token) in meaning) for meaning in words
    )
    if one + other + neither < LEAST_MASS:
        return None
    return one / (one + other) if one + other else 0.0


def _word(token: str) -> str:
    return token.strip(_MARKS).casefold()


def _opening(prompts: Sequence[Prompt]) -> list[Message]:
    """Return the instructions of all prompts, and their examples."""
    messages = [Message("system", "\n\n".join([*(prompt.system for prompt in prompts), PLAIN_GUARD]))]
    for prompt in prompts:
        for example in prompt.examples:
            messages.append(Message("user", prompt.lay_out(example.data, plainly=True)))
            messages.append(Message("assistant", json.loads(example.reply)))
    return messages
