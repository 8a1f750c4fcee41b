"""Yes-or-no questions: the reply is one token, and the probabilities of that token are the answer.

Several questions about the same data share their instructions, their examples and the beginning of their last message, so
that servers that keep what they have read (llama.cpp, vLLM, Ollama) read it once.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

from ragstone.llm.base import LLM, LLMError, LLMReplyError, Message, Reply, Request
from ragstone.llm.prompts import Prompt, PromptBook
from ragstone.llm.prompts.book import GUARD
from ragstone.llm.prompts.fence import Data

_YES = frozenset(("yes", "y", "true"))
_NO = frozenset(("no", "n", "false", "not"))
_MARKS = " \t\r\n\"'`*.,:;!<>()[]▁Ġ"
# The least total probability of yes and no at which their ratio counts.
LEAST_MASS = 0.05
_YES_TEXT = "yes"


class NoProbabilitiesError(LLMError):
    """The model cannot be asked this way: no token probabilities, or its replies do not begin with yes or no."""


class YesNoLLM:
    """Asks a model questions that are answered by yes or no, and returns the probability of yes.

    `prompts` are asked with common instructions and examples: names, or prompts that are filled. `first` is the slot that all
    of them begin with.
    """

    def __init__(self, llm: LLM, book: PromptBook, prompts: Sequence[str | Prompt], first: str) -> None:
        self.llm = llm
        pages = [book.get(prompt) if isinstance(prompt, str) else prompt for prompt in prompts]
        self._prompts = {page.name: page for page in pages}
        self._first = first
        self._opening = tuple(_opening(list(self._prompts.values())))
        self._has_answered = False

    def prompt_hashes(self) -> str:
        """Return the hashes of all prompts: each question is asked with the examples of the others."""
        return "+".join(prompt.hash for prompt in self._prompts.values())

    async def ask(self, prompt: str, data: Data, guess: bool) -> float:
        """Return the probability of yes, or raise an LLMError. `guess` is the reply that a quote assumes."""
        page = self._prompts[prompt]
        request = Request(
            messages=(*self._opening, Message("user", page.lay_out(data, keyed_by=self._first))),
            prompt=prompt,
            prompt_hash=page.hash,
            max_tokens=1,
            logprobs=True,
            guess=_YES_TEXT if guess else "no",
        )
        reply = await self.llm.complete(request)
        if reply.quoted:
            return float(guess)
        likely = probability_of_yes(reply)
        if likely is None:
            raise self._explain(reply)
        self._has_answered = True
        return likely

    def _explain(self, reply: Reply) -> LLMError:
        if not reply.alternatives:
            return NoProbabilitiesError(f"{self.llm.name} returns no log-probabilities of tokens")
        said = f"{self.llm.name} was asked for yes or no and began with {reply.text[:20]!r}"
        return LLMReplyError(said, reply.text, reply.cached) if self._has_answered else NoProbabilitiesError(said)


def probability_of_yes(reply: Reply) -> float | None:
    """Return the share of yes among the first tokens that mean yes or no; None if they are unknown or improbable."""
    if not reply.alternatives or not reply.alternatives[0]:
        return None
    # A server may leave the chosen token out of the alternatives.
    first = dict((*(reply.logprobs or ())[:1], *reply.alternatives[0]))
    yes, no = (
        math.fsum(math.exp(value) for token, value in first.items() if _word(token) in words) for words in (_YES, _NO)
    )
    return yes / (yes + no) if yes + no >= LEAST_MASS else None


def _word(token: str) -> str:
    return token.strip(_MARKS).casefold()


def _opening(prompts: Sequence[Prompt]) -> list[Message]:
    """Return the instructions of all prompts, and their examples."""
    messages = [Message("system", "\n\n".join([*(prompt.system for prompt in prompts), GUARD]))]
    for prompt in prompts:
        for example in prompt.examples:
            messages.append(Message("user", prompt.lay_out(example.data)))
            messages.append(Message("assistant", json.loads(example.reply)))
    return messages
