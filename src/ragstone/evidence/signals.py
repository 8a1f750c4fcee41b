"""What users did with the answer, where the log or a harvest kept it with the sample."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ragstone.errors import Skip
from ragstone.registry import evidence
from ragstone.text.signals import KINDS, features_of

# Under these names a single like or dislike is kept elsewhere.
_RATINGS = ("like", "liked", "rate", "rating", "thumbs_up")
_UP, _DOWN = (
    {"true", "1", "up", "like", "liked", "good", "positive"},
    {"false", "-1", "0", "down", "dislike", "bad", "negative"},
)


@evidence
def user_signals(answer: str, metadata: dict[str, Any]) -> dict[str, float]:
    """What users did with the answer: the metadata's `signals`, a mapping of kinds to values, or its like or rating."""
    found = features_of(_signals(metadata), len(answer.split()))
    if not found:
        raise Skip("no user signal")
    return found


def _signals(metadata: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    given = metadata.get("signals")
    if isinstance(given, Mapping):
        yield from ((kind, value) for kind, value in given.items() if _fits(kind, value))
    for name in _RATINGS:
        word = str(metadata.get(name)).strip().lower()
        if word in _UP | _DOWN:
            yield ("like" if word in _UP else "dislike"), 1.0
            return


def _fits(kind: str, value: Any) -> bool:
    """Whether the value is one that a signal of this kind can have."""
    if kind == "next_message":
        return isinstance(value, str)
    return kind in (*KINDS, "thanks", "complaint") and isinstance(value, int | float)
