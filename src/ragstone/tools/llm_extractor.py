"""Claims of a text by a language model, and the completed question of a conversation."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ragstone.data.types import Claim, Turn
from ragstone.errors import UnknownNameError
from ragstone.llm.prompted import Judge, ask_in_pieces
from ragstone.llm.reply_types import (
    ClaimsAndEntitiesReply,
    ClaimsReply,
    StandaloneQuestionReply,
    Triplet,
    TripletsReply,
)
from ragstone.text.clauses import is_sentence
from ragstone.text.overlap import content_stems
from ragstone.text.questions import complete, complete_follow_up, is_fragment
from ragstone.text.sentences import sentences
from ragstone.text.words import Span
from ragstone.tools.llm_rater import LLMTool
from ragstone.tools.protocols import Content

FORMS = ("sentences", "triplets")
# What is shown of a conversation to complete its question.
_MOST_TURNS, _LONGEST_TURN = 12, 1500


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

        async def ask(spans: Sequence[Span], repair: bool) -> list[Claim]:
            part = _part(text, spans)
            data, lines = {"question": question, "text": part}, _guess_claims(part)
            if self._form == "triplets":
                guess = TripletsReply(triplets=[_guess_triplet(line) for line in lines])
                reply = await self._judge.ask("triplets", TripletsReply, data, guess, repair=repair)
                return [_from_triplet(triplet) for triplet in reply.triplets]
            listed = await self._judge.ask("claims", ClaimsReply, data, ClaimsReply(claims=lines), repair=repair)
            return [Claim(line) for line in listed.claims]

        return _keep_founded(await ask_in_pieces(_spans(text), ask), question, text)

    async def standalone_question(self, question: str, history: Sequence[Turn]) -> str:
        """The question, completed from the latest turns."""
        turns = [f"{turn.role}: {turn.text.strip()[:_LONGEST_TURN]}" for turn in history[-_MOST_TURNS:]]
        guess = complete_follow_up(question, [turn.text for turn in history if turn.role == "user"][-2:])
        data, like = {"history": turns, "question": question}, StandaloneQuestionReply(question=guess)
        return (await self._judge.ask("standalone_question", StandaloneQuestionReply, data, like)).question

    async def content(self, question: str, text: str, wanted: Collection[str]) -> Content:
        """The claims and the names in a text.

        One call returns both, so that the claims do not depend on `wanted`; triplets need a second call.
        """
        if not text.strip():
            return Content([], [])
        if self._form == "triplets" and "reference_entities" not in wanted:
            return Content(await self.claims(question, text), [])

        async def ask(spans: Sequence[Span], repair: bool) -> list[ClaimsAndEntitiesReply]:
            part = _part(text, spans)
            lines = _guess_claims(part)
            guess = ClaimsAndEntitiesReply(claims=lines, entities=[word for line in lines for word in line.split()[:1]])
            data = {"question": question, "text": part}
            return [await self._judge.ask("claims_and_entities", ClaimsAndEntitiesReply, data, guess, repair=repair)]

        parts = await ask_in_pieces(_spans(text), ask)
        entities = list(dict.fromkeys(name for part in parts for name in part.entities))
        if self._form == "triplets":
            return Content(await self.claims(question, text), entities)
        claims = [Claim(line) for part in parts for line in part.claims]
        return Content(_keep_founded(claims, question, text), entities)


def _spans(text: str) -> list[Span]:
    return [Span(start, end) for start, end in sentences(text)] or [Span(0, len(text))]


def _part(text: str, spans: Sequence[Span]) -> str:
    """The text as it is, or the part of it that some of its sentences make up."""
    return text if len(spans) == len(_spans(text)) else text[spans[0].start : spans[-1].end]


def _keep_founded(claims: Sequence[Claim], question: str, text: str) -> list[Claim]:
    """Each claim once; a claim that shares no content word with its text is dropped.

    A text of a few words is read with its question, and a claim that is still a fragment is completed by it. Too few words say nothing about what belongs to them.
    """
    is_short = _is_fragment(text.strip())
    there = content_stems(text)
    if len(there) < _LEAST_WORDS:
        there |= content_stems(question)
    kept: dict[str, Claim] = {}
    for claim in claims:
        if is_short and claim.triplet is None and _is_fragment(claim.text):
            claim = Claim(complete(question, claim.text))  # noqa: PLW2901
        if len(there) < _LEAST_WORDS or there & content_stems(claim.text):
            kept.setdefault(claim.text, claim)
    return list(kept.values())


_LEAST_WORDS = 3


def _is_fragment(text: str) -> bool:
    return is_fragment(text) and not is_sentence(text)


def _from_triplet(triplet: Triplet) -> Claim:
    parts = [triplet.subject.strip(), triplet.relation.strip(), triplet.object.strip()]
    return Claim(" ".join(part for part in parts if part), parts)


def _guess_claims(text: str) -> list[str]:
    """About as many and as long as a model will say: what a quote counts."""
    return [text[start:end].strip() for start, end in sentences(text)] or [text]


def _guess_triplet(line: str) -> Triplet:
    words = line.split()
    return Triplet(subject=" ".join(words[:2]), relation=" ".join(words[2:4]), object=" ".join(words[4:]))
