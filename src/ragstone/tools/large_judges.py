"""Tools of the large judge (models/large_judge.py): claim checker, grader and reasons, in this process or on a server.

They are the tools of the local judge with another model: the same rules come first. The model reads a text as it is, with its
layout, and each text once for all its claims: they follow one another, and a server that keeps what it has read continues
after the text.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from copy import copy
from functools import lru_cache
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from ragstone.data.verdict import CONTRADICTION, ENTAILMENT, NEUTRAL, UNSURE, Verdict
from ragstone.llm.base import LLM, LLMReplyError, Message, Request, estimate_tokens
from ragstone.llm.concurrency import gather_then_raise
from ragstone.llm.wrappers import record_rejection
from ragstone.models.large_judge import LargeCard, read_large_card, read_words
from ragstone.models.local_judge import Support
from ragstone.text.overlap import covered
from ragstone.text.passages import Passages
from ragstone.text.words import words
from ragstone.tools.checkers import Texts
from ragstone.tools.local_judges import LocalChecker, LocalGrader

SUPPORT, MATCH = "support", "match"
# The prompts that are replaced; the card has the wording of the large judge.
_REPLACED = ("verdicts", "context_verdicts", "usefulness", "nuggets", "answer_match")
# The share of words in the evidence at which a quote assumes support.
_GUESSED_SUPPORT = 0.6
# One turn per model: a model with one place for what it has read gets all claims of a text before those of another.
_TURNS: WeakKeyDictionary[LLM, asyncio.Lock] = WeakKeyDictionary()


class LargeJudgements:
    """Asks the large judge. `in_turn`: one text after the other, for a model in this process."""

    def __init__(self, llm: LLM, card: LargeCard, in_turn: bool) -> None:
        self._llm = llm
        self._card = card
        self._in_turn = in_turn
        self._windows = lru_cache(maxsize=64)(self._split)

    async def support(self, evidence_and_claims: Sequence[tuple[str, str]]) -> list[Support]:
        """The probabilities of support and contradiction per pair; of a long text, by the window that supports most."""
        asked: dict[str, dict[str, Support]] = {}
        chosen = [[(text, claim) for text in self._nearest(evidence, claim)] for evidence, claim in evidence_and_claims]
        for text, claim in (pair for pairs in chosen for pair in pairs):
            asked.setdefault(text, {})[claim] = Support(0.0, 0.0)
        await gather_then_raise(self._read(text, claims) for text, claims in asked.items())
        found = ([asked[text][claim] for text, claim in pairs] for pairs in chosen)
        return [max(supports, default=Support(0.0, 0.0)) for supports in found]

    async def match(self, question: str, references: Sequence[str], answer: str) -> list[float]:
        """The probability of a match per reference."""
        return await gather_then_raise(self._match(question, reference, answer) for reference in references)

    async def _read(self, text: str, claims: dict[str, Support]) -> None:
        """All claims of one text, one after the other."""
        async with self._turn():
            for claim in claims:
                guess = "yes" if covered(claim, text) >= _GUESSED_SUPPORT else "unknown"
                claims[claim] = self._card.read_support(await self._ask(SUPPORT, guess, evidence=text, claim=claim))

    async def _match(self, question: str, reference: str, answer: str) -> float:
        guess = "yes" if covered(reference, answer) >= _GUESSED_SUPPORT else "no"
        short = {"reference": self._shorten(reference, answer), "answer": self._shorten(answer, reference)}
        async with self._turn():
            return self._card.read_match(await self._ask(MATCH, guess, question=question, **short))

    def _turn(self) -> AbstractAsyncContextManager[Any]:
        return _TURNS.setdefault(self._llm, asyncio.Lock()) if self._in_turn else nullcontext()

    async def _ask(self, task: str, guess: str, **texts: str) -> Mapping[str, float]:
        """The log-probabilities of yes, no and unknown."""
        prompts, plain = self._card.prompts, {name: text.strip() for name, text in texts.items()}
        request = Request(
            (Message("system", prompts["system"]), Message("user", prompts[task].format(**plain))),
            prompt=f"judge_{task}",
            prompt_hash=self._card.prompt_hash(task),
            max_tokens=1,
            logprobs=True,
            guess=guess,
        )
        reply = await self._llm.complete(request)
        if reply.quoted:
            return {word: 0.0 if word == guess else -9.0 for word in self._card.tokens}
        if not reply.alternatives or not reply.alternatives[0]:
            fault = f"{self._llm.name} returns no log-probabilities of tokens, which the judge's verdicts are made of"
        elif found := read_words(dict((*(reply.logprobs or ())[:1], *reply.alternatives[0]))):
            return found
        else:
            fault = (
                f"{self._llm.name} began with {reply.text[:20]!r}, not with yes, no or unknown. Is the adapter loaded? "
                "`ragstone models serve-config judge-1.5b` shows how"
            )
        record_rejection(reply, fault)
        raise LLMReplyError(fault, reply.text, reply.cached)

    def _nearest(self, evidence: str, claim: str) -> list[str]:
        """The whole text, or of a long one the windows nearest to the claim."""
        passages = self._windows(evidence)
        return passages.nearest(claim) if passages else [evidence]

    def _shorten(self, text: str, other: str) -> str:
        """The whole text, or of a long one the sentences nearest to the other text: both must fit into the context."""
        passages = self._windows(text)
        return passages.around(other, self._window_words(text) // 2) if passages else text

    def _split(self, text: str) -> Passages | None:
        """A long text in windows; None if it is short."""
        is_long = estimate_tokens(text) > self._card.evidence_tokens
        return Passages(text, self._window_words(text)) if is_long else None

    def _window_words(self, text: str) -> int:
        """The words of a text that have as many tokens as the judge reads."""
        return max(50, sum(1 for _ in words(text)) * self._card.evidence_tokens // estimate_tokens(text))


class _Prompted:
    """Names the prompts that the large judge asks in place of the declared ones."""

    prompts: Mapping[str, tuple[str, ...]] = dict.fromkeys(_REPLACED, ())

    @property
    def cascade_at(self) -> float:
        """The confidence at which the small judge decides without this one."""
        return read_large_card().cascade

    def prompt_hash(self, name: str) -> str:
        """The hash of the card's prompt."""
        return read_large_card().prompt_hash(MATCH if name == "answer_match" else SUPPORT)


class _WithQuestion:
    """The judge, which reads a question after each text: what the question says is not an invention of the answer."""

    def __init__(self, judge: Any, question: str) -> None:
        self._judge = judge
        self._question = question

    async def support(self, evidence_and_claims: Sequence[tuple[str, str]]) -> list[Support]:
        """As the judge's."""
        pairs = [(f"{text.rstrip()}\n\nQuestion: {self._question}", claim) for text, claim in evidence_and_claims]
        found: list[Support] = await self._judge.support(pairs)
        return found


class LargeChecker(_Prompted, LocalChecker):
    """Checks claims with the large judge. A chunk is read as a whole, and once."""

    reads_again = False

    def __init__(self, judge: Any, card: LargeCard, signature: str) -> None:
        super().__init__(judge, card, signature)
        self.signature += ";question/1"

    async def in_chunks(self, question: str, claims: Sequence[str], texts: Texts) -> list[list[Verdict]]:
        """The claims of an answer are read with the question: `You need 500 GB more` follows from it and a chunk."""
        if not texts.joint or not question.strip():
            return await super().in_chunks(question, claims, texts)
        asked: Any = copy(self)
        asked._judge = _WithQuestion(self._judge, question.strip())  # noqa: SLF001
        return await LocalChecker.in_chunks(asked, question, claims, texts)

    def calls_for(self, claims: int, chunks: int = 1) -> int:
        """The number of calls for these numbers of claims and chunks if all chunks are read."""
        return claims * chunks

    async def weigh_together(
        self, claims: Sequence[str], chunks: Sequence[str], wanted: Sequence[bool], known: str = ""
    ) -> list[Verdict | None]:
        """By all chunks as a whole if they are short together, which the model was trained on; else by the nearest sentences."""
        text = "\n\n".join(chunks)
        if len(chunks) < 2 or estimate_tokens(text) > read_large_card().joint_tokens:
            return await super().weigh_together(claims, chunks, wanted, known)
        asked = [n for n, claim in enumerate(claims) if wanted[n] and sum(self._near(claim, chunks)) > 1]
        found = await self._judge.support([(text, claims[n]) for n in asked])
        supports = dict(zip(asked, found, strict=True))
        return [
            self.verdict(claim, text, supports[n], known) if n in supports else None for n, claim in enumerate(claims)
        ]

    def _passage(self, claim: str, text: str, most: int) -> str:
        return text if super()._passage(claim, text, most) else ""

    def _word(self, supported: float, contradicted: float) -> str:
        """A claim that is not supported is contradicted if the model prefers no to unknown."""
        low, high = self.card.unsure
        if supported >= high:
            return ENTAILMENT
        if supported > low:
            return UNSURE
        return CONTRADICTION if contradicted > self.card.contradiction * (1.0 - supported) else NEUTRAL


class LargeGrader(_Prompted, LocalGrader):
    """Grades answers with the large judge, which reads long answers as a whole, too."""

    async def _match_long(self, question: str, references: Sequence[str], answer: str) -> list[float]:
        return await self._judge.match(question, references, answer)


def open_large_tool(role: str, llm: LLM, in_turn: bool) -> LargeChecker | LargeGrader:
    """The checker or the grader of a model with the adapter."""
    card = read_large_card()
    # The temperature marks the signature of a language model.
    own = f"{llm.signature},temperature=0;{card.signature}"
    judgements: Any = LargeJudgements(llm, card, in_turn)
    checker = LargeChecker(judgements, card, own)
    return checker if role == "checker" else LargeGrader(judgements, checker, own)


_SYSTEM = "Say in one short sentence why the evidence does not support the claim. Name what differs or what is missing."
_EXAMPLES = (
    ("The pool opens at nine on weekdays.", "The pool opens at eight.", "The evidence says nine, not eight."),
    ("Tickets cost 8 euros.", "Children get in free.", "The evidence gives a price but says nothing about children."),
)
# Words of the evidence that are shown, and tokens of a reason.
_WORDS, _TOKENS = 200, 60


class Doubt(NamedTuple):
    """A claim that is not supported, and the texts that it was checked against."""

    claim: str
    texts: Sequence[str]


async def write_reasons(doubts: Sequence[Doubt]) -> list[str]:
    """One sentence per claim, by the base model. Replies are cached."""
    from ragstone.llm.cache import open_cache  # noqa: PLC0415
    from ragstone.llm.gateway import Gateway, GatewaySettings  # noqa: PLC0415  (slow import)
    from ragstone.tools.llama import open_large  # noqa: PLC0415

    gateway = Gateway(GatewaySettings(concurrency=1, cache=open_cache()))
    try:
        llm = gateway.open_llm(open_large(writes=True))
        return [await _reason(llm, doubt) for doubt in doubts]
    finally:
        await gateway.close()


async def _reason(llm: LLM, doubt: Doubt) -> str:
    evidence = Passages("\n\n".join(doubt.texts)).around(doubt.claim, _WORDS)
    messages = [Message("system", _SYSTEM)]
    for text, claim, reason in _EXAMPLES:
        messages += [Message("user", _task(text, claim)), Message("assistant", reason)]
    messages.append(Message("user", _task(evidence, doubt.claim)))
    reply = await llm.complete(Request(tuple(messages), prompt="large_reason", max_tokens=_TOKENS))
    return " ".join(reply.text.split())


def _task(evidence: str, claim: str) -> str:
    return f"Evidence:\n{evidence}\n\nClaim: {claim}"
