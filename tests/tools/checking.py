"""Checks of one kind of text, taken apart: what tests ask of a checker's matrix."""

from typing import Any, NamedTuple

from ragstone.tools.checkers import Texts
from ragstone.tools.protocols import Earlier, Joint, Labelled, Whole, check_text


class Found(NamedTuple):
    """Verdicts of claims against each chunk, against all together, how far repeats agree, and against earlier turns."""

    each: list
    together: list
    agreement: list | None = None
    history: list | tuple = ()


async def in_text(checker, question, claims, text):
    return await check_text(checker, question, claims, Whole(text))


async def labels(checker, question, nuggets, answer):
    return await check_text(checker, question, nuggets, Labelled(answer))


async def in_chunks(checker, question, claims, chunks, history=""):
    rows = await checker.check(question, claims, [*chunks, Joint.of(chunks), *([Earlier(history)] if history else ())])
    at = len(chunks)
    repeats = [getattr(row[at], "agreement", None) for row in rows]
    return Found(
        [row[:at] for row in rows],
        [row[at] for row in rows],
        None if None in repeats or not repeats else repeats,
        [row[at + 1] for row in rows if history],
    )


class Stub:
    """A checker made of one method per kind of text; a test defines those that it needs."""

    in_text: Any
    in_chunks: Any
    labels: Any

    async def check(self, question, claims, texts):
        if isinstance(texts[0], Whole):
            read = self.labels if isinstance(texts[0], Labelled) else self.in_text
            return [[verdict] for verdict in await read(question, claims, str(texts[0]))]
        parts = Texts.read(texts)
        asked = [parts.earlier] if parts.earlier else []
        found = await self.in_chunks(question, claims, parts.chunks, *asked)
        return [parts.row(found.each[at], found.together[at], found.history[at : at + 1]) for at in range(len(claims))]
