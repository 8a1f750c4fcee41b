"""The words of the texts, as the SQuAD script counts them; made once, shared by all lexical metrics."""

from __future__ import annotations

from ragstone.data.types import Chunk
from ragstone.registry import evidence
from ragstone.text import squad


@evidence(transient=True)
def answer_tokens(answer: str) -> list[str]:
    """The words of the answer."""
    return squad.tokens(answer)


@evidence(transient=True)
def reference_tokens(references: list[str]) -> list[list[str]]:
    """The words of each reference answer."""
    return [squad.tokens(reference) for reference in references]


@evidence(transient=True)
def context_tokens(contexts: list[Chunk]) -> list[list[str]]:
    """The words of each retrieved chunk."""
    return [squad.tokens(chunk.text) for chunk in contexts]
