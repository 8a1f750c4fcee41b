"""RAGAS 0.1: rows of question, contexts, answer and ground truth, and the test sets that it generated."""

from __future__ import annotations

from typing import Any

from ragstone.formats.base import RowFormat
from ragstone.formats.cells import unpack
from ragstone.formats.chunks import one_text


def _convert(row: dict[str, Any]) -> dict[str, Any]:
    """The truth is one text or a list of them; a generated test set has the contexts that its questions were made from."""
    row = dict(row)
    row["ground_truth"] = one_text(row.get("ground_truth"))
    several = unpack(row.pop("ground_truths", None))
    if several and row["ground_truth"] is None:
        row["ground_truth"] = several
    elif several and several != row["ground_truth"]:
        row["ground_truths"] = several
    if "evolution_type" in row and row.get("answer") is None:
        row["reference_contexts"] = row.pop("contexts", None)
    return row


FORMAT = RowFormat(
    name="ragas_legacy",
    title="RAGAS 0.1",
    columns={
        "id": "id",
        "question": "question",
        "answer": "answer",
        "contexts": "contexts",
        "ground_truth": "references",
        "ground_truths": "references",
        "reference_contexts": "reference_contexts",
    },
    marks=[frozenset({"question", "ground_truth"}), frozenset({"question", "ground_truths"})],
    convert=_convert,
)
