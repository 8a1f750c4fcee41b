"""Checkers: one call, `check(question, claims, texts)`, that returns a matrix of verdicts: one row per claim, one column per text.

A plain text is a retrieved chunk. `Whole`, `Labelled`, `Joint` and `Earlier` (tools/protocols.py) are texts that are read in
another way; all columns of a call are whole texts, or chunks followed by at most one `Joint` and one `Earlier`.

What a claim passes through, in this order:

1. rules: an empty text or a refusal states nothing; the local judge also decides verbatim claims, negations and numbers
2. cache: replies of language models are stored under the model (llm/cache.py), so that no wrapper asks twice
3. language: a judge skips texts in languages that it does not read; in a cascade the next judge reads them
4. cascade: verdicts below the required confidence are asked of the next judge, claims by texts, in one call
5. fallback: a model without token probabilities is asked for JSON, settled before the first verdict (tools/verdict_tools.py)
6. calibration: probabilities of tokens are mapped before they become words (tools/calibrations.py)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ragstone.data.signature import JudgeSignature
from ragstone.data.verdict import (
    CONTRADICTION,
    ENTAILMENT,
    NEUTRAL,
    PARTIAL,
    UNSURE,
    Verdict,
    probability_of,
    strongest,
)
from ragstone.llm.cascade_tally import tally_decisions
from ragstone.llm.concurrency import gather_then_raise
from ragstone.storage.images import Pictured
from ragstone.text.refusals import find_refusal
from ragstone.tools.nugget_labels import labels_by_parts
from ragstone.tools.protocols import Earlier, Joint, Labelled, Prompted, Whole

if TYPE_CHECKING:
    from ragstone.tools.llm_judges import JudgeReader
    from ragstone.tools.local_judges import LocalGrader

# One row per claim, one column per text.
Matrix = list[list[Verdict]]
# Probabilities of support between these are unsure; up to the lower one, contradiction is asked for.
LOW, HIGH = 0.45, 0.55


class Texts(NamedTuple):
    """The columns of a check against chunks: the chunks, whether they are also read together, and the earlier turns."""

    chunks: list[str]
    joint: bool
    earlier: str

    @classmethod
    def read(cls, texts: Iterable[str]) -> Texts:
        """Sort the texts of a call by their kinds."""
        listed = list(texts)
        chunks = [text for text in listed if not isinstance(text, Joint | Earlier)]
        earlier = next((str(text) for text in listed if isinstance(text, Earlier)), "")
        return cls(chunks, any(isinstance(text, Joint) for text in listed), earlier)

    def row(self, each: Iterable[Verdict], together: Verdict, earlier: Iterable[Verdict]) -> list[Verdict]:
        """One row of the matrix."""
        return [*each, *([together] if self.joint else ()), *(earlier if self.earlier else ())]


class TextChecker:
    """A checker with one method per kind of text."""

    async def check(self, question: str, claims: Sequence[str], texts: Sequence[str]) -> Matrix:
        """For each claim one verdict per text."""
        if not texts or not isinstance(texts[0], Whole):
            return await self.in_chunks(question, claims, Texts.read(texts))
        read = self.labels if isinstance(texts[0], Labelled) else self.in_text
        columns = await gather_then_raise(read(question, claims, str(text)) for text in texts)
        return [list(row) for row in zip(*columns, strict=True)]

    async def in_text(self, question: str, claims: Sequence[str], text: str) -> list[Verdict]:
        """One verdict per claim by an answer or a reference."""
        raise NotImplementedError

    async def in_chunks(self, question: str, claims: Sequence[str], texts: Texts) -> Matrix:
        """For each claim one verdict per chunk, one for all together, and one by the earlier turns, as far as asked for."""
        raise NotImplementedError

    async def labels(self, question: str, nuggets: Sequence[str], answer: str) -> list[Verdict]:
        """For each nugget how far the answer contains it, by the verdicts on the nugget and, if it is not supported, on its parts."""
        return await labels_by_parts(nuggets, lambda claims: self.in_text(question, claims, answer))


def nothing(count: int, word: str = NEUTRAL) -> list[Verdict]:
    """The verdicts by a text that states nothing."""
    return [Verdict(word, 0.0, 0.0) for _ in range(count)]


def states_nothing(text: str) -> bool:
    """Whether a text is empty or a refusal: it supports nothing and contradicts nothing."""
    return not text.strip() or find_refusal(text) is not None


def word_for(supported: float, contradicted: float = 0.0) -> str:
    """The word for probabilities; contradiction is more likely than silence if it has more than half of the rest."""
    if supported >= HIGH:
        return ENTAILMENT
    if supported > LOW:
        return UNSURE
    return CONTRADICTION if contradicted > (1.0 - supported) / 2 else NEUTRAL


def joined(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict of all chunks: the strongest of them, with the highest probabilities if they have any."""
    word = strongest(verdicts)
    if verdicts and all(one.support is None for one in verdicts):
        return Verdict(word)
    supported = max((one.support or 0.0 for one in verdicts), default=0.0)
    contradicted = max((one.contradiction or 0.0 for one in verdicts), default=0.0)
    return Verdict(word, supported, min(contradicted, 1.0 - supported))


def confidence(probability: float) -> float:
    """The probability of the more likely of two outcomes."""
    return max(probability, 1.0 - probability)


def _confidence_of(verdict: str) -> float:
    support = probability_of(verdict)
    return 0.0 if support is None else confidence(support)


class CascadeChecker:
    """Keeps the verdicts of which the first checker is sure and asks the next one about the others.

    A quote (`dry_run`) counts every call that both models might get. `tally` is False under a local judge, whose cascade counts
    the decisions.
    """

    def __init__(self, below: Any, above: Any, agreement: float, dry_run: bool = False, tally: bool = True) -> None:
        self._below, self._above = below, above
        self._needed = agreement
        self._dry_run, self._tallies = dry_run, tally
        self.signature = f"{below.signature}>{above.signature}@{agreement:g}"
        # Escalated verdicts name the judge that decided.
        self._source = JudgeSignature.parse(above.signature).name.partition("#")[0]
        self.prompts = getattr(below, "prompts", {})

    def prompt_hash(self, name: str) -> str:
        """The hashes of the prompts of both models."""
        return f"{self._below.prompt_hash(name)}>{self._above.prompt_hash(name)}"

    def calls_for(self, claims: int, chunks: int = 1) -> int:
        """The number of calls of the last model."""
        count: int = self._above.calls_for(claims, chunks)
        return count

    async def check(self, question: str, claims: Sequence[str], texts: Sequence[str]) -> Matrix:
        """Unsure claims and texts are escalated in one call, with the earlier turns; sure verdicts are kept."""
        found = await self._first(question, claims, texts)
        single = [at for at, text in enumerate(texts) if not isinstance(text, Joint | Earlier)]
        cells = [(row, at) for row in range(len(claims)) for at in single]
        unsure = {(row, at) for row, at in cells if not self._is_sure(found[row][at])}
        sure = [_confidence_of(found[row][at]) for row, at in cells if (row, at) not in unsure]
        rows, columns = (sorted({cell[axis] for cell in unsure}) for axis in (0, 1))
        together: dict[int, Verdict] = {}
        if unsure:
            asked_texts = [*columns, *range(len(single), len(texts))]
            asked = await self._above.check(question, [claims[row] for row in rows], [texts[at] for at in asked_texts])
            for row, verdicts in zip(rows, asked, strict=True):
                for at, decided in zip(asked_texts, verdicts, strict=True):
                    verdict = _name_source(decided, self._source)
                    if isinstance(texts[at], Joint):
                        together[row] = verdict
                    elif (row, at) in unsure or (at not in single and not self._is_sure(found[row][at])):
                        found[row][at] = verdict
        saved = self.calls_for(len(claims), len(single)) - self.calls_for(len(rows), len(columns))
        self._count(sure, len(unsure), saved)
        if len(single) < len(texts) and isinstance(texts[len(single)], Joint):
            await self._join(question, claims, Texts.read(texts), found, together)
        return found

    async def _first(self, question: str, claims: Sequence[str], texts: Sequence[str]) -> Matrix:
        return [list(row) for row in await self._below.check(question, claims, texts)]

    async def _join(  # the local judge needs the question and the claims
        self, _question: str, _claims: Sequence[str], texts: Texts, found: Matrix, asked: Mapping[int, Verdict]
    ) -> None:
        """The column of all chunks: the first model's verdict on them counts only if it is sure of it."""
        at = len(texts.chunks)
        for row, verdict in asked.items():
            first = found[row][at]
            known = [first] if self._is_sure(first) and first == ENTAILMENT else []
            found[row][at] = Verdict(strongest([*found[row][:at], verdict, *known]))

    def _is_sure(self, verdict: str) -> bool:
        return not self._dry_run and verdict != PARTIAL and _confidence_of(verdict) >= self._needed

    def _count(self, sure: Sequence[float], escalated: int, saved: int) -> None:
        if self._tallies:
            tally_decisions(sure, escalated, saved)


class LocalCascade(CascadeChecker):
    """A cascade whose first checker is the local judge: it reads some languages only, and each chunk alone.

    `needed` is the confidence at which it decides, if that was measured for this cascade; by default its card has it.
    """

    def __init__(self, below: Any, above: Any, agreement: float, needed: float | None = None) -> None:
        super().__init__(below, above, agreement if needed is None else needed)
        self._needed = below.card.confidence_for("support", agreement) if needed is None else needed
        self.prompts = {}
        self.sees_images = getattr(above, "sees_images", False)

    def prompt_hash(self, name: str) -> str:
        """The local judge has no prompts."""
        return self._above.prompt_hash(name) if isinstance(self._above, Prompted) else ""

    async def check(self, question: str, claims: Sequence[str], texts: Sequence[str]) -> Matrix:
        """Texts in other languages, and images if it sees them, go to the language model; a refusal needs no model."""
        whole = bool(texts) and isinstance(texts[0], Whole)
        chunks = [*texts] if whole else Texts.read(texts).chunks
        seen = any(isinstance(chunk, Pictured) for chunk in chunks) and self.sees_images
        # The claims may be those of an answer and of a reference in two languages.
        if seen or not self._below.card.reads(*(() if whole else claims), " ".join(claims), "\n".join(chunks)):
            self._count([], len(claims) * len(chunks), 0)
            verdicts: Matrix = await self._above.check(question, claims, texts)
            return verdicts
        if whole and not isinstance(texts[0], Labelled) and all(map(find_refusal, texts)):
            return await super()._first(question, claims, texts)
        return await super().check(question, claims, texts)

    async def _first(self, question: str, claims: Sequence[str], texts: Sequence[str]) -> Matrix:
        if texts and isinstance(texts[0], Whole):
            found = await super()._first(question, claims, texts)
            return found if isinstance(texts[0], Labelled) else [[_decided(one) for one in row] for row in found]
        parts = Texts.read(texts)
        each = await self._below.weigh(claims, parts.chunks, f"{question}\n{parts.earlier}")
        past = await self._below.weigh(claims, [parts.earlier], question) if parts.earlier else each
        return [
            parts.row(map(_decided, row), Verdict(NEUTRAL), map(_decided, earlier))
            for row, earlier in zip(each, past, strict=True)
        ]

    async def _join(
        self, question: str, claims: Sequence[str], texts: Texts, found: Matrix, asked: Mapping[int, Verdict]
    ) -> None:
        """Verdicts on all chunks: of one chunk, else of the model on the chunks it read, else of the local judge on all of them."""
        at = len(texts.chunks)
        open_rows = [ENTAILMENT not in row[:at] and number not in asked for number, row in enumerate(found)]
        known = f"{question}\n{texts.earlier}"
        local = await self._below.weigh_together(claims, texts.chunks, open_rows, known)
        for number, (row, verdict) in enumerate(zip(found, local, strict=True)):
            joined = self._below.joined(row[:at], verdict)
            row[at] = self._below.joined((joined, asked.get(number, NEUTRAL)), None)
            if number in asked:
                row[at] = _name_source(row[at], self._source)


def _name_source(verdict: str, source: str) -> Verdict:
    """The verdict with the judge that decided it, unless it names one."""
    one = Verdict.from_text(verdict)
    known = one.support, one.contradiction, one.reason, one.source or source
    return Verdict(one, *known, counted=one.counted, agreement=one.agreement, words=one.words)


def _decided(verdict: Verdict) -> Verdict:
    """A verdict of which the local judge is sure enough counts as that of a language model: 1 or 0."""
    counted = float(verdict == ENTAILMENT)
    return Verdict(verdict, verdict.support, verdict.contradiction, verdict.reason, counted=counted)


class CascadeGrader:
    """Grades clear answers with the local judge and the others with the language model."""

    def __init__(self, local: LocalGrader, above: JudgeReader, agreement: float, needed: float | None = None) -> None:
        # Both judges, and the agreement that is aimed at, or the confidence that was measured for this cascade.
        self.signature = f"{local.signature}>{above.signature}@{needed or agreement:g}"
        self.prompt_hash = above.prompt_hash
        self._local = local
        self._above = above
        card = local.checker.card
        self._needed = {task: needed or card.confidence_for(task, agreement) for task in ("match", "support")}

    async def matches(self, question: str, answer: str, references: Sequence[str]) -> list[float]:
        """The local probabilities if the best of them is near 0 or 1."""
        if self._local.checker.card.reads(question, answer, *references):
            probabilities = await self._local.matches(question, answer, references)
            sure = confidence(max(probabilities, default=0.0))
            if sure >= self._needed["match"]:
                tally_decisions([sure], 0, 1)
                return probabilities
        tally_decisions([], 1, 0)
        return await self._above.matches(question, answer, references)

    async def useful_chunks(self, question: str, answer: str, chunks: Sequence[str]) -> list[bool]:
        """By the local judge if it is sure of every chunk."""
        if self._local.checker.card.reads(answer, "\n".join(chunks)):
            probabilities = await self._local.usefulness(question, answer, chunks)
            sure = [confidence(probability) for probability in probabilities]
            if all(value >= self._needed["support"] for value in sure):
                tally_decisions(sure, 0, 1)
                return self._local.decide(probabilities)
        tally_decisions([], len(chunks), 0)
        return await self._above.useful_chunks(question, answer, chunks)


class TokenCascade(CascadeChecker):
    """A model with token probabilities below a stronger one, as checker and grader."""

    async def matches(self, question: str, answer: str, references: Sequence[str]) -> list[float]:
        """The first model's probabilities if the best of them is near 0 or 1."""
        likely: list[float] = await self._below.matches(question, answer, references)
        sure = confidence(max(likely, default=0.0))
        if sure >= self._needed and not self._dry_run:
            self._count([sure], 0, 1)
            return likely
        self._count([], 1, 0)
        known: list[float] = await self._above.matches(question, answer, references)
        return known

    async def useful_chunks(self, question: str, answer: str, chunks: Sequence[str]) -> list[bool]:
        """By the stronger model: whether a chunk is useful has no probability."""
        useful: list[bool] = await self._above.useful_chunks(question, answer, chunks)
        return useful
