"""A cascade of a model with token probabilities and a stronger one, which decides what the first is not sure of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragstone.data.types import ScoredVerdict
from ragstone.llm.cascade_tally import tally_decisions
from ragstone.tools.cascade import confidence
from ragstone.tools.protocols import ENTAILMENT, ChunkVerdicts, strongest


class TokenLadder:
    """Checker and grader. A quote (`dry_run`) counts every call that both models might get."""

    def __init__(self, below: Any, above: Any, agreement: float, dry_run: bool = False, tally: bool = True) -> None:
        self._below, self._above = below, above
        self._agreement = agreement
        self._dry_run = dry_run
        # Under a local judge, that judge's cascade counts the decisions.
        self._tally = tally_decisions if tally else _not_counted
        self.signature = f"{below.signature}>{above.signature}@{agreement:g}"
        self.prompts = getattr(below, "prompts", {})

    def prompt_hash(self, name: str) -> str:
        """The hashes of the prompts of both models."""
        return f"{self._below.prompt_hash(name)}>{self._above.prompt_hash(name)}"

    def calls_for(self, claims: int, chunks: int = 1) -> int:
        """The number of calls of the stronger model."""
        count: int = self._above.calls_for(claims, chunks)
        return count

    async def against_text(self, question: str, claims: Sequence[str], text: str) -> list[str]:
        """One verdict per claim; only unsure ones are escalated."""
        words = list(await self._below.against_text(question, claims, text))
        unsure = [at for at, word in enumerate(words) if not self._is_sure(word)]
        sure = [_confidence(word) for at, word in enumerate(words) if at not in unsure]
        if unsure:
            asked = await self._above.against_text(question, [claims[at] for at in unsure], text)
            for at, word in zip(unsure, asked, strict=True):
                words[at] = word
        self._tally(sure, len(unsure), self.calls_for(len(claims)) - self.calls_for(len(unsure)))
        return words

    async def against_chunks(self, question: str, claims: Sequence[str], chunks: Sequence[str]) -> ChunkVerdicts:
        """Escalates claims with an unsure chunk, and only such chunks."""
        found = await self._below.against_chunks(question, claims, chunks)
        each, together = [list(row) for row in found.each], list(found.together)
        cells = [(row, at) for row, words in enumerate(each) for at, word in enumerate(words)]
        unsure = {(row, at) for row, at in cells if not self._is_sure(each[row][at])}
        sure = [_confidence(each[row][at]) for row, at in cells if (row, at) not in unsure]
        rows, columns = sorted({row for row, _ in unsure}), sorted({at for _, at in unsure})
        if unsure:
            asked = await self._above.against_chunks(
                question, [claims[row] for row in rows], [chunks[at] for at in columns]
            )
            for row, at in unsure:
                each[row][at] = asked.each[rows.index(row)][columns.index(at)]
            for row, word in zip(rows, asked.together, strict=True):
                # The first model's word for all chunks counts only where it is sure of it.
                known = [together[row]] if self._is_sure(together[row]) and together[row] == ENTAILMENT else []
                together[row] = strongest([*each[row], word, *known])
        saved = self.calls_for(len(claims), len(chunks)) - self.calls_for(len(rows), len(columns))
        self._tally(sure, len(unsure), saved)
        return ChunkVerdicts(each, together, None)

    async def matches(self, question: str, answer: str, references: Sequence[str]) -> list[float]:
        """The first model's probabilities where the best of them is near 0 or 1."""
        likely: list[float] = await self._below.matches(question, answer, references)
        sure = confidence(max(likely, default=0.0))
        if sure >= self._agreement and not self._dry_run:
            self._tally([sure], 0, 1)
            return likely
        self._tally([], 1, 0)
        known: list[float] = await self._above.matches(question, answer, references)
        return known

    async def useful_chunks(self, question: str, answer: str, chunks: Sequence[str]) -> list[bool]:
        """By the stronger model: whether a chunk is useful has no probability."""
        useful: list[bool] = await self._above.useful_chunks(question, answer, chunks)
        return useful

    def _is_sure(self, word: str) -> bool:
        return not self._dry_run and _confidence(word) >= self._agreement


def _confidence(word: str) -> float:
    supported = word.supported if isinstance(word, ScoredVerdict) else None
    return 0.0 if supported is None else confidence(supported)


def _not_counted(sure: Sequence[float], passed_on: int, saved: int) -> None:
    """Counts nothing."""
