"""User feedback on an answer: the next message by its phrases, and other signals as weighted features.

A message is a complaint if it states that the *answer* was wrong or not wanted ("that is wrong", "I asked for the price").
A new question that only contains such words ("which parts of the form are wrong?") is not feedback. A message that thanks
and complains is a complaint.

A feature is 0 if its signal was not seen, 1 if it was, and between for degrees. Its weight is the log-odds that the answer
is good: a like of weight 3 alone means a good answer with probability 1 / (1 + e^-3) = 0.95, the signal's confidence.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Literal, NamedTuple

from ragstone.text.lexicon import lexicon

Kind = Literal["thanks", "complaint"]
# Feedback comes first in a message; further down a new request may contain any words.
_LOOKED_AT = 160


class Feedback(NamedTuple):
    """The kind of feedback in a message, and the words that express it."""

    kind: Kind
    words: str


# "No thanks" and "thanks for nothing" are not thanks.
_NOT_THANKS = re.compile(
    r"\bno,? thanks\b|\bno,? thank you\b|\bthanks for nothing\b|\bnein danke\b|\bnon merci\b|\bno gracias\b"
)


def read_feedback(message: str) -> Feedback | None:
    """The feedback that a message gives on the answer before it; None if it gives none."""
    folded = _fold(message[: _LOOKED_AT * 2])[:_LOOKED_AT]
    if match := _pattern("complaints").search(folded):
        return Feedback("complaint", match[0].strip())
    if (match := _pattern("thanks").search(folded)) and not _NOT_THANKS.search(folded):
        return Feedback("thanks", match[0].strip())
    return None


def _fold(text: str) -> str:
    """Lower case without accents, with straight apostrophes and single spaces."""
    parts = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold().replace("’", "'"))
    return " ".join("".join(part for part in parts if not unicodedata.combining(part)).split()).lstrip("¡¿-–—* \"'")


@cache
def _pattern(kind: str) -> re.Pattern[str]:
    phrases = lexicon("feedback")
    return re.compile("|".join(f"(?:{phrase})" for phrase in phrases[kind]).replace("{it}", phrases["it"]))


KINDS = ("like", "dislike", "copy", "regenerate", "reading_time", "next_message")
# Chosen by judgement, from experience with such signals in search and chat: users press buttons rarely and deliberately,
# a complaint is nearly as clear, copying and repeating a question are weaker, and focus time is the weakest.
# `ragstone truth signals --labels` learns weights from labelled answers.
WEIGHTS: Mapping[str, float] = {
    "like": 3.0,
    "dislike": -3.0,
    "copy": 1.2,
    "regenerate": -1.5,
    "reading_time": 0.5,
    "thanks": 1.5,
    "complaint": -2.2,
}
MEANINGS = {
    "like": "the user liked it",
    "dislike": "the user disliked it",
    "copy": "it was copied",
    "regenerate": "the user asked for another answer to the same question",
    "reading_time": "time in focus relative to the reading time: −1 far too short, +1 long enough",
    "thanks": "the next message thanks",
    "complaint": "the next message complains",
}
_WORDS_PER_SECOND = 4.0
_SHORTEST_READING_S = 2.0
# After ten times the reading time the user was probably away.
_AWAY = 10.0


def features_of(signals: Iterable[tuple[str, Any]], answer_words: int) -> dict[str, float]:
    """The features of an answer from its signals (kind and value); signals without information are left out."""
    features: dict[str, float] = {}
    for kind, value in signals:
        if kind == "next_message":
            if feedback := read_feedback(str(value)):
                features[feedback.kind] = 1.0
        elif kind == "reading_time":
            if (tilt := reading_tilt(float(value), answer_words)) is not None:
                features["reading_time"] = tilt
        elif kind in ("thanks", "complaint") or (kind in KINDS and (value is None or float(value) > 0)):
            features[kind] = 1.0
    return features


def reading_tilt(seconds: float, answer_words: int) -> float | None:
    """From −1 for a quarter of the reading time or less to +1 for all of it; None if the user was away."""
    expected = max(_SHORTEST_READING_S, answer_words / _WORDS_PER_SECOND)
    if not seconds >= 0 or seconds > _AWAY * expected:
        return None
    return max(-1.0, min(1.0, 1.0 + math.log2(max(seconds, 1e-9) / expected)))
