"""Reasons for verdicts: a user's prompt asks for them by showing `"reason"` in its reply."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragstone.data.types import ScoredVerdict
from ragstone.llm.prompts import Prompt
from ragstone.tools.protocols import strongest

# As long as models write: what a quote counts.
GUESSED_REASON = "The text gives this time for weekdays and for Sundays."


def asks_for_reasons(prompt: Prompt) -> bool:
    """Whether the instructions of a prompt show a reason in the reply."""
    return '"reason"' in prompt.system


def strongest_of(verdicts: Sequence[str]) -> str:
    """The strongest verdict, with its reason."""
    word = strongest(verdicts)
    return next((verdict for verdict in verdicts if verdict == word), word)


def with_reason(word: str, item: Any) -> str:
    """A verdict with the reason that a reply gives for it."""
    reason = " ".join((getattr(item, "reason", None) or "").split())
    return ScoredVerdict(word, reason=reason) if reason else word
