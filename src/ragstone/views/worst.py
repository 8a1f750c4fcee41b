"""The worst rows of a run in two lines each: status, cause and question, then the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from ragstone.analysis.cause_names import Outcome
from ragstone.analysis.cause_texts import status_text
from ragstone.analysis.diagnosis import Diagnosis
from ragstone.analysis.sample_order import worst_rows
from ragstone.storage.runs import Run, read_table
from ragstone.text.questions import MADE_ID
from ragstone.text.statements import without_question
from ragstone.views.phrases import one_line

_MOST_CHARACTERS = 60
SHOWN = 3


@dataclass(frozen=True)
class WorstView:
    """A row that is wrong or needs a look; `word` names it in commands: its id, or its number if the id was made."""

    id: str
    word: str
    label: str
    status: str
    status_text: str
    # How probably it is wrong.
    wrong: float | None
    cause: str
    question: str
    reason: str


def worst_views(run: Run, diagnosis: Diagnosis, most: int = SHOWN) -> list[WorstView]:
    """The most probably wrong rows; rows that are fine are left out."""
    faulty = diagnosis.faulty
    if not faulty:
        return []
    return row_views(run, diagnosis, [row for row in worst_rows(run, faulty, most) if row in faulty])


def row_views(run: Run, diagnosis: Diagnosis, rows: Sequence[int]) -> list[WorstView]:
    """The rows with these numbers from 0, in this order."""
    texts = read_table(run.folder.samples, ["id", "question", "answer"]).take(pa.array(rows, pa.int64())).to_pylist()
    return [_view(row, text, diagnosis.outcomes[row]) for row, text in zip(rows, texts, strict=True)]


def _view(row: int, text: dict[str, str | None], outcome: Outcome) -> WorstView:
    name, number = text["id"] or "", str(row + 1)
    is_made = MADE_ID.fullmatch(name) is not None
    return WorstView(
        id=name,
        word=number if is_made else name,
        label=f"row {number}" if is_made else one_line(name, 30),
        status=outcome.status,
        status_text=status_text(outcome),
        wrong=outcome.wrong,
        cause=outcome.cause.name if outcome.cause else "",
        question=one_line(text["question"] or "", 200),
        reason=_reason(outcome, text["question"] or "", text["answer"] or ""),
    )


def _reason(outcome: Outcome, question: str, answer: str) -> str:
    """The claim or fact that shows the cause, without the question before it, and why; the answer, if no claim is known."""
    shown = [one for one in outcome.failures if one.cause is outcome.cause]
    finding = max(shown, key=lambda one: one.probability or 0.0, default=None)
    if finding is None:
        return outcome.doubt or f"answer: {one_line(answer, _MOST_CHARACTERS)}"
    why = finding.why or finding.cause.meaning
    quoted = answer if finding.kind in ("answer", "chunks") else without_question(question, finding.text)
    return f'{one_line(why, 2 * _MOST_CHARACTERS)}: "{one_line(quoted, 2 * _MOST_CHARACTERS)}"'
