"""The worst rows of a run in two lines each: status, cause and question, then the reason."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pyarrow as pa

from ragstone.analysis.cause_names import Outcome
from ragstone.analysis.cause_texts import status_text
from ragstone.analysis.diagnosis import Diagnosis
from ragstone.analysis.sample_order import worst_rows
from ragstone.storage.runs import Run, read_table
from ragstone.views.phrases import one_line

# Ids that the reader makes from the question say nothing to people.
MADE_ID = re.compile(r"q-[0-9a-f]{10}(?:-\d+)?")
_MOST_CHARACTERS = 60


@dataclass(frozen=True)
class WorstView:
    """A row that is wrong or needs a look; `word` names it in commands."""

    word: str
    label: str
    status: str
    status_text: str
    cause: str
    question: str
    reason: str


def worst_views(run: Run, diagnosis: Diagnosis, most: int = 3) -> list[WorstView]:
    """The most probably wrong rows; rows that are fine are left out."""
    faulty = diagnosis.faulty
    if not faulty:
        return []
    rows = [row for row in worst_rows(run, faulty, most) if row in faulty]
    texts = read_table(run.folder.samples, ["id", "question", "answer"]).take(pa.array(rows, pa.int64())).to_pylist()
    return [_view(row, text, diagnosis.outcomes[row]) for row, text in zip(rows, texts, strict=True)]


def _view(row: int, text: dict[str, str | None], outcome: Outcome) -> WorstView:
    name, number = text["id"] or "", str(row + 1)
    is_made = MADE_ID.fullmatch(name) is not None
    return WorstView(
        word=number if is_made else name,
        label=f"row {number}" if is_made else one_line(name, 30),
        status=outcome.status,
        status_text=status_text(outcome),
        cause=outcome.cause.name if outcome.cause else "",
        question=one_line(text["question"] or "", 200),
        reason=_reason(outcome, text["answer"] or ""),
    )


def _reason(outcome: Outcome, answer: str) -> str:
    """The claim or fact that shows the cause, and why; the answer, if nothing is known about its claims."""
    shown = [one for one in outcome.failures if one.cause is outcome.cause]
    finding = max(shown, key=lambda one: one.probability or 0.0, default=None)
    if finding is None:
        return f"answer: {one_line(answer, _MOST_CHARACTERS)}"
    why = finding.why or finding.cause.meaning
    quoted = finding.text if finding.kind not in ("answer", "chunks") else answer
    return f'{one_line(why, 2 * _MOST_CHARACTERS)}: "{one_line(quoted, 2 * _MOST_CHARACTERS)}"'
