"""Where an answer declines: kept, so that anybody can see why it counts as a refusal."""

from __future__ import annotations

from ragstone.errors import Skip
from ragstone.registry import evidence
from ragstone.text.refusals import find_refusal


@evidence
def declining_words(answer: str) -> list[str]:
    """The clause with which the answer declines; empty where it is no refusal."""
    if not answer.strip():
        raise Skip("the answer is empty")
    found = find_refusal(answer)
    return [found] if found else []
