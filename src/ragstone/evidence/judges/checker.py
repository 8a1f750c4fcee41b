"""Claims held against texts by a language model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from statistics import fmean
from typing import NamedTuple

from ragstone.evidence.tools import CONTRADICTION, ENTAILMENT, NEUTRAL, ChunkVerdicts
from ragstone.llm.judge import Judge
from ragstone.llm.replies import ClaimContextVerdict, ClaimVerdict, ContextVerdictsReply, VerdictsReply
from ragstone.llm.side_by_side import side_by_side


class _Voted(NamedTuple):
    """For each claim the words that most repeats gave, and the share of them that did."""

    words: list[list[str]]
    agreement: list[float]


class JudgeChecker:
    """Asks a language model, many claims a call; several times where that is wanted, and then the majority counts."""

    def __init__(self, judge: Judge, repeats: int = 1, claims_per_call: int = 25, chunks_per_call: int = 10) -> None:
        self._judge = judge
        self._repeats = repeats
        self._claims_per_call = claims_per_call
        self._chunks_per_call = chunks_per_call

    @property
    def signature(self) -> str:
        """The model, and how much it is asked at a time."""
        return f"{self._judge.signature};{self._claims_per_call}x{self._chunks_per_call};repeats={self._repeats}"

    def prompt_hash(self, name: str) -> str:
        """Of a prompt that is asked."""
        return self._judge.prompt_hash(name)

    def calls_for(self, claims: int, chunks: int = 1) -> int:
        """How many calls so many claims against so many chunks take."""
        return -(-claims // self._claims_per_call) * -(-chunks // self._chunks_per_call) * self._repeats

    async def against_text(self, question: str, claims: Sequence[str], text: str) -> list[str]:
        """A verdict a claim; a text without content says nothing about any."""
        if not text.strip():
            return [NEUTRAL] * len(claims)
        asked = [partial(self._ask_text, question, some, text) for some in _groups(claims, self._claims_per_call)]
        found = await side_by_side(map(self._vote, asked))
        return [words[0] for voted in found for words in voted.words]

    async def against_chunks(self, question: str, claims: Sequence[str], chunks: Sequence[str]) -> ChunkVerdicts:
        """Claims and chunks in groups that fit a call. What counts as together is a group of chunks."""
        groups = _groups(claims, self._claims_per_call)
        found = await side_by_side(self._check_group(question, some, chunks) for some in groups)
        asked = self._repeats > 1 and len(chunks) > 0
        return ChunkVerdicts(
            each=[words for part in found for words in part.each],
            together=[word for part in found for word in part.together],
            agreement=[share for part in found for share in part.agreement or ()] if asked else None,
        )

    async def _check_group(self, question: str, claims: Sequence[str], chunks: Sequence[str]) -> ChunkVerdicts:
        asked = [partial(self._ask_chunks, question, claims, some) for some in _groups(chunks, self._chunks_per_call)]
        parts = await side_by_side(map(self._vote, asked))
        rows = [[part.words[number] for part in parts] for number in range(len(claims))]
        return ChunkVerdicts(
            each=[[word for words in row for word in words[:-1]] for row in rows],
            together=[_strongest([words[-1] for words in row]) for row in rows],
            agreement=[fmean(part.agreement[number] for part in parts) for number in range(len(claims)) if parts],
        )

    async def _vote(self, ask: Callable[[int], Awaitable[list[list[str]]]]) -> _Voted:
        repeats = await side_by_side(map(ask, range(self._repeats)))
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
    return [*words, _strongest(words) if item.together == NEUTRAL else item.together]


def _strongest(words: Sequence[str]) -> str:
    return next((word for word in (ENTAILMENT, CONTRADICTION) if word in words), NEUTRAL)


def _check_numbers(reply: VerdictsReply | ContextVerdictsReply, claims: int) -> str | None:
    """What is wrong with the numbers of the claims in a reply, in words that a model can act on."""
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
