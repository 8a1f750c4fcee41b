"""Which questions are the same or continue earlier ones, and answers that are too short to understand without their question."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from ragstone.text.lexicon import lexicon, word_set
from ragstone.text.overlap import content_stems
from ragstone.text.words import words

MADE_ID = re.compile(r"q-[0-9a-f]{10}(?:-\d+)?")  # the ids that the reader makes of questions
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


def question_key(question: str) -> str:
    """Equal for two questions that differ at most in Unicode composition, case, white space and final punctuation.

    It is never stored.
    """
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", question).casefold())
    return " ".join(folded.split()).rstrip(_FINAL_MARKS)


def complete(question: str, answer: str) -> str:
    """The question and the answer as one text.

    Of several forms, the local judge separates right from wrong answers best with this one (AUC .83 on SQuAD; .76 and .77 for
    the question as a statement), and it is the same in every language.
    """
    question, answer = " ".join(question.split()), answer.strip().rstrip(".")
    return f"{question} {answer}." if question and answer else answer


# First words of a question that continues another one.
_CONTINUES = re.compile(rf"\W*(?:{lexicon('questions')['continues']})\b", re.IGNORECASE)
_PRONOUN = re.compile(
    rf"\b(?:{lexicon('questions')['pronouns']})\b|\b(?:that|there|one)(?=\W*$)|"
    # "Does that ship sail", not "is it true that ships sail"
    rf"(?:^|\b(?:{lexicon('questions')['before_that']})\s+)that\s+\w+",
    re.IGNORECASE,
)
# A pronoun of an answer.
PRONOUN = re.compile(rf"\b(?:{lexicon('questions')['pronouns']}|one|those|does|do)\b", re.IGNORECASE)
# Words that do not name what a pronoun refers to, as stems.
_NAMELESS = word_set(lexicon("questions")["nameless"])
# With this many content words before a pronoun, the question itself names what the pronoun refers to.
_NAMED = 2
# A question with fewer words is not a sentence.
_SHORTEST = 4
_SHORTEST_CHARACTERS = 8


def is_follow_up(question: str) -> bool:
    """Whether a question cannot be understood alone.

    It continues another one ("and …", "what about …"), has a pronoun before which it names nothing, is too short for a
    sentence, or has no content words.
    """
    pronoun, count = _PRONOUN.search(question), len(list(words(question)))
    if _CONTINUES.match(question):
        return True
    if pronoun and (count <= _SHORTEST or len(content_stems(question[: pronoun.start()]) - _NAMELESS) < _NAMED):
        return True
    if not question.isascii() and count <= 1:  # a script without spaces
        return len(question.strip()) < _SHORTEST_CHARACTERS
    return count < _SHORTEST or not content_stems(question)


def complete_follow_up(question: str, earlier: Sequence[str]) -> str:
    """The question after the earlier ones that it continues: back to the last one that is not a follow-up itself."""
    if not is_follow_up(question):
        return question
    asked = [" ".join(text.split()) for text in earlier if text.strip()]
    start = next((at for at in reversed(range(len(asked))) if not is_follow_up(asked[at])), 0)
    return " ".join([*asked[start:], " ".join(question.split())])
