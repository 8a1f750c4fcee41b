"""Questions that one word answers: the reply is one token, and the probabilities of that token are the answer.

Several questions about the same data share their instructions, their examples and the beginning of their last message, so
that servers that keep what they have read (llama.cpp, vLLM, Ollama) read it once.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ragstone.llm.base import LLM, LLMReplyError, Message, Reply, Request
from ragstone.llm.prompts import Prompt, PromptBook
from ragstone.llm.prompts.book import PLAIN_GUARD
from ragstone.llm.prompts.fence import Data
from ragstone.llm.wrappers import record_rejection


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
# How often a question is asked if a reply lacks what other replies of the server have; cached replies do not count.
_TRIES, _TRIALS = 2, 3
# Cached replies to one question that are looked at.
_MOST_CACHED = 50


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

    def prompt_hashes(self) -> str:
        """Return the hashes of all prompts: each question is asked with the examples of the others."""
        return "+".join(prompt.hash for prompt in self._prompts.values())

    async def ask(self, prompt: str, data: Data, guess: bool) -> float:
        """Return the probability of yes, or raise an LLMError. `guess` is the reply that a quote assumes.

        A reply without log-probabilities is asked for once more.
        """
        likely, fault = await self._try(prompt, data, guess, _TRIES)
        if likely is None:
            raise fault
        return likely

    async def find_fault(self, prompt: str, data: Data) -> str | None:
        """Return why the model cannot be asked this way, or None if a reply to a few trials has a probability."""
        likely, fault = await self._try(prompt, data, guess=True, tries=_TRIALS)
        return str(fault) if likely is None else None

    async def _try(self, prompt: str, data: Data, guess: bool, tries: int) -> tuple[float | None, LLMReplyError]:
        page = self._prompts[prompt]
        request = Request(
            messages=(*self._opening, Message("user", page.lay_out(data, plainly=True))),
            prompt=prompt,
            prompt_hash=page.hash,
            max_tokens=1,
            logprobs=True,
            guess=(self._words.one if guess else self._words.other)[0],
        )
        asked, fault = 0, LLMReplyError("no reply")
        for repeat in range(_MOST_CACHED):
            reply = await self.llm.complete(replace(request, repeat=repeat))
            likely = float(guess) if reply.quoted else probability_of(reply, self._words)
            if likely is not None:
                return likely, fault
            fault = self._explain(reply, asked := asked + (not reply.cached))
            record_rejection(reply, str(fault))
            # Another word than yes and no would come again.
            if asked >= tries or _has_alternatives(reply):
                break
        return None, fault

    def _explain(self, reply: Reply, asked: int) -> LLMReplyError:
        if _has_alternatives(reply):
            words = f"{self.llm.name} was asked for yes or no and began with {reply.text[:20]!r}"
        else:
            times = f", asked {asked} times" if asked > 1 else ""
            words = f"{self.llm.name} returns no log-probabilities of tokens{times}"
        return LLMReplyError(words, reply.text, reply.cached)


def _has_alternatives(reply: Reply) -> bool:
    return bool(reply.alternatives and reply.alternatives[0])


def probability_of(reply: Reply, words: Words = YES_NO) -> float | None:
    """Return the share of the first meaning, by the first token; None if no word is known or likely enough."""
    if not reply.alternatives or not reply.alternatives[0]:
        return None
    # A server may leave the chosen token out of the alternatives.
    first = dict((*(reply.logprobs or ())[:1], *reply.alternatives[0]))
    one, other, neither = (
        math.fsum(math.exp(value) for token, value in first.items() if token.strip(_MARKS).casefold() in meaning)
        for meaning in words
    )
    if one + other + neither < LEAST_MASS:
        return None
    return one / (one + other) if one + other else 0.0


def _opening(prompts: Sequence[Prompt]) -> list[Message]:
    """Return the instructions of all prompts, and their examples."""
    messages = [Message("system", "\n\n".join([*(prompt.system for prompt in prompts), PLAIN_GUARD]))]
    for prompt in prompts:
        for example in prompt.examples:
            messages.append(Message("user", prompt.lay_out(example.data, plainly=True)))
            messages.append(Message("assistant", json.loads(example.reply)))
    return messages
