"""Who names the citations that an answer needs: a language model, asked with as much of the passages as one call takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from ragstone.llm.judge import Judge
from ragstone.llm.replies import CitationsReply
from ragstone.text.passages import Passages
from ragstone.text.sentences import sentences
from ragstone.text.words import words

PROMPT = "citations"
# Words of passages in one call: what a small model still reads with care, about 4,000 tokens.
CALL_WORDS = 2_500


class Citer(Protocol):
    """Names citations."""

    @property
    def signature(self) -> str:
        """What identifies it."""
        ...

    async def citations(self, question: str, answer: str, texts: Sequence[str]) -> list[str]:
        """The words of the texts that the answer rests on; whether they really stand there is for others to check."""
        ...


class JudgeCiter:
    """Asks a language model."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    @property
    def signature(self) -> str:
        """The model."""
        return self._judge.signature

    @property
    def prompts(self) -> dict[str, str]:
        """The hash of the prompt."""
        return {PROMPT: self._judge.prompt_hash(PROMPT)}

    async def citations(self, question: str, answer: str, texts: Sequence[str]) -> list[str]:
        """Call by call, where the texts are too long for one."""
        found: list[str] = []
        for passages in split_calls(texts):
            data = {"question": question, "answer": answer, "passages": passages}
            first = passages[0]
            guess = CitationsReply(citations=[first[span.start : span.end] for span in sentences(first)[:2]])
            reply = await self._judge.ask(PROMPT, CitationsReply, data, guess)
            found += reply.citations
        return found


def split_calls(texts: Sequence[str], most: int = CALL_WORDS) -> Iterator[list[str]]:
    """The texts in their order, as many in a call as fit; one that does not fit is cut between sentences."""
    batch: list[str] = []
    room = most
    for text in texts:
        for piece in Passages(text, size=most).all():
            size = sum(1 for _ in words(piece))
            if batch and size > room:
                yield batch
                batch, room = [], most
            batch.append(piece)
            room -= size
    if batch:
        yield batch
