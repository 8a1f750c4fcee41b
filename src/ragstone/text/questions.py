"""Which questions are the same, and answers that are too short to understand without their question."""

from __future__ import annotations

import re
import unicodedata

# With one of these verbs even three words are a sentence.
_VERB = re.compile(r"(?<=\w )(?:is|are|was|were|has|have|had|can|will|must)\b")
_LONGEST, _SHORTEST_SENTENCE = 10, 4
# NFC turns the Greek question mark into a semicolon.
_FINAL_MARKS = " .?!…;。？！؟।॥"


def is_fragment(text: str) -> bool:
    """Whether a text is too short to be a sentence: a name, a number, some words without a full stop."""
    count = len(text.split())
    if ": " in text or (text[-1:] == "." and _VERB.search(text)):
        return False
    if not text.isascii() and count == 1:
        return len(text) < _LONGEST and text[-1:] not in "。！."
    return count < _SHORTEST_SENTENCE or (count <= _LONGEST and text[-1:] not in ".!。！:")


def same_question(one: str, other: str) -> bool:
    """Whether two questions differ at most in Unicode composition, case, white space and final punctuation."""
    return question_key(one) == question_key(other)


def question_key(question: str) -> str:
    """A key that is equal for two texts if they are the same question; it is never stored."""
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", question).casefold())
    return " ".join(folded.split()).rstrip(_FINAL_MARKS)


def complete(question: str, answer: str) -> str:
    """The question and the answer as one text.

    Of several forms, the local judge separates right from wrong answers best with this one (AUC .83 on SQuAD; .76 and .77 for
    the question as a statement), and it is the same in every language.
    """
    question, answer = " ".join(question.split()), answer.strip().rstrip(".")
    return f"{question} {answer}." if question and answer else answer
