"""Whether a citation stands in the passages, as page data: as it is, in other words that mean the same, or not at all."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ragstone.data.types import Chunk
from ragstone.truth.cases import Case
from ragstone.truth.validation import check_citation
from ragstone.web.diffs import word_diff

CITATION = "citation"
ABSENT = ("absent", "invalid")
_PLACE = re.compile(r"\(passage (\d+)\)$")
_MOST = 4_000
_LONGEST = 20_000
_NOT_CHECKED: Mapping[str, Any] = {
    "verdict": "none",
    "passage": None,
    "start": None,
    "end": None,
    "text": "",
    "diff": [],
}


def passages_of(case: Case) -> list[Chunk]:
    """The texts that the citations of a case must stand in."""
    return [*case.passages, *(Chunk(text) for text in case.reference_contexts)]


def check_fact(kind: str, text: str, passages: Sequence[str], names: Sequence[str] = ()) -> dict[str, Any]:
    """Where a citation stands; `none` where there is nothing that it could stand in, or where it need not.

    `names` are what a page calls the passages, where that is not their numbers.
    """
    if kind != CITATION or not any(passage.strip() for passage in passages):
        return {**_NOT_CHECKED, "why": "there are no passages to look in" if kind == CITATION else ""}
    if len(text) > _LONGEST:
        return {**_NOT_CHECKED, "why": f"it is longer than {_LONGEST:,} characters, too long for a citation"}
    found = check_citation(text, passages)
    return {
        "verdict": found.verdict,
        "passage": found.passage,
        "start": found.start,
        "end": found.end,
        "text": found.text,
        "why": _PLACE.sub(lambda place: f"({names[int(place[1]) - 1]})" if names else place[0], found.why or ""),
        "diff": word_diff(text[:_MOST], found.text[:_MOST]) if found.verdict == "repaired" else [],
    }


def excuse_absence(check: dict[str, Any]) -> dict[str, Any]:
    """The same where the case has no passages of its own: that no retrieved chunk has a citation says nothing against it."""
    if check["verdict"] != "absent":
        return check
    return {**_NOT_CHECKED, "why": "the case has no passages to look in, and no retrieved chunk has it"}
