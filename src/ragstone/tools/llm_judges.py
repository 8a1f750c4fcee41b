"""Tools that ask a language model: claim checker, claim extractor, reader and pair judge."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import partial
from statistics import fmean
from typing import NamedTuple

from ragstone.data.types import Claim, PairVerdict
from ragstone.errors import UnknownNameError
from ragstone.llm.concurrency import gather_then_raise
from ragstone.llm.prompted import Judge
from ragstone.llm.reply_types import (
    AnswerMatchReply,
    ClaimContextVerdict,
    ClaimsAndEntitiesReply,
    ClaimsReply,
    ClaimVerdict,
    ContextVerdictsReply,
    NeededSentencesReply,
    PairReply,
    QuestionsReply,
    StanceReply,
    Triplet,
    TripletsReply,
    UsefulnessReply,
    VerdictsReply,
)
from ragstone.text.sentences import sentences
from ragstone.tools.aspects import find_aspect
from ragstone.tools.llm_rater import GUIDANCE, LLMTool, ask_own_reference
from ragstone.tools.protocols import (
    CONTRADICTION,
    ENTAILMENT,
    NEUTRAL,
    ChunkVerdicts,
    Content,
    GuessedQuestions,
    Stance,
    strongest,
)


class _Voted(NamedTuple):
    """For each claim the words that most repeats gave, and the share of them that did."""

    words: list[list[str]]
    agreement: list[float]


class JudgeChecker(LLMTool):
    """Asks a language model about many claims per call; with repeats, the majority counts."""

    def __init__(self, judge: Judge, repeats: int = 1, claims_per_call: int = 25, chunks_per_call: int = 10) -> None:
        super().__init__(judge, f";{claims_per_call}x{chunks_per_call};repeats={repeats}")
        self._repeats = repeats
        self._claims_per_call = claims_per_call
        self._chunks_per_call = chunks_per_call

    def calls_for(self, claims: int, chunks: int = 1) -> int:
        """The number of calls for these numbers of claims and chunks."""
        return -(-claims // self._claims_per_call) * -(-chunks // self._chunks_per_call) * self._repeats

    async def against_text(self, question: str, claims: Sequence[str], text: str) -> list[str]:
        """One verdict per claim; a text without content says nothing about any."""
        if not text.strip():
            return [NEUTRAL] * len(claims)
        asked = [partial(self._ask_text, question, some, text) for some in _groups(claims, self._claims_per_call)]
        votes = await gather_then_raise(map(self._vote, asked))
        return [words[0] for voted in votes for words in voted.words]

    async def against_chunks(self, question: str, claims: Sequence[str], chunks: Sequence[str]) -> ChunkVerdicts:
        """Claims and chunks in groups that fit a call. What counts as together is a group of chunks."""
        groups = _groups(claims, self._claims_per_call)
        parts = await gather_then_raise(self._check_group(question, some, chunks) for some in groups)
        asked = self._repeats > 1 and len(chunks) > 0
        return ChunkVerdicts(
            each=[words for part in parts for words in part.each],
            together=[word for part in parts for word in part.together],
            agreement=[share for part in parts for share in part.agreement or ()] if asked else None,
        )

    async def _check_group(self, question: str, claims: Sequence[str], chunks: Sequence[str]) -> ChunkVerdicts:
        asked = [partial(self._ask_chunks, question, claims, some) for some in _groups(chunks, self._chunks_per_call)]
        parts = await gather_then_raise(map(self._vote, asked))
        rows = [[part.words[number] for part in parts] for number in range(len(claims))]
        return ChunkVerdicts(
            each=[[word for words in row for word in words[:-1]] for row in rows],
            together=[strongest([words[-1] for words in row]) for row in rows],
            agreement=[fmean(part.agreement[number] for part in parts) for number in range(len(claims)) if parts],
        )

    async def _vote(self, ask: Callable[[int], Awaitable[list[list[str]]]]) -> _Voted:
        repeats = await gather_then_raise(map(ask, range(self._repeats)))
        words, agreement = [], []
        for rows in zip(*repeats, strict=True):
            counts = [Counter(votes).most_common(1)[0] for votes in zip(*rows, strict=True)]
            words.append([word for word, _ in counts])
            agreement.append(fmean(count / self._repeats for _, count in counts))
        return _Voted(words, agreement)

    async def _ask_text(self, question: str, claims: Sequence[str], text: str, repeat: int) -> list[list[str]]:
        numbers = range(1, len(claims) + 1)
        guess = VerdictsReply(verdicts=[ClaimVerdict(claim=number, verdict=ENTAILMENT) for number in numbers])
        data = {"question": question, "claims": claims, "text": text}
        check = partial(_check_numbers, claims=len(claims))
        reply = await self._judge.ask("verdicts", VerdictsReply, data, guess, check, repeat)
        found = {item.claim: item.verdict for item in reply.verdicts}
        return [[found[number]] for number in numbers]

    async def _ask_chunks(
        self, question: str, claims: Sequence[str], chunks: Sequence[str], repeat: int
    ) -> list[list[str]]:
        numbers = range(1, len(claims) + 1)
        guessed = [
            ClaimContextVerdict(claim=number, supported_by=[1], contradicted_by=[], together=ENTAILMENT)
            for number in numbers
        ]
        data = {"question": question, "claims": claims, "chunks": chunks}
        check = partial(_check_chunk_numbers, claims=len(claims), chunks=len(chunks))
        reply = await self._judge.ask(
            "context_verdicts", ContextVerdictsReply, data, ContextVerdictsReply(verdicts=guessed), check, repeat
        )
        found = {item.claim: item for item in reply.verdicts}
        return [_spell(found[number], len(chunks)) for number in numbers]


def _spell(item: ClaimContextVerdict, chunks: int) -> list[str]:
    """A word a chunk, and at the end one for all together: what one chunk says, all together say too."""
    words = [
        ENTAILMENT if chunk in item.supported_by else CONTRADICTION if chunk in item.contradicted_by else NEUTRAL
        for chunk in range(1, chunks + 1)
    ]
    return [*words, strongest(words) if item.together == NEUTRAL else item.together]


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


def _check_chunk_numbers(reply: ContextVerdictsReply, claims: int, chunks: int) -> str | None:
    for item in reply.verdicts:
        if strange := [at for at in (*item.supported_by, *item.contradicted_by) if not 1 <= at <= chunks]:
            return f"claim {item.claim}: there is no chunk {strange[0]}, the chunks are numbered 1 to {chunks}"
        if both := set(item.supported_by) & set(item.contradicted_by):
            return f"claim {item.claim}: chunk {min(both)} cannot both support and contradict it"
    return _check_numbers(reply, claims)


def _groups(items: Sequence[str], size: int) -> list[Sequence[str]]:
    return [items[start : start + size] for start in range(0, len(items), size)]


FORMS = ("sentences", "triplets")


class JudgeExtractor(LLMTool):
    """Asks a language model for the claims: as sentences, or as triplets of subject, relation and object."""

    def __init__(self, judge: Judge, form: str = "sentences") -> None:
        if form not in FORMS:
            raise UnknownNameError("form of claims", form, FORMS, f"Choose from: {', '.join(FORMS)}.")
        super().__init__(judge, f";{form}")
        self._form = form

    def prompt_hash(self, name: str) -> str:
        """Of the prompt that is really asked."""
        return self._judge.prompt_hash("triplets" if name == "claims" and self._form == "triplets" else name)

    async def claims(self, question: str, text: str) -> list[Claim]:
        """The claims of a text; none if the text is empty."""
        if not text.strip():
            return []
        data = {"question": question, "text": text}
        if self._form == "triplets":
            guess = TripletsReply(triplets=[_guess_triplet(line) for line in _guess_claims(text)])
            reply = await self._judge.ask("triplets", TripletsReply, data, guess)
            return [_from_triplet(triplet) for triplet in reply.triplets]
        listed = await self._judge.ask("claims", ClaimsReply, data, ClaimsReply(claims=_guess_claims(text)))
        return _as_claims(listed.claims)

    async def content(self, question: str, text: str, wanted: Collection[str]) -> Content:
        """The claims and the names in a text.

        One call returns both, so that the claims do not depend on `wanted`; triplets need a second call.
        """
        if not text.strip():
            return Content([], [])
        if self._form == "triplets" and "reference_entities" not in wanted:
            return Content(await self.claims(question, text), [])
        lines = _guess_claims(text)
        guess = ClaimsAndEntitiesReply(claims=lines, entities=[word for line in lines for word in line.split()[:1]])
        data = {"question": question, "text": text}
        reply = await self._judge.ask("claims_and_entities", ClaimsAndEntitiesReply, data, guess)
        entities = list(dict.fromkeys(name.strip() for name in reply.entities if name.strip()))
        if self._form == "triplets":
            return Content(await self.claims(question, text), entities)
        return Content(_as_claims(reply.claims), entities)


def _as_claims(lines: Sequence[str]) -> list[Claim]:
    """Each claim once: a model that repeats itself must not count double."""
    return [Claim(line) for line in dict.fromkeys(line.strip() for line in lines) if line]


def _from_triplet(triplet: Triplet) -> Claim:
    parts = [triplet.subject.strip(), triplet.relation.strip(), triplet.object.strip()]
    return Claim(" ".join(part for part in parts if part), parts)


def _guess_claims(text: str) -> list[str]:
    """About as many and as long as a model will say: what a quote counts."""
    return [text[start:end].strip() for start, end in sentences(text)] or [text]


def _guess_triplet(line: str) -> Triplet:
    words = line.split()
    return Triplet(subject=" ".join(words[:2]), relation=" ".join(words[2:4]), object=" ".join(words[4:]))


_LIKE_A_QUESTION = "What is it that this answer says about its subject?"


class JudgeReader(LLMTool):
    """Asks a language model about answers, chunks and sentences."""

    async def needed_sentences(self, question: str, sentences: Sequence[str]) -> list[int]:
        """The positions, from 0, of the sentences that are needed to answer."""
        data = {"question": question, "sentences": sentences}
        check = partial(_check_positions, part="needed", what="sentence", count=len(sentences))
        guess = NeededSentencesReply(needed=[1, 2][: len(sentences)])
        reply = await self._judge.ask("needed_sentences", NeededSentencesReply, data, guess, check)
        return sorted({number - 1 for number in reply.needed})

    async def useful_chunks(self, question: str, answer: str, chunks: Sequence[str]) -> list[bool]:
        """For each chunk whether it helps to come to the answer."""
        data = {"question": question, "answer": answer, "chunks": chunks}
        check = partial(_check_positions, part="useful", what="chunk", count=len(chunks))
        reply = await self._judge.ask("usefulness", UsefulnessReply, data, UsefulnessReply(useful=[1]), check)
        return [number in reply.useful for number in range(1, len(chunks) + 1)]

    async def matches(self, question: str, answer: str, references: Sequence[str]) -> list[float]:
        """For each reference 1 where the answer says the same, else 0; an answer without content says nothing."""
        if not answer.strip() or not references:
            return [0.0] * len(references)
        data = {"question": question, "references": references, "answer": answer}
        check = partial(_check_positions, part="matches", what="reference", count=len(references))
        reply = await self._judge.ask("answer_match", AnswerMatchReply, data, AnswerMatchReply(matches=[1]), check)
        return [float(number in reply.matches) for number in range(1, len(references) + 1)]

    async def guess_questions(self, answer: str, count: int) -> GuessedQuestions:
        """Questions that the answer would answer; none where it evades and the model finds none."""
        data = {"answer": answer, "count": str(count)}
        guess = QuestionsReply(questions=[_LIKE_A_QUESTION] * count, noncommittal=False)
        reply = await self._judge.ask("questions", QuestionsReply, data, guess, _check_questions)
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
    return None if reply.questions or reply.noncommittal else "there is no question"


ORDERS = ("both", "random")
_GUESS = PairReply(reasoning="Both give the time, but only one says that it holds on Sundays too. " * 2, winner="A")


class JudgePair(LLMTool):
    """Asks a language model which of two answers is better."""

    def __init__(self, judge: Judge, aspect: str = "quality", order: str = "both", own_reference: bool = False) -> None:
        if order not in ORDERS:
            raise UnknownNameError("order", order, ORDERS, "Ask in both orders, or in one at random.")
        self._aspect = find_aspect(aspect)
        self._order = order
        self._own_reference = own_reference
        settings = f",aspect={aspect}/{self._aspect.hash},order={order}{',own-reference' if own_reference else ''}"
        super().__init__(judge, settings)

    async def compare(
        self, question: str, one: str, other: str, contexts: Sequence[str], reference: str | None
    ) -> list[PairVerdict]:
        """One verdict per order; a random order is always the same for the same texts."""
        shown_contexts = contexts if "contexts" in self._aspect.shows else ()
        guided_by = "person" if reference is not None else None
        if reference is None and self._own_reference:
            reference, guided_by = await ask_own_reference(self._judge, question, shown_contexts), "own"
        shown = ["question", "answer_a", "answer_b"]
        shown += [*(["contexts"] if shown_contexts else []), *(["reference"] if guided_by else [])]
        terms = {
            "aspect": self._aspect.words,
            "instruction": self._aspect.instruction,
            "guidance": GUIDANCE[guided_by] if guided_by else "",
        }
        prompt = self._judge.prompts.get("pair").fill(terms, shown)
        data = {"question": question, "contexts": shown_contexts, "reference": reference or ""}

        async def ask(first: str) -> PairVerdict:
            a, b = (one, other) if first == "one" else (other, one)
            whole = {**data, "answer_a": a, "answer_b": b}
            reply = await self._judge.ask(prompt, PairReply, {slot: whole[slot] for slot in prompt.slots}, _GUESS)
            seats = {"A": first, "B": "other" if first == "one" else "one", "tie": "tie"}
            return PairVerdict(first, seats[reply.winner], reply.reasoning)

        if self._order == "random":
            return [await ask(_drawn_first(question, one, other))]
        return await gather_then_raise(ask(first) for first in ("one", "other"))


def _drawn_first(question: str, one: str, other: str) -> str:
    """The answer that is shown first: derived from a hash of the texts, so that it is always the same."""
    digest = hashlib.blake2b(
        "\0".join([question, *sorted((one, other))]).encode(errors="replace"), digest_size=1
    ).digest()
    return "one" if (digest[0] % 2 == 0) == (one <= other) else "other"
