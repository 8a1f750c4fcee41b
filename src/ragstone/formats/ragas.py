"""RAGAS 0.2 and newer: `SingleTurnSample` rows and `EvaluationDataset` files."""

from __future__ import annotations

from typing import Any

from ragstone.formats.base import RowFormat
from ragstone.formats.common_fields import join_ids, one_text
from ragstone.formats.values import Unfit, plain


def _convert(row: dict[str, Any]) -> dict[str, Any]:
    """Joins chunks with their ids; a conversation is an error because it has no single question."""
    row = join_ids(row, "retrieved_contexts", ("retrieved_context_ids",))
    row["reference"] = one_text(row.get("reference"))
    asked = plain(row.get("user_input"))
    if isinstance(asked, list):
        row["user_input"] = Unfit(f"is a conversation of {len(asked)} messages", "write one row per question")
    return row


FORMAT = RowFormat(
    name="ragas",
    title="RAGAS 0.2 and newer",
    columns={
        "id": "id",
        "user_input": "question",
        "response": "answer",
        "retrieved_contexts": "contexts",
        "reference": "references",
        "reference_contexts": "reference_contexts",
        "reference_context_ids": "relevance",
    },
    marks=[frozenset({"user_input"})],
    convert=_convert,
)
