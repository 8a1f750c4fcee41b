"""Answers held against references by the local judge."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from ragstone.evidence.judges.local_checker import LocalChecker, stand_alone
from ragstone.evidence.tools import Shares
from ragstone.text.passages import Passages
from ragstone.text.statements import statements

# Words of a text whose supported share is estimated at once.
_PART = 120
# Of a longer text so many parts are read, evenly spread.
_MOST_PARTS = 12


class Matching(Protocol):
    """Who compares answers with references."""

    async def match(self, question: str, references: Sequence[str], answer: str) -> list[float]:
        """For each reference the probability that the answer says the same."""
        ...


class Estimating(Protocol):
    """Who estimates how much of a text is supported."""

    async def fraction(self, evidence_and_texts: Sequence[tuple[str, str]]) -> list[float]:
        """For each pair the share of the text that the evidence supports."""
        ...


class LocalGrader:
    """Answers by the head for answer match; a chunk is useful if it supports a claim of the right answer."""

    def __init__(self, judge: Matching, checker: LocalChecker, signature: str) -> None:
        self._judge = judge
        self.checker = checker
        self.signature = signature

    async def matches(self, question: str, answer: str, references: Sequence[str]) -> list[float]:
        """For each reference the probability that the answer says the same; an answer without content does not."""
        if not answer.strip():
            return [0.0] * len(references)
        return await self._judge.match(question, references, answer)

    async def useful_chunks(self, question: str, answer: str, chunks: Sequence[str]) -> list[bool]:
        """For each chunk whether it supports anything that the right answer states."""
        return self.decide(await self.usefulness(question, answer, chunks))

    def decide(self, usefulness: Sequence[float]) -> list[bool]:
        """Which chunks are useful, by how likely they are."""
        return [likely >= self.checker.card.readings["support"].threshold for likely in usefulness]

    async def usefulness(self, question: str, answer: str, chunks: Sequence[str]) -> list[float]:
        """For each chunk how likely it supports the statement of the right answer that it supports best."""
        found = await self.checker.weigh(statements(question, answer), chunks)
        return [max((row[at].supported for row in found), default=0.0) for at in range(len(chunks))]


class LocalEstimator:
    """Shares by the head for support fractions, averaged with the share of words."""

    def __init__(self, judge: Estimating, signature: str) -> None:
        self._judge = judge
        self.signature = signature

    async def shares(self, question: str, answer: str, references: Sequence[str]) -> Shares:
        """Both ways, for each reference."""
        answer = stand_alone(question, answer)
        known = [stand_alone(question, reference) for reference in references]
        found = await asyncio.gather(
            *(self._share(answer, reference) for reference in known),
            *(self._share(reference, answer) for reference in known),
        )
        return Shares(found[: len(known)], found[len(known) :])

    async def _share(self, text: str, by: str) -> float:
        """Part by part where a text is long: the best passage of the other one counts, the parts by their length."""
        parts = Passages(text, _PART, overlap=0).all()
        parts = parts[:: -(-len(parts) // _MOST_PARTS) or 1]
        evidence = Passages(by)
        asked = [[(passage, part) for passage in evidence.nearest(part)] for part in parts]
        found = iter(await self._judge.fraction([pair for pairs in asked for pair in pairs]))
        best = [max([next(found) for _ in pairs], default=0.0) for pairs in asked]
        sizes = [len(part.split()) for part in parts]
        return sum(share * size for share, size in zip(best, sizes, strict=True)) / sum(sizes) if sizes else 0.0
