"""Verdicts by one token: yes or no, with its probability.

The evidence comes first, so that a model which keeps what it has read reads each chunk once for all claims.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import lru_cache
from typing import Any

from ragstone.data.verdict import ENTAILMENT, NOT, PARTIAL, UNSURE, Verdict
from ragstone.data.verdict import SUPPORT as NUGGET_SUPPORT
from ragstone.llm.base import LLM
from ragstone.llm.concurrency import gather_then_raise
from ragstone.llm.prompts import PromptBook
from ragstone.llm.yes_no import FALSE_UNKNOWN, YesNoLLM
from ragstone.text.passages import Passages
from ragstone.text.refusals import find_refusal
from ragstone.text.statements import statements
from ragstone.tools.calibrations import MATCH as ANSWER_MATCH
from ragstone.tools.calibrations import SUPPORT as CLAIM_SUPPORT
from ragstone.tools.calibrations import Calibrations
from ragstone.tools.checkers import HIGH, LOW, TextChecker, Texts, joined, nothing, states_nothing, word_for
from ragstone.tools.local_judges import TOGETHER, with_names, with_question
from ragstone.tools.nugget_labels import worth_of

SUPPORT, CONTRADICTED, MATCH, PART = "token_support", "token_contradiction", "token_match", "token_part"
# The prompts that are asked in place of those that evidence functions declare.
PROMPTS = {
    "verdicts": (SUPPORT, CONTRADICTED),
    "context_verdicts": (SUPPORT, CONTRADICTED),
    "usefulness": (SUPPORT, CONTRADICTED),
    "answer_match": (MATCH,),
    "nuggets": (SUPPORT, PART),
}
# The prompt that each calibrated probability comes from.
_CALIBRATED = {CLAIM_SUPPORT: "verdicts", ANSWER_MATCH: "answer_match"}
# A chunk with few words of the claim is not read if another one has most of them.
_MOST_WORDS, _FEW_WORDS = 0.5, 0.34
# The share of words in the evidence at which a quote assumes support.
_GUESSED_SUPPORT = 0.6


class _TokenTool:
    """Asks a model for single tokens. `window` is the number of words that are read of a long text; None: all."""

    def __init__(
        self,
        llm: LLM,
        book: PromptBook,
        window: int | None = None,
        one_by_one: bool = False,
        calibrations: Calibrations | None = None,
    ) -> None:
        self._support = YesNoLLM(llm, book, (SUPPORT,))
        self._contradiction = YesNoLLM(llm, book, (CONTRADICTED,), words=FALSE_UNKNOWN)
        self._matches = YesNoLLM(llm, book, (MATCH,))
        self._nuggets = YesNoLLM(llm, book, (SUPPORT, PART))
        self._window = window
        # A model with one place for what it has read gets all questions about a text before those about another.
        self._turn = asyncio.Lock() if one_by_one else None
        # Calibrations are stored by the signature of the judge without them.
        self.uncalibrated = f"{llm.signature};verdicts=tokens/2{f';window={window}' if window else ''}"
        known = calibrations or Calibrations(known=False)
        self._maps = {
            task: found
            for task, name in _CALIBRATED.items()
            if (found := known.map_for(task, self.uncalibrated, self.prompt_hash(name)))
        }
        self._passages = lru_cache(maxsize=256)(Passages)

    # The probabilities that the tool reads.
    _tasks: tuple[str, ...] = (CLAIM_SUPPORT,)

    @property
    def calibrated(self) -> str:
        """The calibration as a part of the signature; empty without one."""
        parts = [f"{task}/{self._maps[task]}" for task in self._tasks if task in self._maps]
        return f";calibrated={'+'.join(parts)}" if parts else ""

    @property
    def signature(self) -> str:
        """The model, the way of asking and the calibration."""
        return f"{self.uncalibrated}{self.calibrated}"

    def _calibrate(self, task: str, likely: float) -> float:
        found = self._maps.get(task)
        return found(likely) if found else likely

    @property
    def prompts(self) -> dict[str, tuple[str, ...]]:
        """The prompts that are asked in place of the declared ones."""
        return PROMPTS

    def prompt_hash(self, name: str) -> str:
        """The hashes of the prompts that are asked in place of a prompt."""
        if asked := {"answer_match": self._matches, "nuggets": self._nuggets}.get(name):
            return asked.prompt_hashes()
        return f"{self._support.prompt_hashes()}+{self._contradiction.prompt_hashes()}"

    def _text_turn(self) -> AbstractAsyncContextManager[Any]:
        return self._turn or nullcontext()


class TokenChecker(_TokenTool, TextChecker):
    """Checks claims by the probability of yes."""

    def calls_for(self, claims: int, chunks: int = 1) -> int:
        """The least number of calls for these numbers of claims and chunks if all chunks are read."""
        return claims * chunks

    async def in_text(self, question: str, claims: Sequence[str], text: str) -> list[Verdict]:
        """One verdict per claim; a fragment is read together with its question."""
        return nothing(len(claims)) if states_nothing(text) else await self._read(with_question(question, text), claims)

    async def in_chunks(
        self,
        question: str,  # noqa: ARG002  (chunks are read without the question)
        claims: Sequence[str],
        texts: Texts,
    ) -> list[list[Verdict]]:
        """Each claim against each chunk that may state it; claims that none supports against the nearest sentences of all.

        Claims that no chunk supports are asked about the earlier turns too.
        """
        each = await self.weigh(claims, texts.chunks)
        together = [joined(row) for row in each]
        unsupported = [at for at, row in enumerate(each) if ENTAILMENT not in row]
        if texts.joint:
            nearest = await gather_then_raise(self._read_nearest(claims[at], texts.chunks) for at in unsupported)
            for at, joint in zip(unsupported, nearest, strict=True):
                if joint in (ENTAILMENT, UNSURE):
                    together[at] = joined([*each[at], joint])
        past = nothing(len(claims))
        if texts.earlier:
            read = await self._read(texts.earlier, [claims[at] for at in unsupported])
            for at, verdict in zip(unsupported, read, strict=True):
                past[at] = verdict
        return [texts.row(row, joint, [turn]) for row, joint, turn in zip(each, together, past, strict=True)]

    async def labels(self, question: str, nuggets: Sequence[str], answer: str) -> list[Verdict]:
        """One label per nugget: whether the answer says it; if not, whether it says a part of it."""
        if states_nothing(answer):
            return nothing(len(nuggets), NOT)
        text = with_names(question, answer)
        async with self._text_turn():
            return [await self._nugget(text, nugget) for nugget in nuggets]

    async def _nugget(self, text: str, nugget: str) -> Verdict:
        if not nugget.strip():
            return Verdict(NOT, 0.0, 0.0)
        data = self._data(text, nugget)
        guess = self._passages(text).share_of_words(nugget) >= _GUESSED_SUPPORT
        supported = await self._nuggets.ask(SUPPORT, data, guess=guess)
        word = NUGGET_SUPPORT
        if supported < HIGH:
            word = PARTIAL if await self._nuggets.ask(PART, data, guess=False) >= HIGH else NOT
        return Verdict(word, supported, 0.0, counted=worth_of(word))

    async def weigh(self, claims: Sequence[str], chunks: Sequence[str]) -> list[list[Verdict]]:
        """For each claim one verdict per chunk."""
        near = [self._near(claim, chunks) for claim in claims]
        found = [nothing(len(chunks)) for _ in claims]

        async def read(at: int, chunk: str) -> None:
            asked = [row for row in range(len(claims)) if near[row][at]]
            verdicts = await self._read(chunk, [claims[row] for row in asked])
            for row, verdict in zip(asked, verdicts, strict=True):
                found[row][at] = verdict

        await gather_then_raise(read(at, chunk) for at, chunk in enumerate(chunks))
        return found

    async def _read(self, text: str, claims: Sequence[str]) -> list[Verdict]:
        """The verdicts of one text. One question for all claims, then the other: a server may keep one beginning."""
        if not text.strip():
            return nothing(len(claims))
        async with self._text_turn():
            supported = [await self._supported(text, claim) for claim in claims]
            return [await self._verdict(text, claim, likely) for claim, likely in zip(claims, supported, strict=True)]

    async def _supported(self, text: str, claim: str) -> float:
        if not claim.strip():
            return 0.0
        guess = self._passages(text).share_of_words(claim) >= _GUESSED_SUPPORT
        return self._calibrate(CLAIM_SUPPORT, await self._support.ask(SUPPORT, self._data(text, claim), guess=guess))

    async def _verdict(self, text: str, claim: str, supported: float) -> Verdict:
        contradicted = 0.0
        if supported <= LOW and claim.strip():
            share = await self._contradiction.ask(CONTRADICTED, self._data(text, claim), guess=False)
            contradicted = (1.0 - supported) * share
        return Verdict(word_for(supported, contradicted), supported, contradicted)

    def _data(self, text: str, claim: str) -> dict[str, str]:
        shown = self._passages(text).around(claim, self._window) if self._window else text
        return {"evidence": shown, "claim": claim}

    async def _read_nearest(self, claim: str, chunks: Sequence[str]) -> Verdict | None:
        """The verdict by the nearest sentences of all chunks, if several chunks may state a part of the claim."""
        if len(chunks) < 2 or not claim.strip():
            return None
        shares = [self._passages(chunk).share_of_words(claim) for chunk in chunks]
        text = "\n".join(chunks)
        if sum(share > 0 for share in shares) < 2 or self._passages(text).share_of_words(claim) <= max(shares):
            return None
        return (await self._read(self._passages(text).around(claim, TOGETHER), [claim]))[0]

    def _near(self, claim: str, chunks: Sequence[str]) -> list[bool]:
        """Which chunks are read for a claim."""
        shares = [self._passages(chunk).share_of_words(claim) for chunk in chunks] if len(chunks) > 1 else []
        best = max(shares, default=0.0)
        if best < _MOST_WORDS:
            return [True] * len(chunks)
        return [share >= _FEW_WORDS or share * 2 >= best for share in shares]


class TokenGrader(_TokenTool):
    """Compares answers by the probability of yes; a chunk is useful if it supports a statement of the right answer."""

    _tasks = (ANSWER_MATCH, CLAIM_SUPPORT)

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._checker = TokenChecker(*arguments, **named)

    @property
    def token_prompts(self) -> str:
        """The hashes of the prompts that ask for a match."""
        return self.prompt_hash("answer_match")

    async def matches(self, question: str, answer: str, references: Sequence[str]) -> list[float]:
        """For each reference the probability that the answer says the same; a refusal matches only a refusal."""
        if not answer.strip():
            return [0.0] * len(references)
        if find_refusal(answer):
            return [float(find_refusal(reference) is not None) for reference in references]
        return [await self._match(question, reference, answer) for reference in references]

    async def _match(self, question: str, reference: str, answer: str) -> float:
        guess = Passages(answer).share_of_words(reference) >= _GUESSED_SUPPORT
        data = {"question": question, "reference": reference, "answer": answer}
        return self._calibrate(ANSWER_MATCH, await self._matches.ask(MATCH, data, guess=guess))

    async def useful_chunks(self, question: str, answer: str, chunks: Sequence[str]) -> list[bool]:
        """For each chunk whether it supports anything that the right answer states."""
        verdicts = await self._checker.weigh(statements(question, answer), chunks)
        return [any(row[at] == ENTAILMENT for row in verdicts) for at in range(len(chunks))]
