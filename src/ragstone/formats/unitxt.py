"""unitxt: the fields of its end-to-end RAG task, with the answers and contexts of a system."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragstone.formats.base import name_pairs
from ragstone.formats.common_fields import join_ids, unpack
from ragstone.formats.row_writer import WritableRowFormat, ids_of, present_only, relevant_ids, renamed, texts_of

_OWN = ("reference_answers", "reference_context_ids", "contexts_id", "context_ids", "is_answerable_label")


def _convert(row: dict[str, Any]) -> dict[str, Any]:
    """Joins ids with chunks, moves tags to the metadata and drops an empty question id."""
    row = join_ids(row, "contexts", ("contexts_id", "context_ids"))
    if row.get("question_id") == "":
        del row["question_id"]
    tags = unpack(row.get("metadata_tags"))
    if isinstance(tags, Mapping):
        row["metadata_tags"] = tags
    elif "metadata_tags" in row:
        # A single tag has no name of its own.
        row["metadata_tags"] = {"metadata_tags": tags}
    return row


def _as_row(sample: dict[str, Any]) -> dict[str, Any]:
    """The fields of the end-to-end RAG task and of a prediction."""
    row = {
        **renamed(sample, "id:question_id question answer references:reference_answers reference_contexts"),
        **renamed(sample, "answerable:is_answerable_label metadata:metadata_tags"),
        "contexts": texts_of(sample.get("contexts")),
        "contexts_id": ids_of(sample.get("contexts")),
        "reference_context_ids": relevant_ids(sample.get("relevance")),
    }
    return present_only(row)


FORMAT = WritableRowFormat(
    name="unitxt",
    title="unitxt's RAG task",
    columns=name_pairs(
        "question_id:id question answer contexts reference_answers:references reference_contexts "
        "reference_context_ids:relevance is_answerable_label:answerable metadata_tags:metadata"
    ),
    marks=[frozenset({"question", name}) for name in _OWN],
    convert=_convert,
    as_row=_as_row,
    writes=frozenset(
        ("question", "answer", "contexts", "references", "reference_contexts", "relevance", "answerable", "metadata")
    ),
)
