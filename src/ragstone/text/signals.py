"""What users do with an answer, as features: each 0 where nothing was seen, 1 where it was, between for degrees.

The weight of a feature is its log-odds: how much more likely an answer is good than bad once it is seen. A like of weight
3 alone means a good answer with probability 1 / (1 + e^-3) = 0.95, which is the confidence of that signal.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from ragstone.text.feedback import read_feedback

KINDS = ("like", "dislike", "copy", "regenerate", "reading_time", "next_message")
# Chosen by judgement, from what is known of such signals in search and chat: people press buttons seldom and mean it,
# a complaint is nearly as plain, copying and asking again say less, and the time in focus says little.
# `ragstone truth signals --labels` learns others from labelled answers.
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
    "regenerate": "another answer to the same question was asked for",
    "reading_time": "time in focus beside the time that reading takes: −1 far too short, +1 long enough",
    "thanks": "the next message thanks",
    "complaint": "the next message complains",
}
_WORDS_PER_SECOND = 4.0
_SHORTEST_READING_S = 2.0
# Whoever looks for ten times as long as reading takes has left for lunch.
_AWAY = 10.0


def features_of(signals: Iterable[tuple[str, Any]], answer_words: int) -> dict[str, float]:
    """The features of an answer from its signals, each a kind and a value; what says nothing is left out."""
    found: dict[str, float] = {}
    for kind, value in signals:
        if kind == "next_message":
            if feedback := read_feedback(str(value)):
                found[feedback.kind] = 1.0
        elif kind == "reading_time":
            if (tilt := reading_tilt(float(value), answer_words)) is not None:
                found["reading_time"] = tilt
        elif kind in ("thanks", "complaint") or (kind in KINDS and (value is None or float(value) > 0)):
            found[kind] = 1.0
    return found


def reading_tilt(seconds: float, answer_words: int) -> float | None:
    """From −1 for a quarter of the time that reading takes, or less, to +1 for all of it; None where the user was away."""
    expected = max(_SHORTEST_READING_S, answer_words / _WORDS_PER_SECOND)
    if not seconds >= 0 or seconds > _AWAY * expected:
        return None
    return max(-1.0, min(1.0, 1.0 + math.log2(max(seconds, 1e-9) / expected)))


def confidence_of(weight: float) -> float:
    """The probability with which a signal of this weight, alone, is right."""
    return 1.0 / (1.0 + math.exp(-abs(weight)))
