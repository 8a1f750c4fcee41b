"""The facts and chunks of a sample as page data, and the limits on long texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ragstone.compare.cause_names import Outcome
from ragstone.compare.sample_evidence import Case
from ragstone.report.html.sample_data import Mark, Piece, chunk_marks, fact_ranks, holds_what_is_needed, mark_facts

_SHORT_LIMIT = 20_000
_FULL_LIMIT = 2_000_000
_MAX_EXCERPT = 4_000


@dataclass
class Limits:
    """The number of characters shown of a text; `?full=1` raises it. `cut` is set if a text was shortened."""

    size: int = _SHORT_LIMIT
    cut: bool = False

    @classmethod
    def read(cls, query: Mapping[str, str]) -> Limits:
        """Read the limits from a query."""
        return cls(_FULL_LIMIT if query.get("full") else _SHORT_LIMIT)

    def shorten(self, text: str) -> str:
        """Return the beginning of a long text and its full length."""
        return text[: self.size] + self.rest(text)

    def rest(self, text: str) -> str:
        """Return a note about the part of a text over the limit; empty if the text is shown in full."""
        if len(text) <= self.size:
            return ""
        self.cut = True
        return f" … ({len(text):,} characters in all)"


def excerpt(text: str, start: int, end: int, context: int) -> dict[str, str]:
    """Return a part of a text with the characters before and after it."""
    return {
        "before": ("… " if start > context else "") + text[max(0, start - context) : start],
        "here": text[start:end][:_MAX_EXCERPT],
        "after": text[end : end + context] + (" …" if len(text) > end + context else ""),
    }


def fact_list(case: Case, limits: Limits) -> list[dict[str, Any]]:
    """Return the facts with the ranks of the chunks that contain them; None if facts were not matched."""
    return [
        {
            "number": position + 1,
            "text": limits.shorten(fact.text),
            "kind": fact.kind,
            "source": fact.source or "",
            "ranks": fact_ranks(case, position),
        }
        for position, fact in enumerate(case.sample.facts or ())
    ]


def chunk_list(case: Case, outcome: Outcome, limits: Limits) -> list[dict[str, Any]] | None:
    """Return the chunks in rank order; None if the data has no contexts."""
    if case.sample.contexts is None:
        return None
    return [_chunk(case, outcome, rank, limits) for rank in range(1, len(case.sample.contexts) + 1)]


def _chunk(case: Case, outcome: Outcome, rank: int, limits: Limits) -> dict[str, Any]:
    chunk = (case.sample.contexts or [])[rank - 1]
    matches = [match for match in case.evidence.get("fact_matches") or () if match.chunk == rank - 1]
    pieces = mark_facts(chunk.text, matches, limits.size)
    if rest := limits.rest(chunk.text):
        pieces.append(Piece(rest))
    return {
        "rank": rank,
        "id": chunk.id or "",
        "source": chunk.source or "",
        "score": chunk.score,
        "relevance": _relevance(case, rank),
        "pieces": [{"text": piece.text, "numbers": list(piece.numbers)} for piece in pieces],
        "marks": list(chunk_marks(case, outcome, rank)),
    }


def _relevance(case: Case, rank: int) -> Mark | None:
    """Return a badge from the relevance grades of the data, otherwise from the matched evidence."""
    sample = case.sample
    chunk = (sample.contexts or [])[rank - 1]
    if sample.relevance:
        grade = sample.relevance.get(chunk.id or "", 0)
        return Mark("good", f"relevant, grade {grade:g}") if grade > 0 else Mark("silent", "not relevant")
    needed = holds_what_is_needed(case, rank)
    if needed is None:
        return None
    return Mark("good", "contains needed facts") if needed else Mark("silent", "no needed facts")
