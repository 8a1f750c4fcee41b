"""RAGAS 0.2 and newer: `SingleTurnSample` rows and `EvaluationDataset` files."""

from __future__ import annotations

from typing import Any

from ragstone.formats.base import RowFormat


def _with_ids(row: dict[str, Any]) -> dict[str, Any]:
    """Chunks and their ids come in two lists of one length."""
    row = dict(row)
    texts, ids = row.get("retrieved_contexts"), row.pop("retrieved_context_ids", None)
    if texts is not None and ids is not None and len(texts) == len(ids):
        row["retrieved_contexts"] = [{"text": text, "id": name} for text, name in zip(texts, ids, strict=True)]
    elif ids is not None:
        row["retrieved_context_ids"] = ids
    return row


FORMAT = RowFormat(
    name="ragas",
    title="RAGAS 0.2 and newer",
    columns={
        "user_input": "question",
        "response": "answer",
        "retrieved_contexts": "contexts",
        "reference": "references",
        "reference_contexts": "reference_contexts",
        "reference_context_ids": "relevance",
    },
    marks=[frozenset({"user_input"})],
    convert=_with_ids,
)
