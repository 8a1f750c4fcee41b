"""Tools that ask a language model: claim checker, claim extractor and reader. A prompt may ask for reasons of verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from itertools import combinations
from statistics import fmean
from typing import Any, NamedTuple

from ragstone.data.types import Grade
from ragstone.data.verdict import CONTRADICTION, ENTAILMENT, NEUTRAL, NOT, Verdict, strongest
from ragstone.llm.concurrency import gather_then_raise
from ragstone.llm.prompted import Bounds, Judge, ask_in_pieces
from ragstone.llm.prompts import Prompt
from ragstone.llm.prompts.fence import letters
from ragstone.llm.reply_types import (
    AnswerMatchReply,
    ClaimContextVerdict,
    ContextVerdictsReply,
    NeededSentencesReply,
    QuestionsReply,
    ReasonedContextVerdictsReply,
    ReasonedVerdictsReply,
    RelevanceGradeReply,
    StanceReply,
    UsefulnessReply,
    VerdictsReply,
)
from ragstone.storage.images import Pictured
from ragstone.tools.checkers import TextChecker, Texts
from ragstone.tools.llm_rater import LLMTool
from ragstone.tools.nugget_labels import ask_labels
from ragstone.tools.protocols import GuessedQuestions, Stance


class _Voted(NamedTuple):
    """For each claim the words that most repeats gave, and the share of them that did."""

    words: list[list[Verdict]]
    agreement: list[float]


class JudgeChecker(LLMTool, TextChecker):
    """Asks a language model about many claims per call; with repeats, the majority counts."""

    def __init__(self, judge: Judge, repeats: int = 1, claims_per_call: int = 25, chunks_per_call: int = 10) -> None:
        super().__init__(judge, f";{claims_per_call}x{chunks_per_call};repeats={repeats}")
        self._repeats = repeats
        self._claims_per_call = claims_per_call
        self._chunks_per_call = chunks_per_call

    def calls_for(self, claims: int, chunks: int = 1) -> int:
        """The number of calls for these numbers of claims and chunks."""
        return -(-claims // self._claims_per_call) * -(-chunks // self._chunks_per_call) * self._repeats

    async def in_text(self, question: str, claims: Sequence[str], text: str) -> list[Verdict]:
        """One verdict per claim; a text without content says nothing about any."""
        if not text.strip():
            return [Verdict(NEUTRAL) for _ in claims]
        return await self._first_words(claims, partial(self._ask_text, question, text))

    async def labels(self, question: str, nuggets: Sequence[str], answer: str) -> list[Verdict]:
        """One label per nugget; an answer without content contains none."""
        if not answer.strip():
            return [Verdict(NOT) for _ in nuggets]
        return await self._first_words(nuggets, partial(ask_labels, self._judge, question, answer))

    async def _first_words(
        self, claims: Sequence[str], ask: Callable[..., Awaitable[list[list[Verdict]]]]
    ) -> list[Verdict]:
        groups = _groups(claims, self._claims_per_call)
        votes = await gather_then_raise(self._vote(partial(ask, some)) for some in groups)
        return [words[0] for voted in votes for words in voted.words]

    async def in_chunks(self, question: str, claims: Sequence[str], texts: Texts) -> list[list[Verdict]]:
        """Claims and chunks in groups that fit a call. What counts as together is a group of chunks.

        The earlier turns are one more text in the call for the last chunks.
        """
        groups = _groups(claims, self._claims_per_call)
        parts = await gather_then_raise(self._check_group(question, some, texts) for some in groups)
        return [row for part in parts for row in part]

    async def _check_group(self, question: str, claims: Sequence[str], texts: Texts) -> list[list[Verdict]]:
        groups = _groups(texts.chunks, self._chunks_per_call) or ([[]] if texts.earlier else [])
        earlier = [*[""] * (len(groups) - 1), texts.earlier]
        asked = [partial(self._ask_chunks, question, claims, *pair) for pair in zip(groups, earlier, strict=False)]
        parts = await gather_then_raise(map(self._vote, asked))
        rows = []
        for number in range(len(claims)):
            words = [part.words[number] for part in parts]
            past = [words[-1].pop()] if texts.earlier else []
            best = strongest_of([some[-1] for some in words])
            repeated = self._repeats > 1 and texts.chunks
            agreement = fmean(part.agreement[number] for part in parts) if repeated else None
            together = Verdict(best, reason=best.reason, agreement=agreement)
            rows.append(texts.row([word for some in words for word in some[:-1]], together, past))
        return rows

    async def _vote(self, ask: Callable[[int], Awaitable[list[list[Verdict]]]]) -> _Voted:
        repeats = await gather_then_raise(map(ask, range(self._repeats)))
        words, agreement = [], []
        for rows in zip(*repeats, strict=True):
            counts = [Counter(votes).most_common(1)[0] for votes in zip(*rows, strict=True)]
            words.append([word for word, _ in counts])
            agreement.append(fmean(count / self._repeats for _, count in counts))
        return _Voted(words, agreement)

    async def _ask_text(self, question: str, text: str, claims: Sequence[str], repeat: int) -> list[list[Verdict]]:
        async def ask(some: Sequence[str], repair: bool) -> list[list[Verdict]]:
            numbers = range(1, len(some) + 1)
            reasons = asks_for_reasons(self._judge.prompts.get("verdicts"))
            kind: type[VerdictsReply] = ReasonedVerdictsReply if reasons else VerdictsReply
            guessed = [{"claim": number, "reason": GUESSED_REASON, "verdict": ENTAILMENT} for number in numbers]
            guess = kind.model_validate({"verdicts": guessed})
            data = {"question": question, "claims": some, "text": text}
            check = partial(_check_numbers, claims=len(some))
            bounds = _claim_bounds(len(some))
            reply = await self._judge.ask("verdicts", kind, data, guess, check, repeat, bounds=bounds, repair=repair)
            found = {item.claim: item for item in reply.verdicts}
            return [[with_reason(found[number].verdict, found[number])] for number in numbers]

        return await ask_in_pieces(claims, ask)

    async def _ask_chunks(
        self, question: str, claims: Sequence[str], chunks: Sequence[str], history: str, repeat: int
    ) -> list[list[Verdict]]:
        texts = [*chunks, history] if history else chunks
        labels = letters(len(texts))
        pairs = ["+".join(pair) for pair in combinations(labels, 2)]

        async def ask(some: Sequence[str], repair: bool) -> list[list[Verdict]]:
            reasons = asks_for_reasons(self._judge.prompts.get("context_verdicts"))
            kind: type[ContextVerdictsReply] = ReasonedContextVerdictsReply if reasons else ContextVerdictsReply
            numbers = range(1, len(some) + 1)
            guessed = {"reason": GUESSED_REASON, "supported_by": ["A"], "contradicted_by": []}
            data = {"question": question, "claims": some, "chunks": texts}
            check = partial(_check_chunk_letters, claims=len(some), labels=labels)
            bounds = {
                **_claim_bounds(len(some)),
                "verdicts.supported_by": _some_of([*labels, *pairs], len(labels)),
                "verdicts.contradicted_by": _some_of(labels, len(labels)),
            }
            guess = kind.model_validate({"verdicts": [{"claim": number, **guessed} for number in numbers]})
            reply = await self._judge.ask(
                "context_verdicts", kind, data, guess, check, repeat, bounds=bounds, repair=repair
            )
            found = {item.claim: item for item in reply.verdicts}
            return [_spell(found[number], labels, len(chunks)) for number in numbers]

        return await ask_in_pieces(claims, ask)


def _claim_bounds(claims: int) -> Bounds:
    return {
        "verdicts": {"minItems": claims, "maxItems": claims},
        "verdicts.claim": {"enum": list(range(1, claims + 1))},
    }


def _some_of(labels: Sequence[str | int], most: int) -> dict[str, Any]:
    return {"items": {"enum": list(labels)}, "uniqueItems": True, "maxItems": most}


def _spell(item: ClaimContextVerdict, labels: Sequence[str], chunks: int) -> list[Verdict]:
    """One verdict per chunk, and one for all together, which follows from what single and combined chunks say.

    A text after the chunks has the earlier turns: its word is the last one, also for what needs both a chunk and the turns.
    """
    words = [
        Verdict(
            ENTAILMENT if label in item.supported_by else CONTRADICTION if label in item.contradicted_by else NEUTRAL
        )
        for label in labels
    ]
    past = labels[chunks:]
    by_past = [entry for entry in item.supported_by if any(label in past for label in entry.split("+"))]
    together = ENTAILMENT if len(by_past) < len(item.supported_by) else strongest(words[:chunks])
    earlier = [Verdict(ENTAILMENT) if by_past else words[-1]] if past else []
    return [*words[:chunks], with_reason(together, item), *earlier]


def _check_numbers(reply: VerdictsReply | ContextVerdictsReply, claims: int) -> str | None:
    """The error in the claim numbers of a reply, worded for the model; None if there is none."""
    numbers = [item.claim for item in reply.verdicts]
    if missing := [number for number in range(1, claims + 1) if number not in numbers]:
        return f"there is no verdict for claim {', '.join(map(str, missing))}"
    if strange := [number for number in numbers if not 1 <= number <= claims]:
        return f"there is no claim {strange[0]}: the claims are numbered 1 to {claims}"
    if len(numbers) > claims:
        return "a claim has more than one verdict"
    return None


def _check_chunk_letters(reply: ContextVerdictsReply, claims: int, labels: Sequence[str]) -> str | None:
    for item in reply.verdicts:
        named = [label for entry in (*item.supported_by, *item.contradicted_by) for label in entry.split("+")]
        if strange := [label for label in named if label not in labels]:
            return f"claim {item.claim}: there is no chunk {strange[0]}, the chunks are {labels[0]} to {labels[-1]}"
        if both := set(item.supported_by) & set(item.contradicted_by):
            return f"claim {item.claim}: chunk {min(both)} cannot both support and contradict it"
    return _check_numbers(reply, claims)


def _groups(items: Sequence[str], size: int) -> list[Sequence[str]]:
    return [items[start : start + size] for start in range(0, len(items), size)]


# The best grade of a chunk.
TOP_GRADE = 3.0
_LIKE_A_QUESTION = "What is it that this answer says about its subject?"


class JudgeReader(LLMTool):
    """Asks a language model about answers, chunks and sentences."""

    async def needed_sentences(self, question: str, sentences: Sequence[str]) -> list[int]:
        """The positions, from 0, of the sentences that are needed to answer."""
        data = {"question": question, "sentences": sentences}
        check = partial(_check_positions, part="needed", what="sentence", count=len(sentences))
        guess = NeededSentencesReply(needed=[1, 2][: len(sentences)])
        bounds = {"needed": _some_of(range(1, len(sentences) + 1), len(sentences))}
        reply = await self._judge.ask("needed_sentences", NeededSentencesReply, data, guess, check, bounds=bounds)
        return sorted({number - 1 for number in reply.needed})

    async def grade_chunks(self, question: str, chunks: Sequence[str]) -> list[Grade]:
        """The grade of each chunk from 0 to 3, one call each; a chunk without words gets 0."""
        return await gather_then_raise(self._grade_chunk(question, chunk) for chunk in chunks)

    async def _grade_chunk(self, question: str, passage: str) -> Grade:
        if not passage.strip() and not isinstance(passage, Pictured):
            return Grade(0.0, 0.0, TOP_GRADE)
        guess = RelevanceGradeReply(match=2, trust=2, grade=2)
        data = {"question": question, "passage": passage}
        reply = await self._judge.ask("relevance_grade", RelevanceGradeReply, data, guess)
        steps = None if reply.match is None else f"intent match {reply.match}, trustworthiness {reply.trust}"
        return Grade(float(reply.grade), 0.0, TOP_GRADE, reasoning=steps)

    async def useful_chunks(self, question: str, answer: str, chunks: Sequence[str]) -> list[bool]:
        """For each chunk, whether it helps to answer the question."""
        data = {"question": question, "answer": answer, "chunks": chunks}
        labels = letters(len(chunks))

        def check(reply: UsefulnessReply) -> str | None:
            strange = [label for label in reply.useful if label not in labels]
            return f"there is no chunk {strange[0]}: they are {labels[0]} to {labels[-1]}" if strange else None

        bounds = {"useful": _some_of(labels, len(labels))}
        guess = UsefulnessReply(useful=["A"])
        reply = await self._judge.ask("usefulness", UsefulnessReply, data, guess, check, bounds=bounds)
        return [label in reply.useful for label in labels]

    async def matches(self, question: str, answer: str, references: Sequence[str]) -> list[float]:
        """For each reference 1 if the answer says the same, otherwise 0. An empty answer matches none."""
        if not answer.strip() or not references:
            return [0.0] * len(references)
        data = {"question": question, "references": references, "answer": answer}
        check = partial(_check_positions, part="matches", what="reference", count=len(references))
        bounds = {"matches": _some_of(range(1, len(references) + 1), len(references))}
        guess = AnswerMatchReply(matches=[1])
        reply = await self._judge.ask("answer_match", AnswerMatchReply, data, guess, check, bounds=bounds)
        return [float(number in reply.matches) for number in range(1, len(references) + 1)]

    async def guess_questions(self, answer: str, count: int) -> GuessedQuestions:
        """Questions that the answer would answer; none if it is evasive and the model finds none."""
        data = {"answer": answer, "count": str(count)}
        guess = QuestionsReply(questions=[_LIKE_A_QUESTION] * count, noncommittal=False)
        bounds = {"questions": {"maxItems": count}}
        reply = await self._judge.ask("questions", QuestionsReply, data, guess, _check_questions, bounds=bounds)
        return GuessedQuestions(reply.questions[:count], reply.noncommittal)

    async def stance(self, question: str, answer: str) -> Stance:
        """Whether the answer declines, and whether it says that its sources are wrong."""
        data = {"question": question, "answer": answer}
        guess = StanceReply(declines=False, reports_errors=True)
        reply = await self._judge.ask("stance", StanceReply, data, guess)
        return Stance(reply.declines, reply.reports_errors)


def _check_positions(reply: object, part: str, what: str, count: int) -> str | None:
    """The error in the numbers of a part of a reply, worded for the model; None if there is none."""
    strange = [number for number in getattr(reply, part) if not 1 <= number <= count]
    return f"there is no {what} {strange[0]}: they are numbered 1 to {count}" if strange else None


def _check_questions(reply: QuestionsReply) -> str | None:
    if reply.questions and reply.noncommittal:
        return "an answer that answers these questions is not noncommittal"
    return None if reply.questions or reply.noncommittal else "there is no question"


# A reason of typical length, which a quote counts.
GUESSED_REASON = "The text gives this time for weekdays and for Sundays."


def asks_for_reasons(prompt: Prompt) -> bool:
    """Whether the instructions of a prompt show a reason in the reply."""
    return '"reason"' in prompt.system


def strongest_of(verdicts: Sequence[Verdict]) -> Verdict:
    """The strongest verdict, with its reason."""
    word = strongest(verdicts)
    return next((verdict for verdict in verdicts if verdict == word), Verdict(word))


def with_reason(word: str, item: Any) -> Verdict:
    """A verdict with the reason that a reply gives for it."""
    reason = " ".join((getattr(item, "reason", None) or "").split())
    return Verdict(word, reason=reason)
