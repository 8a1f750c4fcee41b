"""The evidence about a sample as the viewer shows it: the answer with its claims, facts with their ranks, chunks with badges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ragstone.compare.cases import Case
from ragstone.compare.findings import Outcome
from ragstone.report.html.evidence import (
    Mark,
    chunk_marks,
    chunks_behind,
    fact_ranks,
    holds_what_is_needed,
    mark_answer,
)
from ragstone.report.html.highlights import Piece, mark_facts

_LONG = 20_000
_MOST = 2_000_000
# Finding sentences in a text of so many characters takes a moment; longer ones are shown without marks.
_MOST_MARKED = 200_000


@dataclass
class Limits:
    """How much of a long text is shown; `?full=1` shows all, and notes are kept of what was left out."""

    most: int = _LONG
    cut: bool = False

    @classmethod
    def read(cls, query: Mapping[str, str]) -> Limits:
        """From an address."""
        return cls(_MOST if query.get("full") else _LONG)

    def shorten(self, text: str) -> str:
        """The beginning of a long text, with a word about the rest."""
        if len(text) <= self.most:
            return text
        self.cut = True
        return f"{text[: self.most]} … ({len(text):,} characters in all)"


def answer_pieces(case: Case, limits: Limits) -> list[dict[str, Any]]:
    """The answer with its claims marked by verdict, and the chunks that say or deny each."""
    text = limits.shorten(case.sample.answer or "")
    pieces = mark_answer(case, text) if case.claims("answer") and len(text) <= _MOST_MARKED else [Piece(text)]
    return [
        {
            "text": piece.text,
            "tone": piece.tone,
            "numbers": list(piece.numbers),
            **chunks_behind(case, piece.numbers),
        }
        for piece in pieces
    ]


def fact_list(case: Case, limits: Limits) -> list[dict[str, Any]]:
    """The facts with the ranks of the chunks that have them; None where nobody looked."""
    return [
        {
            "number": place + 1,
            "text": limits.shorten(fact.text),
            "kind": fact.kind,
            "source": fact.source or "",
            "ranks": fact_ranks(case, place),
        }
        for place, fact in enumerate(case.sample.facts or ())
    ]


def chunk_list(case: Case, outcome: Outcome, limits: Limits) -> list[dict[str, Any]] | None:
    """The chunks in rank order; None where nothing is known about retrieval."""
    if case.sample.contexts is None:
        return None
    return [_chunk(case, outcome, rank, limits) for rank in range(1, len(case.sample.contexts) + 1)]


def _chunk(case: Case, outcome: Outcome, rank: int, limits: Limits) -> dict[str, Any]:
    chunk = (case.sample.contexts or [])[rank - 1]
    matches = [match for match in case.evidence.get("fact_matches") or () if match.chunk == rank - 1]
    pieces = mark_facts(chunk.text, matches, limits.most)
    if len(chunk.text) > limits.most:
        limits.cut = True
        pieces.append(Piece(f" … ({len(chunk.text):,} characters in all)"))
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
    """A badge: by the grades of the data, else by what the chunk was found to hold."""
    sample = case.sample
    chunk = (sample.contexts or [])[rank - 1]
    if sample.relevance:
        grade = sample.relevance.get(chunk.id or "", 0)
        return Mark("good", f"relevant, grade {grade:g}") if grade > 0 else Mark("silent", "not relevant")
    holds = holds_what_is_needed(case, rank)
    if holds is None:
        return None
    return Mark("good", "has what is needed") if holds else Mark("silent", "nothing that is needed")
