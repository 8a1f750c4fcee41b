"""Follow-up questions ("and for children?"): whether a question depends on a conversation, and its completion by a rule."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragstone.text.overlap import content_stems
from ragstone.text.words import words

# First words of a question that continues another one.
_CONTINUES = re.compile(
    r"\W*(?:and|but|or|what about|how about|also|then|und|aber|oder|et|mais|y|pero|e|ma|и|а)\b", re.IGNORECASE
)
_PRONOUN = re.compile(
    r"\b(?:it|its|they|them|their|theirs|he|him|his|she|her|hers|this|these|those|the same|that one|the other one|"
    r"er|sie|ihm|ihn|ihr|ihre|ihren|dessen|deren|dort|damit|dafür|davon|il|elle|ils|elles|ella|ellos|ellas|lui|"
    r"он|она|они|его|её|их)\b|\b(?:that|there|one)(?=\W*$)|"
    # "Does that ship sail", not "is it true that ships sail"
    r"(?:^|\b(?:is|are|was|were|do|does|did|can|could|will|would|has|have|may|must|should|in|on|at|for|with|of|to|from|about|by|than)\s+)"
    r"that\s+\w+",
    re.IGNORECASE,
)
# Words that do not name what a pronoun refers to, as stems.
_NAMELESS = frozenset(
    [
        "i",
        "you",
        "we",
        "me",
        "us",
        "my",
        "your",
        "our",
        "get",
        "go",
        "can",
        "could",
        "should",
        "would",
        "much",
        "mani",
        "long",
        "old",
        "far",
    ]
)
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
    if pronoun and (count <= _SHORTEST or _names_little(question[: pronoun.start()])):
        return True
    if not question.isascii() and count <= 1:  # a script without spaces
        return len(question.strip()) < _SHORTEST_CHARACTERS
    return count < _SHORTEST or not content_stems(question)


def _names_little(text: str) -> bool:
    return len(content_stems(text) - _NAMELESS) < _NAMED


def complete_follow_up(question: str, earlier: Sequence[str]) -> str:
    """The question after the earlier ones that it continues: back to the last one that is not a follow-up itself."""
    if not is_follow_up(question):
        return question
    asked = [" ".join(text.split()) for text in earlier if text.strip()]
    start = next((at for at in reversed(range(len(asked))) if not is_follow_up(asked[at])), 0)
    return " ".join([*asked[start:], " ".join(question.split())])
