"""RAGAS 0.2 and newer: `SingleTurnSample` rows and `EvaluationDataset` files."""

from __future__ import annotations

from typing import Any

from ragstone.formats.common_fields import join_ids, one_text
from ragstone.formats.row_writer import WritableRowFormat, beside, ids_of, relevant_ids, texts_of
from ragstone.formats.values import Unfit, plain


def _convert(row: dict[str, Any]) -> dict[str, Any]:
    """Joins chunks with their ids; a conversation is an error because it has no single question."""
    row = join_ids(row, "retrieved_contexts", ("retrieved_context_ids",))
    row["reference"] = one_text(row.get("reference"))
    asked = plain(row.get("user_input"))
    if isinstance(asked, list):
        row["user_input"] = Unfit(f"is a conversation of {len(asked)} messages", "write one row per question")
    return row


def _as_row(sample: dict[str, Any]) -> dict[str, Any]:
    """A SingleTurnSample; RAGAS has one reference."""
    row = {
        "id": sample["id"],
        "user_input": sample.get("question"),
        "response": sample.get("answer"),
        "retrieved_contexts": texts_of(sample.get("contexts")),
        "retrieved_context_ids": ids_of(sample.get("contexts")),
        "reference": next(iter(sample.get("references") or ()), None),
        "reference_contexts": sample.get("reference_contexts"),
        "reference_context_ids": relevant_ids(sample.get("relevance")),
    }
    return beside(row, sample.get("metadata"))


FORMAT = WritableRowFormat(
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
    as_row=_as_row,
    writes=frozenset({"question", "answer", "contexts", "references", "reference_contexts", "relevance", "metadata"}),
)
