"""Claims held against texts by the local judge: what a text supports, its passages support."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from typing import Protocol

from ragstone.evidence.tools import CONTRADICTION, ENTAILMENT, NEUTRAL, ChunkVerdicts
from ragstone.models.judge_card import Card
from ragstone.models.local_judge import Support
from ragstone.text.overlap import content_words
from ragstone.text.passages import Passages
from ragstone.text.questions import complete, is_fragment

_NOTHING = Support(0.0, 0.0)


class Weighing(Protocol):
    """Who weighs evidence."""

    async def support(self, evidence_and_claims: Sequence[tuple[str, str]]) -> list[Support]:
        """For each pair of evidence and claim how likely it is supported, and contradicted."""
        ...


class LocalChecker:
    """A claim is held against each passage of a text, and the best one counts. One with none of its words is not read."""

    def __init__(self, judge: Weighing, card: Card, signature: str) -> None:
        self._judge = judge
        self.card = card
        self.signature = f"{signature};passages/2"
        self._passages = lru_cache(maxsize=64)(Passages)

    async def against_text(self, question: str, claims: Sequence[str], text: str) -> list[str]:
        """A verdict a claim; an answer in a word or two is read together with its question."""
        found = await self.weigh(claims, [stand_alone(question, text)])
        return [self.word(row[0]) for row in found]

    async def against_chunks(
        self,
        question: str,  # noqa: ARG002  (chunks stand alone)
        claims: Sequence[str],
        chunks: Sequence[str],
    ) -> ChunkVerdicts:
        """What one chunk supports all support; else the nearest sentences of all chunks are read together."""
        found = await self.weigh(claims, chunks)
        each = [[self.word(support) for support in row] for row in found]
        together = await self.weigh_together(claims, chunks, [ENTAILMENT not in words for words in each])
        return ChunkVerdicts(each, [self.joined(*pair) for pair in zip(each, together, strict=True)], None)

    async def weigh(self, claims: Sequence[str], texts: Sequence[str]) -> list[list[Support]]:
        """For each claim and text the best of the text's passages."""
        asked = [[[(passage, claim) for passage in self.passages(claim, text)] for text in texts] for claim in claims]
        weighed = iter(await self._judge.support([pair for row in asked for pairs in row for pair in pairs]))
        return [[self._best(list(islice(weighed, len(pairs)))) for pairs in row] for row in asked]

    async def weigh_together(
        self, claims: Sequence[str], chunks: Sequence[str], wanted: Sequence[bool]
    ) -> list[Support]:
        """What the sentences nearest to a claim, out of all chunks, say about it; nothing where that is not wanted."""
        joined = self._passages("\n\n".join(chunks)) if len(chunks) > 1 and any(wanted) else None
        asked: dict[int, tuple[str, str]] = {}
        for number, claim in enumerate(claims):
            if joined and wanted[number] and (evidence := joined.nearest_sentences(claim)):
                asked[number] = evidence, claim
        found = dict(zip(asked, await self._judge.support(list(asked.values())), strict=True))
        return [found.get(number, _NOTHING) for number in range(len(claims))]

    def word(self, support: Support) -> str:
        """The verdict; a contradiction only where the judge is sure of it."""
        if support.supported >= self.card.readings["support"].threshold:
            return ENTAILMENT
        return CONTRADICTION if support.contradicted >= self.card.contradiction else NEUTRAL

    def joined(self, words: Sequence[str], together: Support) -> str:
        """The verdict of all chunks: what one of them says, else what they say together."""
        said = (*words, self.word(together) if self.word(together) == ENTAILMENT else NEUTRAL)
        return next((word for word in (ENTAILMENT, CONTRADICTION) if word in said), NEUTRAL)

    def passages(self, claim: str, text: str) -> list[str]:
        """What of a text is read for a claim: nothing that has none of its words."""
        wanted = content_words(claim)
        if not wanted:
            return []
        passages = self._passages(text).nearest_closely(claim)
        return [passage for passage in passages if wanted & content_words(passage)]

    def _best(self, found: Sequence[Support]) -> Support:
        """The best of several passages, less a discount: the more are read, the likelier one is liked by mistake.

        The two nearest sentences, which come last, stand in another passage too: they are no further chance.
        """
        if not found:
            return _NOTHING
        supported, contradicted = max(item.supported for item in found), max(item.contradicted for item in found)
        return Support(lower_odds(supported, self.card.several * math.log(max(1, len(found) - 1))), contradicted)


def stand_alone(question: str, text: str) -> str:
    """A text that says something without its question."""
    return complete(question, text) if text.strip() and is_fragment(text) else text


def lower_odds(probability: float, by: float) -> float:
    """A probability whose log-odds are so much lower."""
    return probability / (probability + (1.0 - probability) * math.exp(by))
