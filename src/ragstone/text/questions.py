"""Short answers made into statements with the words of their question: "When was it built?" and "1998" say something together."""

from __future__ import annotations

import re

_BE = "is|are|was|were"
_ASKED = re.compile(
    rf"^(?:(?:in|at|on|to|from|by|for|with|of|until|since) )?(?P<word>what|which|who|whom|whose|when|where|why|how)\b"
    rf"(?P<noun>[^?]{{0,60}}?)\b(?P<verb>{_BE}|do|does|did|can|could|will|would|must|should|may|has|have|had)\b (?P<rest>[^?]+)\?*$",
    re.IGNORECASE,
)
_MEASURES = re.compile(
    r"^(?:many|much|long|far|often|old|big|large|high|deep|wide|fast|late|early|kind of|type of|sort of)\b"
)
# With one of these even three words are a sentence.
_VERB = re.compile(rf"(?<=\w )(?:{_BE}|has|have|had|can|will|must)\b")
_LONGEST, _SHORTEST_SENTENCE = 10, 4


def is_fragment(text: str) -> bool:
    """Whether a text is too short to be a sentence: a name, a number, some words without a full stop."""
    count = len(text.split())
    if ": " in text or (text[-1:] == "." and _VERB.search(text)):
        return False
    if not text.isascii() and count == 1:
        return len(text) < _LONGEST and text[-1:] not in "。！."
    return count < _SHORTEST_SENTENCE or (count <= _LONGEST and text[-1:] not in ".!。！:")


def complete(question: str, answer: str) -> str:
    """The answer as a statement: "The price is 5 crowns." where that is plain, else the question's words, a colon and the answer."""
    question, answer = " ".join(question.split()), answer.strip().rstrip(".")
    found = _ASKED.match(question)
    if not question or not answer:
        return answer
    if not found:
        return f"{question} {answer}"
    rest, noun = found["rest"].strip(), _MEASURES.sub("", found["noun"].strip()).strip()
    if (
        not noun
        and found["word"].lower() in ("what", "who", "which")
        and re.fullmatch(_BE, found["verb"], re.IGNORECASE)
    ):
        told = f"{rest} {found['verb'].lower()} {answer}"
    else:
        told = f"{rest}, {noun}: {answer}" if noun else f"{rest}: {answer}"
    return f"{told[:1].upper()}{told[1:]}."
