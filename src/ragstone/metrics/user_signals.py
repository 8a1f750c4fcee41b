"""The answer rated by user signals that a log or a harvest stored with the sample."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ragstone.errors import Skip
from ragstone.registry import evidence, metric
from ragstone.text.feedback import KINDS, WEIGHTS, features_of

# Metadata keys under which other tools store a single like or dislike.
_RATINGS = ("like", "liked", "rate", "rating", "thumbs_up")
_UP = {"true", "1", "up", "like", "liked", "good", "positive"}
_DOWN = {"false", "-1", "0", "down", "dislike", "bad", "negative"}


@evidence
def user_signals(answer: str, metadata: dict[str, Any]) -> dict[str, float]:
    """User signals by kind, from the metadata's `signals` (a mapping of kinds to values) or its like or rating."""
    features = features_of(_signals(metadata), len(answer.split()))
    if not features:
        raise Skip("no user signal")
    return features


def _signals(metadata: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    signals = metadata.get("signals")
    if isinstance(signals, Mapping):
        yield from ((kind, value) for kind, value in signals.items() if _is_valid(kind, value))
    for name in _RATINGS:
        word = str(metadata.get(name)).strip().lower()
        if word in _UP | _DOWN:
            yield ("like" if word in _UP else "dislike"), 1.0
            return


def _is_valid(kind: str, value: Any) -> bool:
    """Whether a signal of this kind can have this value."""
    if kind == "next_message":
        return isinstance(value, str)
    return kind in (*KINDS, "thanks", "complaint") and isinstance(value, int | float)


@metric(
    "like_rate",
    family="signals",
    judges="answer",
    against="metadata",
    source="user signals of DIAL",
    misleads=(
        "The few users who press a button differ from the others. People like fluent answers, even wrong ones. "
        "Answers without a signal do not count."
    ),
    sets=("reference_free",),
    slow=True,  # fast, but most data has no signals and a default run would show an empty metric
)
def like_rate(
    user_signals: dict[str, float],
    like: float = WEIGHTS["like"],
    dislike: float = -WEIGHTS["dislike"],
    copy: float = WEIGHTS["copy"],
    regenerate: float = -WEIGHTS["regenerate"],
    reading_time: float = WEIGHTS["reading_time"],
    thanks: float = WEIGHTS["thanks"],
    complaint: float = -WEIGHTS["complaint"],
) -> float:
    """Weighted share of user signals in favour of the answer.

    Weights of the positive signals / weights of all. Positive: like, copy, thanks in the next message, enough reading
    time. Negative: dislike, regenerate, a complaint in the next message, too little reading time. Weights are
    log-odds; 0 ignores a signal. With likes and dislikes only, it is the rate of likes. Skipped if there is no signal.
    """
    positive = {"like": like, "copy": copy, "thanks": thanks}
    negative = {"dislike": dislike, "regenerate": regenerate, "complaint": complaint}
    if min(*positive.values(), *negative.values(), reading_time) < 0:
        raise ValueError("a weight is below 0; 0 ignores a signal")
    read = user_signals.get("reading_time", 0.0)
    good = _weigh(user_signals, positive) + reading_time * max(read, 0.0)
    bad = _weigh(user_signals, negative) - reading_time * min(read, 0.0)
    if not good + bad:
        raise Skip("no user signal that has a weight")
    return good / (good + bad)


def _weigh(signals: Mapping[str, float], weights: Mapping[str, float]) -> float:
    return sum(weight * signals.get(name, 0.0) for name, weight in weights.items())
