"""A cascade of judges: the local judge, or a model with token probabilities, decides if it is sure; otherwise the next one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ragstone.data.types import ScoredVerdict
from ragstone.llm.cascade_tally import tally_decisions
from ragstone.text.refusals import find_refusal
from ragstone.tools.llm_judges import JudgeChecker, JudgeReader
from ragstone.tools.llm_rater import LLMTool
from ragstone.tools.local_judges import LocalChecker, LocalGrader
from ragstone.tools.nugget_labels import PARTIAL
from ragstone.tools.protocols import ENTAILMENT, NEUTRAL, ChunkVerdicts, ConversationVerdicts, Tool, strongest


class _Ladder:
    def __init__(self, local: Tool, above: LLMTool, agreement: float) -> None:
        # Both judges, and the agreement that is aimed at.
        self.signature = f"{local.signature}>{above.signature}@{agreement:g}"
        self.prompt_hash = above.prompt_hash


class LadderChecker(_Ladder):
    """Uses the local verdict if its probability is near 0 or 1, otherwise asks the language model."""

    def __init__(self, local: LocalChecker, above: JudgeChecker, agreement: float) -> None:
        super().__init__(local, above, agreement)
        self._local = local
        self._above = above
        self._needed = local.card.confidence_for("support", agreement)

    async def against_text(self, question: str, claims: Sequence[str], text: str) -> list[str]:
        """One verdict per claim; only unsure ones are escalated."""
        if not self._local.card.reads(" ".join(claims), text):
            tally_decisions([], len(claims), 0)
            return await self._above.against_text(question, claims, text)
        if find_refusal(text):
            return await self._local.against_text(question, claims, text)
        verdicts = await self._local.weigh_text(question, claims, text)
        unsure = [at for at, verdict in enumerate(verdicts) if not self._is_sure(verdict)]
        words: list[str] = [_decided(verdict) for verdict in verdicts]
        escalated = await self._above.against_text(question, [claims[at] for at in unsure], text) if unsure else []
        for at, word in zip(unsure, escalated, strict=True):
            words[at] = word
        sure = [confidence(verdict.supported or 0.0) for at, verdict in enumerate(verdicts) if at not in unsure]
        saved = self._above.calls_for(len(claims)) - self._above.calls_for(len(unsure))
        tally_decisions(sure, len(unsure), saved)
        return words

    async def against_chunks(self, question: str, claims: Sequence[str], chunks: Sequence[str]) -> ChunkVerdicts:
        """Escalates claims with an unsure chunk, and only such chunks; sure verdicts are kept."""
        return (await self.against_conversation(question, claims, chunks, "")).chunks

    async def against_conversation(
        self, question: str, claims: Sequence[str], chunks: Sequence[str], history: str
    ) -> ConversationVerdicts:
        """The earlier turns go into the call for unsure chunks; without such a call, the local verdict on them counts."""
        # The claims may be those of an answer and of a reference in two languages.
        if not self._local.card.reads(*claims, " ".join(claims), "\n".join(chunks)):
            tally_decisions([], len(claims) * len(chunks), 0)
            return await _ask_above(self._above, question, claims, chunks, history)
        in_past = [row[0] for row in await self._local.weigh(claims, [history])] if history else []
        past: list[str] = [_decided(verdict) for verdict in in_past]
        found = await self._local.weigh(claims, chunks)
        each: list[list[str]] = [[_decided(verdict) for verdict in row] for row in found]
        open_cells = {
            (row, at)
            for row, verdicts in enumerate(found)
            for at, verdict in enumerate(verdicts)
            if not self._is_sure(verdict)
        }
        rows = sorted({row for row, _ in open_cells})
        columns = sorted({at for _, at in open_cells})
        above = ChunkVerdicts([], [], None)
        if open_cells:
            above, asked_past = await _ask_above(
                self._above, question, [claims[row] for row in rows], [chunks[at] for at in columns], history
            )
            for row, word in zip(rows, asked_past, strict=False):
                past[row] = past[row] if self._is_sure(in_past[row]) else word
        for row, at in open_cells:
            each[row][at] = above.each[rows.index(row)][columns.index(at)]
        sure = [
            confidence(verdict.supported or 0.0)
            for row, verdicts in enumerate(found)
            for at, verdict in enumerate(verdicts)
            if (row, at) not in open_cells
        ]
        made = self._above.calls_for(len(rows), len(columns))
        tally_decisions(sure, len(open_cells), self._above.calls_for(len(claims), len(chunks)) - made)
        asked = dict(zip(rows, above.together, strict=True))
        together = await self._join(claims, chunks, each, asked)
        return ConversationVerdicts(ChunkVerdicts(each, together, None), past)

    async def nuggets(self, question: str, nuggets: Sequence[str], answer: str) -> list[str]:
        """One label per nugget; those that the local judge is unsure of, or finds in part, are escalated."""
        if not self._local.card.reads(" ".join(nuggets), answer):
            tally_decisions([], len(nuggets), 0)
            return await self._above.nuggets(question, nuggets, answer)
        found = await self._local.nuggets(question, nuggets, answer)
        return await escalate_labels(self._above, self._is_sure, found, (question, nuggets, answer), tally_decisions)

    async def _join(
        self, claims: Sequence[str], chunks: Sequence[str], each: Sequence[Sequence[str]], asked: dict[int, str]
    ) -> list[str]:
        """All chunks together: what one says, else what the model said of those that it saw, else the local judge."""
        open_rows = [ENTAILMENT not in words and row not in asked for row, words in enumerate(each)]
        local = await self._local.weigh_together(claims, chunks, open_rows)
        joined = [self._local.joined(words, verdict) for words, verdict in zip(each, local, strict=True)]
        return [self._local.joined((word, asked.get(row, NEUTRAL)), None) for row, word in enumerate(joined)]

    def _is_sure(self, verdict: str) -> bool:
        return _confidence(verdict) >= self._needed


class LadderGrader(_Ladder):
    """Grades clear answers with the local judge and the others with the language model."""

    def __init__(self, local: LocalGrader, above: JudgeReader, agreement: float) -> None:
        super().__init__(local, above, agreement)
        self._local = local
        self._above = above
        card = local.checker.card
        self._needed = {task: card.confidence_for(task, agreement) for task in ("match", "support")}

    async def matches(self, question: str, answer: str, references: Sequence[str]) -> list[float]:
        """The local probabilities where the best of them is near 0 or 1."""
        if not self._local.checker.card.reads(question, answer, *references):
            tally_decisions([], 1, 0)
            return await self._above.matches(question, answer, references)
        probabilities = await self._local.matches(question, answer, references)
        sure = confidence(max(probabilities, default=0.0))
        if sure >= self._needed["match"]:
            tally_decisions([sure], 0, 1)
            return probabilities
        tally_decisions([], 1, 0)
        return await self._above.matches(question, answer, references)

    async def useful_chunks(self, question: str, answer: str, chunks: Sequence[str]) -> list[bool]:
        """By the local judge where it is sure of every chunk."""
        if not self._local.checker.card.reads(answer, "\n".join(chunks)):
            tally_decisions([], len(chunks), 0)
            return await self._above.useful_chunks(question, answer, chunks)
        probabilities = await self._local.usefulness(question, answer, chunks)
        sure = [confidence(probability) for probability in probabilities]
        if all(value >= self._needed["support"] for value in sure):
            tally_decisions(sure, 0, 1)
            return self._local.decide(probabilities)
        tally_decisions([], len(chunks), 0)
        return await self._above.useful_chunks(question, answer, chunks)


async def escalate_labels(
    above: Any,
    is_sure: Callable[[str], bool],
    found: Sequence[str],
    asked: tuple[str, Sequence[str], str],
    tally: Callable[[Sequence[float], int, int], None],
) -> list[str]:
    """Labels of nuggets, with those of a stronger judge where the first is unsure or sees a part only."""
    question, nuggets, answer = asked
    unsure = [at for at, label in enumerate(found) if label == PARTIAL or not is_sure(label)]
    labels = list(found)
    if unsure:
        for at, label in zip(
            unsure, await above.nuggets(question, [nuggets[at] for at in unsure], answer), strict=True
        ):
            labels[at] = label
    sure = [_confidence(label) for at, label in enumerate(found) if at not in unsure]
    tally(sure, len(unsure), above.calls_for(len(nuggets)) - above.calls_for(len(unsure)))
    return labels


async def _ask_above(
    tool: Any, question: str, claims: Sequence[str], chunks: Sequence[str], history: str
) -> ConversationVerdicts:
    if history:
        verdicts: ConversationVerdicts = await tool.against_conversation(question, claims, chunks, history)
        return verdicts
    return ConversationVerdicts(await tool.against_chunks(question, claims, chunks), [])


def _decided(verdict: ScoredVerdict) -> ScoredVerdict:
    """A verdict of which the local judge is sure enough counts as a language model's does: 1 or 0."""
    return ScoredVerdict(verdict, verdict.supported, verdict.contradicted, float(verdict == ENTAILMENT))


def confidence(probability: float) -> float:
    """The probability of the more likely of two outcomes."""
    return max(probability, 1.0 - probability)


class TokenLadder:
    """A model with token probabilities below a stronger one, as checker and grader. A quote (`dry_run`) counts every call that both models might get."""

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
        return (await self.against_conversation(question, claims, chunks, "")).chunks

    async def against_conversation(
        self, question: str, claims: Sequence[str], chunks: Sequence[str], history: str
    ) -> ConversationVerdicts:
        """The earlier turns go into the call for unsure chunks; without such a call, the first model's verdict on them counts."""
        found, in_past = await _ask_above(self._below, question, claims, chunks, history)
        past = list(in_past)
        each, together = [list(row) for row in found.each], list(found.together)
        cells = [(row, at) for row, words in enumerate(each) for at, word in enumerate(words)]
        unsure = {(row, at) for row, at in cells if not self._is_sure(each[row][at])}
        sure = [_confidence(each[row][at]) for row, at in cells if (row, at) not in unsure]
        rows, columns = sorted({row for row, _ in unsure}), sorted({at for _, at in unsure})
        if unsure:
            asked, asked_past = await _ask_above(
                self._above, question, [claims[row] for row in rows], [chunks[at] for at in columns], history
            )
            for row, word in zip(rows, asked_past, strict=False):
                past[row] = past[row] if self._is_sure(past[row]) else word
            for row, at in unsure:
                each[row][at] = asked.each[rows.index(row)][columns.index(at)]
            for row, word in zip(rows, asked.together, strict=True):
                # The first model's word for all chunks counts only where it is sure of it.
                known = [together[row]] if self._is_sure(together[row]) and together[row] == ENTAILMENT else []
                together[row] = strongest([*each[row], word, *known])
        saved = self.calls_for(len(claims), len(chunks)) - self.calls_for(len(rows), len(columns))
        self._tally(sure, len(unsure), saved)
        return ConversationVerdicts(ChunkVerdicts(each, together, None), past)

    async def nuggets(self, question: str, nuggets: Sequence[str], answer: str) -> list[str]:
        """One label per nugget; unsure and partial ones are escalated."""
        found = await self._below.nuggets(question, nuggets, answer)
        return await escalate_labels(self._above, self._is_sure, found, (question, nuggets, answer), self._tally)

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
