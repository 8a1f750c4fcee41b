"""RAGAS 0.1: rows of question, contexts, answer and ground truth, and generated test sets."""

from __future__ import annotations

from typing import Any

from ragstone.formats.base import RowFormat, name_pairs
from ragstone.formats.common_fields import one_text, unpack


def _convert(row: dict[str, Any]) -> dict[str, Any]:
    """The truth is a text or a list of texts. The contexts of a generated test set are those that its questions come from."""
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
    columns=name_pairs(
        "id question answer contexts ground_truth:references ground_truths:references reference_contexts"
    ),
    marks=[frozenset({"question", "ground_truth"}), frozenset({"question", "ground_truths"})],
    convert=_convert,
)
