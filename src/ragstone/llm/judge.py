"""A model with a book of prompts: evidence functions ask it by the name of a prompt and get an object back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pydantic import BaseModel

from ragstone.llm.base import LLM, Reply, Request
from ragstone.llm.fencing import Data
from ragstone.llm.prompts import Prompt, PromptBook
from ragstone.llm.structured import StructuredLLM
from ragstone.llm.tokens import estimate_tokens

T = TypeVar("T", bound=BaseModel)

# Repeats are there to see whether verdicts waver; at temperature 0 they would all be the same.
REPEAT_TEMPERATURE = 0.7
# A model that never comes to an end is cut off here; there must be room for one that thinks aloud first.
LONGEST_REPLY = 4096
_GUESS_MARGIN = 8


class Judge:
    """Asks a model for claims, verdicts and the like."""

    def __init__(self, llm: LLM, prompts: PromptBook, temperature: float = 0.0) -> None:
        self.llm = llm
        self.prompts = prompts
        self.temperature = temperature
        self._structured = StructuredLLM(llm)

    @property
    def signature(self) -> str:
        """What identifies the judge in the signature of a score; the prompts' hashes come in by `prompt_hash`."""
        return f"{self.llm.signature},temperature={self.temperature:g}"

    def prompt_hash(self, name: str) -> str:
        """The hash of a prompt's whole content."""
        return self.prompts.get(name).hash

    async def ask(
        self,
        prompt: str | Prompt,
        kind: type[T],
        data: Data,
        guess: T,
        check: Callable[[T], str | None] | None = None,
        repeat: int = 0,
    ) -> T:
        """The model's reply to a prompt about this data, or an LLMError.

        The check returns what is wrong with a reply in words, or None; the model is then asked once more. The guess is what
        the reply may look like: a quote counts its tokens. Repeats after the first use a temperature above 0.
        """
        value, _ = await self.ask_whole(prompt, kind, data, guess, check, repeat)
        return value

    async def ask_whole(
        self,
        prompt: str | Prompt,
        kind: type[T],
        data: Data,
        guess: T,
        check: Callable[[T], str | None] | None = None,
        repeat: int = 0,
        *,
        logprobs: bool = False,
    ) -> tuple[T, Reply]:
        """The same with the reply as it came, for whoever looks at its words or their probabilities."""
        page = self.prompts.get(prompt) if isinstance(prompt, str) else prompt
        guess_text = guess.model_dump_json()
        request = Request(
            messages=page.render(data),
            prompt=page.name,
            prompt_hash=page.hash,
            max_tokens=max(LONGEST_REPLY, _GUESS_MARGIN * estimate_tokens(guess_text)),
            temperature=self.temperature or (REPEAT_TEMPERATURE if repeat else 0.0),
            repeat=repeat,
            logprobs=logprobs,
            guess=guess_text,
        )
        return await self._structured.ask(request, kind, check)
