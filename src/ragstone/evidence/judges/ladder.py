"""Two judges, one above the other: the local one decides what it is sure of, and a language model is asked about the rest."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.evidence.judges.checker import JudgeChecker
from ragstone.evidence.judges.local_checker import LocalChecker, stand_alone
from ragstone.evidence.judges.local_grader import LocalGrader
from ragstone.evidence.judges.reader import JudgeReader
from ragstone.evidence.tools import CONTRADICTION, ENTAILMENT, NEUTRAL, ChunkVerdicts
from ragstone.llm.tally import tally_decisions


class LadderChecker:
    """Verdicts of the local judge where its probability is near 0 or 1; of the language model in between."""

    def __init__(self, local: LocalChecker, above: JudgeChecker, agreement: float) -> None:
        self._local = local
        self._above = above
        self._agreement = agreement
        self._needed = local.card.confidence_for("support", agreement)

    @property
    def signature(self) -> str:
        """Both judges, and the agreement that is aimed at."""
        return f"{self._local.signature}>{self._above.signature}@{self._agreement:g}"

    def prompt_hash(self, name: str) -> str:
        """Of a prompt that the language model is asked with."""
        return self._above.prompt_hash(name)

    async def against_text(self, question: str, claims: Sequence[str], text: str) -> list[str]:
        """A verdict a claim; only the unsure ones are asked about."""
        found = [row[0] for row in await self._local.weigh(claims, [stand_alone(question, text)])]
        unsure = [at for at, support in enumerate(found) if not self._is_sure(support.supported)]
        words = [self._local.word(support) for support in found]
        told = await self._above.against_text(question, [claims[at] for at in unsure], text) if unsure else []
        for at, word in zip(unsure, told, strict=True):
            words[at] = word
        sure = [confidence(support.supported) for at, support in enumerate(found) if at not in unsure]
        saved = self._above.calls_for(len(claims)) - self._above.calls_for(len(unsure))
        tally_decisions(sure, len(unsure), saved)
        return words

    async def against_chunks(self, question: str, claims: Sequence[str], chunks: Sequence[str]) -> ChunkVerdicts:
        """Only claims with an unsure chunk, and only such chunks, are asked about; sure verdicts stand."""
        found = await self._local.weigh(claims, chunks)
        each = [[self._local.word(support) for support in row] for row in found]
        open_cells = {
            (row, at)
            for row, supports in enumerate(found)
            for at, support in enumerate(supports)
            if not self._is_sure(support.supported)
        }
        rows = sorted({row for row, _ in open_cells})
        columns = sorted({at for _, at in open_cells})
        above = ChunkVerdicts([], [], None)
        if open_cells:
            above = await self._above.against_chunks(
                question, [claims[row] for row in rows], [chunks[at] for at in columns]
            )
        for row, at in open_cells:
            each[row][at] = above.each[rows.index(row)][columns.index(at)]
        sure = [
            confidence(support.supported)
            for row, supports in enumerate(found)
            for at, support in enumerate(supports)
            if (row, at) not in open_cells
        ]
        made = self._above.calls_for(len(rows), len(columns))
        tally_decisions(sure, len(open_cells), self._above.calls_for(len(claims), len(chunks)) - made)
        asked = dict(zip(rows, above.together, strict=True))
        together = await self._join(claims, chunks, each, asked)
        return ChunkVerdicts(each, together, None)

    async def _join(
        self, claims: Sequence[str], chunks: Sequence[str], each: Sequence[Sequence[str]], asked: dict[int, str]
    ) -> list[str]:
        """All chunks together: what one says, else what the model said of those that it saw, else the local judge."""
        open_rows = [ENTAILMENT not in words and row not in asked for row, words in enumerate(each)]
        local = await self._local.weigh_together(claims, chunks, open_rows)
        joined = []
        for row, words in enumerate(each):
            word = self._local.joined(words, local[row])
            joined.append(_strongest(word, asked.get(row, NEUTRAL)))
        return joined

    def _is_sure(self, probability: float) -> bool:
        return confidence(probability) >= self._needed


class LadderGrader:
    """Answers that clearly match or clearly do not are graded here, the others by the language model."""

    def __init__(self, local: LocalGrader, above: JudgeReader, agreement: float) -> None:
        self._local = local
        self._above = above
        self._agreement = agreement
        card = local.checker.card
        self._needed = {task: card.confidence_for(task, agreement) for task in ("match", "support")}

    @property
    def signature(self) -> str:
        """Both judges, and the agreement that is aimed at."""
        return f"{self._local.signature}>{self._above.signature}@{self._agreement:g}"

    def prompt_hash(self, name: str) -> str:
        """Of a prompt that the language model is asked with."""
        return self._above.prompt_hash(name)

    async def matches(self, question: str, answer: str, references: Sequence[str]) -> list[float]:
        """The local probabilities where the best of them is near 0 or 1."""
        found = await self._local.matches(question, answer, references)
        sure = confidence(max(found, default=0.0))
        if sure >= self._needed["match"]:
            tally_decisions([sure], 0, 1)
            return found
        tally_decisions([], 1, 0)
        return await self._above.matches(question, answer, references)

    async def useful_chunks(self, question: str, answer: str, chunks: Sequence[str]) -> list[bool]:
        """By the local judge where it is sure of every chunk."""
        found = await self._local.usefulness(question, answer, chunks)
        sure = [confidence(probability) for probability in found]
        if all(value >= self._needed["support"] for value in sure):
            tally_decisions(sure, 0, 1)
            return self._local.decide(found)
        tally_decisions([], len(chunks), 0)
        return await self._above.useful_chunks(question, answer, chunks)


def confidence(probability: float) -> float:
    """How likely the more likely of two is right."""
    return max(probability, 1.0 - probability)


def _strongest(*words: str) -> str:
    return next((word for word in (ENTAILMENT, CONTRADICTION) if word in words), NEUTRAL)
