"""`--extractor local-large`: the base model of the large judge writes claims, without the adapter."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragstone.data.types import Claim
from ragstone.llm.base import LLM, Message, Request, estimate_tokens
from ragstone.llm.concurrency import gather_then_raise
from ragstone.text.overlap import content_stems
from ragstone.text.sentences import sentences
from ragstone.text.statements import statements
from ragstone.tools.local_judges import LocalExtractor

PROMPT, _VERSION = "large_claims", "claims/1"
_SYSTEM = (
    "Split the text into short claims, one per line. Each claim states one fact that is clear without the text: write the name in place "
    "of it, he, she or they. Use the words of the text. Add nothing. Leave out greetings, questions and offers of help."
)
_EXAMPLES = (
    (
        "How many books can I borrow from the Elm Street library?",
        "Great question! You can borrow up to 20 books, and they are due after three weeks. DVDs cost £1 each.",
        "Up to 20 books can be borrowed from the Elm Street library.\n"
        "Books of the Elm Street library are due after three weeks.\n"
        "DVDs of the Elm Street library cost £1 each.",
    ),
    (
        "Who founded the Lindqvist bakery?",
        "It was founded in 1931 by Anna Lindqvist, who ran it until her son took over in 1964.",
        "The Lindqvist bakery was founded in 1931.\n"
        "The Lindqvist bakery was founded by Anna Lindqvist.\n"
        "Anna Lindqvist ran the Lindqvist bakery until 1964.\n"
        "Anna Lindqvist's son took over the Lindqvist bakery in 1964.",
    ),
    (
        "Is the ferry running in winter?",
        "Yes, but only at weekends:\n- Saturday: 9:00 and 16:00\n- Sunday: 10:00",
        "In winter the ferry runs only at weekends.\n"
        "In winter the ferry runs on Saturday at 9:00 and 16:00.\n"
        "In winter the ferry runs on Sunday at 10:00.",
    ),
)
# Tokens of a text that are split at once.
_PART = 250
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")
# The share of a claim's words that its text, or the question, must have.
_FOUNDED = 0.6


class LargeExtractor(LocalExtractor):
    """Claims by the base model; names and follow-up questions by the local rules.

    A line of which the text does not have most words is dropped. A part without any usable line is split by the local rules.
    """

    def __init__(self, llm: LLM) -> None:
        self._llm = llm
        self.signature = f"{llm.signature},temperature=0;{_VERSION}"

    async def claims(self, question: str, text: str) -> list[Claim]:
        """The claims that a text makes, each once."""
        lists = await gather_then_raise(self._split(question, part) for part in _parts(text))
        return [Claim(line) for line in dict.fromkeys(line for lines in lists for line in lines)]

    async def _split(self, question: str, text: str) -> list[str]:
        by_rules = statements(question, text)
        messages = [Message("system", _SYSTEM)]
        for asked, answer, claims in _EXAMPLES:
            messages += [Message("user", f"Question: {asked}\nText: {answer}"), Message("assistant", claims)]
        request = Request(
            (*messages, Message("user", f"Question: {question.strip()}\nText: {text.strip()}")),
            prompt=PROMPT,
            max_tokens=3 * estimate_tokens(text) + 50,
            guess="\n".join(by_rules),
        )
        reply = await self._llm.complete(request)
        lines = [_BULLET.sub("", line).strip() for line in reply.text.splitlines()]
        if reply.finish_reason == "length":
            lines = lines[:-1]
        known = content_stems(f"{question}\n{text}")
        return [line for line in lines if _is_founded(line, known)] or by_rules


def _is_founded(line: str, known: frozenset[str] | set[str]) -> bool:
    stems = content_stems(line)
    return bool(stems) and len(stems & known) >= _FOUNDED * len(stems)


def _parts(text: str) -> Iterator[str]:
    """The text in parts of whole sentences."""
    start, end = None, 0
    for span in sentences(text):
        if start is not None and estimate_tokens(text[start : span.end]) > _PART:
            yield text[start:end]
            start = None
        start, end = span.start if start is None else start, span.end
    if start is not None:
        yield text[start:end]
