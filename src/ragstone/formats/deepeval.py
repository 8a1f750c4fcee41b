"""deepeval: test cases and goldens, with Python or JSON names."""

from __future__ import annotations

from typing import Any

from ragstone.formats.base import name_pairs
from ragstone.formats.common_fields import one_text, rename_parts, unpack
from ragstone.formats.row_writer import WritableRowFormat, present_only, renamed, texts_of

_CAMEL = name_pairs(
    "actualOutput:actual_output expectedOutput:expected_output retrievalContext:retrieval_context "
    "additionalMetadata:additional_metadata"
)
_OWN = ("actual_output", "expected_output", "retrieval_context", *_CAMEL)


def _convert(row: dict[str, Any]) -> dict[str, Any]:
    row = {_CAMEL.get(key, key): value for key, value in row.items() if value is not None}
    row["expected_output"] = one_text(row.get("expected_output"))
    row["retrieval_context"] = rename_parts(row.get("retrieval_context"), {"context": "text"})
    row["additional_metadata"] = unpack(row.get("additional_metadata"))
    for theirs, ours in (("completion_time", "latency_s"), ("token_cost", "cost_usd")):
        value = row.pop(theirs, None)
        if value is not None and ours not in (row["additional_metadata"] or {}):
            row[ours] = value
    return row


def _retrieved(chunks: Any) -> list[Any] | None:
    """Texts, and objects for chunks with a source."""
    texts = texts_of(chunks)
    return texts and [
        {"context": text, "source": chunk["source"]} if "source" in chunk else text
        for text, chunk in zip(texts, chunks, strict=True)
    ]


def _as_row(sample: dict[str, Any]) -> dict[str, Any]:
    """A test case, or a golden if there is no answer; deepeval has one expected output."""
    metadata = sample.get("metadata") or {}
    row = {
        **renamed(sample, "id question:input answer:actual_output"),
        "expected_output": next(iter(sample.get("references") or ()), None),
        "retrieval_context": _retrieved(sample.get("contexts")),
        "context": sample.get("reference_contexts"),
        "additional_metadata": metadata or None,
        "completion_time": metadata.get("latency_s"),
        "token_cost": metadata.get("cost_usd"),
    }
    return present_only(row)


FORMAT = WritableRowFormat(
    name="deepeval",
    title="deepeval test cases and goldens",
    # A test case's name need not be unique, so it is metadata, not the id.
    columns=name_pairs(
        "id input:question actual_output:answer expected_output:references retrieval_context:contexts "
        "context:reference_contexts additional_metadata:metadata metadata"
    ),
    marks=[frozenset({"input", name}) for name in _OWN],
    convert=_convert,
    as_row=_as_row,
    writes=frozenset({"question", "answer", "contexts", "references", "reference_contexts", "metadata"}),
)
