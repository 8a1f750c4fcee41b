"""Texts taken apart into claims by a language model."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal, get_args

from ragstone.data.types import Claim
from ragstone.errors import UnknownNameError
from ragstone.evidence.tools import Content
from ragstone.llm.judge import Judge
from ragstone.llm.replies import ClaimsAndEntitiesReply, ClaimsReply, Triplet, TripletsReply
from ragstone.text.sentences import sentences

Form = Literal["sentences", "triplets"]


class JudgeExtractor:
    """Asks a language model for the claims: as sentences, or as triplets of subject, relation and object."""

    def __init__(self, judge: Judge, form: str = "sentences") -> None:
        if form not in get_args(Form):
            raise UnknownNameError("form of claims", form, get_args(Form), f"There are: {', '.join(get_args(Form))}.")
        self._judge = judge
        self._form = form

    @property
    def signature(self) -> str:
        """The model and the form of the claims."""
        return f"{self._judge.signature};{self._form}"

    def prompt_hash(self, name: str) -> str:
        """Of the prompt that is really asked."""
        return self._judge.prompt_hash("triplets" if name == "claims" and self._form == "triplets" else name)

    async def claims(self, question: str, text: str) -> list[Claim]:
        """The claims that a text makes; none where there is no text."""
        if not text.strip():
            return []
        data = {"question": question, "text": text}
        if self._form == "triplets":
            guess = TripletsReply(triplets=[_guess_triplet(line) for line in _guess_claims(text)])
            found = await self._judge.ask("triplets", TripletsReply, data, guess)
            return [_from_triplet(triplet) for triplet in found.triplets]
        reply = await self._judge.ask("claims", ClaimsReply, data, ClaimsReply(claims=_guess_claims(text)))
        return _as_claims(reply.claims)

    async def content(self, question: str, text: str, wanted: Collection[str]) -> Content:
        """The claims and the names in a text.

        One call for both, whatever is wanted, so that the claims do not depend on it; triplets have a call of their own.
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
