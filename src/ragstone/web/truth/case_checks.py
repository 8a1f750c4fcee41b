"""Checks of a case: whether its citations are in its passages, and the problems that a person should look at."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ragstone.truth.citations.check import check_citation
from ragstone.truth.review import CITATION
from ragstone.web.word_diff import word_diff

LOST = "citation not found"
PROBLEMS = {
    "no question": "the question is empty",
    "no answer": "there is no reference answer, and the question is not marked as unanswerable",
    "no fact": "there is no accepted fact, and the question is not marked as unanswerable",
    "to review": "proposed facts, answers or unanswerable questions need a decision",
    "duplicate question": "another case has the same question",
    "answer to an unanswerable question": "the question is marked as unanswerable but has an answer or a fact",
    "hidden characters": "a text contains control characters or bidirectional marks",
    LOST: "a citation is not in any passage",
}
_PASSAGE = re.compile(r"\(passage (\d+)\)$")
_MAX_DIFF = 4_000
_MAX_CITATION = 20_000
NOT_CHECKED: Mapping[str, Any] = {
    "verdict": "none",
    "passage": None,
    "start": None,
    "end": None,
    "text": "",
    "diff": [],
}


def check_fact(kind: str, text: str, passages: Sequence[str], names: Sequence[str] = ()) -> dict[str, Any]:
    """Look for a citation in the passages. The verdict is `none` for other kinds of facts or if all passages are empty.

    `names` replace the passage numbers in the explanation.
    """
    if kind != CITATION or not any(passage.strip() for passage in passages):
        return {**NOT_CHECKED, "why": "there are no passages to search" if kind == CITATION else ""}
    if len(text) > _MAX_CITATION:
        return {**NOT_CHECKED, "why": f"it is too long for a citation (over {_MAX_CITATION:,} characters)"}
    check = check_citation(text, passages)
    return {
        "verdict": check.verdict,
        "passage": check.passage,
        "start": check.start,
        "end": check.end,
        "text": check.text,
        "why": _PASSAGE.sub(lambda match: f"({names[int(match[1]) - 1]})" if names else match[0], check.why or ""),
        "diff": word_diff(text[:_MAX_DIFF], check.text[:_MAX_DIFF]) if check.verdict == "repaired" else [],
    }
