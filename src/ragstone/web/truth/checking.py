"""Whether a citation stands in the passages, as page data: as it is, in other words that mean the same, or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragstone.data.types import Chunk
from ragstone.truth.cases import Case
from ragstone.truth.validation import check_citation
from ragstone.web.diffs import word_diff

CITATION = "citation"
ABSENT = ("absent", "invalid")
_MOST = 4_000


def passages_of(case: Case) -> list[Chunk]:
    """The texts that the citations of a case must stand in."""
    return [*case.passages, *(Chunk(text) for text in case.reference_contexts)]


def check_fact(kind: str, text: str, passages: Sequence[str]) -> dict[str, Any]:
    """Where a citation stands; `none` where there is nothing that it could stand in, or where it need not."""
    if not passages or kind != CITATION:
        why = "there is no passage to look in" if kind == CITATION else ""
        return {"verdict": "none", "passage": None, "start": None, "end": None, "text": "", "why": why, "diff": []}
    found = check_citation(text, passages)
    return {
        "verdict": found.verdict,
        "passage": found.passage,
        "start": found.start,
        "end": found.end,
        "text": found.text,
        "why": found.why or "",
        "diff": word_diff(text[:_MOST], found.text[:_MOST]) if found.verdict == "repaired" else [],
    }
