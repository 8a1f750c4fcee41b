"""Judges by tokens, with JSON where a model gives no probabilities of tokens."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from ragstone.llm.base import LLMAccessError
from ragstone.llm.prompted import Judge
from ragstone.llm.yes_no import NoProbabilitiesError
from ragstone.tools.calibrations import Calibrations
from ragstone.tools.llama import is_llama
from ragstone.tools.llm_judges import JudgeChecker, JudgeReader
from ragstone.tools.protocols import ChunkVerdicts, ConversationVerdicts
from ragstone.tools.token_judges import TokenChecker, TokenGrader
from ragstone.tools.verdict_choice import choose_verdicts

T = TypeVar("T")
# Options of a checker that replies in JSON.
_SIZES = ("repeats", "claims_per_call", "chunks_per_call")
# Words that a small local model reads of a long text.
_LLAMA_WINDOW = 700


class WithFallback:
    """A tool that asks for tokens, and for JSON from the moment that the model turns out to give no probabilities.

    Without `json`, that error ends the run. `note` is called once.
    """

    def __init__(self, tokens: Any, json: Any, note: Callable[[str], None] = lambda _: None) -> None:
        self._tokens, self._json, self._note = tokens, json, note
        self._failed = False
        calibrated = getattr(tokens, "calibrated", "")
        self.signature = tokens.signature if json is None else f"{json.signature};verdicts=auto/1{calibrated}"

    @property
    def uncalibrated(self) -> str:
        """The signature of the judge that is asked for tokens, without calibration."""
        return str(self._tokens.uncalibrated)

    @property
    def token_prompts(self) -> str:
        """The hashes of the prompts that ask for a match by tokens."""
        return str(self._tokens.prompt_hash("answer_match"))

    @property
    def _current(self) -> Any:
        return self._json if self._failed else self._tokens

    def prompt_hash(self, name: str) -> str:
        """The hashes of the prompts of both ways of asking."""
        hashes = [tool.prompt_hash(name) for tool in (self._tokens, self._json) if tool is not None]
        return "+".join(hashes)

    @property
    def prompts(self) -> dict[str, tuple[str, ...]]:
        """The prompts of the tool in use."""
        found: dict[str, tuple[str, ...]] = getattr(self._current, "prompts", {})
        return found

    def calls_for(self, claims: int, chunks: int = 1) -> int:
        """The number of calls of the tool in use."""
        count: int = self._current.calls_for(claims, chunks)
        return count

    async def against_text(self, question: str, claims: Sequence[str], text: str) -> list[str]:
        """One verdict per claim."""
        return await self._try(lambda tool: tool.against_text(question, claims, text))

    async def against_chunks(self, question: str, claims: Sequence[str], chunks: Sequence[str]) -> ChunkVerdicts:
        """One verdict per claim and chunk, and one for all chunks together."""
        return await self._try(lambda tool: tool.against_chunks(question, claims, chunks))

    async def nuggets(self, question: str, nuggets: Sequence[str], answer: str) -> list[str]:
        """One label per nugget."""
        return await self._try(lambda tool: tool.nuggets(question, nuggets, answer))

    async def against_conversation(
        self, question: str, claims: Sequence[str], chunks: Sequence[str], history: str
    ) -> ConversationVerdicts:
        """The same, and one verdict per claim against the earlier turns."""
        return await self._try(lambda tool: tool.against_conversation(question, claims, chunks, history))

    async def matches(self, question: str, answer: str, references: Sequence[str]) -> list[float]:
        """For each reference the probability that the answer says the same."""
        return await self._try(lambda tool: tool.matches(question, answer, references))

    async def useful_chunks(self, question: str, answer: str, chunks: Sequence[str]) -> list[bool]:
        """For each chunk whether it helps to come to the answer."""
        return await self._try(lambda tool: tool.useful_chunks(question, answer, chunks))

    async def _try(self, ask: Callable[[Any], Awaitable[T]]) -> T:
        if self._failed:
            return await ask(self._json)
        try:
            return await ask(self._tokens)
        except NoProbabilitiesError as error:
            if self._json is None:
                raise LLMAccessError(
                    f"{error}: verdicts cannot be read from tokens. Choose --verdicts json."
                ) from error
            if not self._failed:
                self._failed = True
                self._note(f"{error}: verdicts are asked for as JSON (--verdicts json)")
        return await ask(self._json)


class VerdictTools:
    """Opens the checker and the grader of a language model: by tokens, as JSON, or by tokens as far as the server can."""

    def __init__(
        self, options: Mapping[str, Any], calibrations: Calibrations, note: Callable[[str], None] = lambda _: None
    ) -> None:
        self._options, self._calibrations, self._note = options, calibrations, note

    def open(self, role: str, model: Any, judge: Judge) -> Any:
        """The tool for a role."""
        options = self._options
        way = choose_verdicts(
            options.get("verdicts", "auto"), model, options.get("base_url"), options.get("repeats", 1)
        )
        sizes: dict[str, Any] = {name: value for name, value in options.items() if name in _SIZES}
        as_json = JudgeChecker(judge, **sizes) if role == "checker" else JudgeReader(judge)
        if way == "json":
            return as_json
        inside = is_llama(model)
        kind = TokenChecker if role == "checker" else TokenGrader
        window = _LLAMA_WINDOW if inside else None
        tokens = kind(judge.llm, judge.prompts, window, one_by_one=inside, calibrations=self._calibrations)
        return WithFallback(tokens, as_json if way == "auto" else None, self._note)
