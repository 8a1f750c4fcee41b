"""deepeval: test cases and goldens, with Python or JSON names."""

from __future__ import annotations

from typing import Any

from ragstone.formats.base import RowFormat
from ragstone.formats.common_fields import one_text, rename_parts, unpack

_CAMEL = {
    "actualOutput": "actual_output",
    "expectedOutput": "expected_output",
    "retrievalContext": "retrieval_context",
    "additionalMetadata": "additional_metadata",
}
_OWN = ("actual_output", "expected_output", "retrieval_context", *_CAMEL)


def _convert(row: dict[str, Any]) -> dict[str, Any]:
    row = {_CAMEL.get(key, key): value for key, value in row.items() if value is not None}
    row["expected_output"] = one_text(row.get("expected_output"))
    row["retrieval_context"] = rename_parts(row.get("retrieval_context"), {"context": "text"})
    row["additional_metadata"] = unpack(row.get("additional_metadata"))
    if "completion_time" in row:
        row["latency_s"] = row.pop("completion_time")
    return row


FORMAT = RowFormat(
    name="deepeval",
    title="deepeval test cases and goldens",
    # A test case's name need not be unique, so it is metadata, not the id.
    columns={
        "id": "id",
        "input": "question",
        "actual_output": "answer",
        "expected_output": "references",
        "retrieval_context": "contexts",
        "context": "reference_contexts",
        "additional_metadata": "metadata",
        "metadata": "metadata",
    },
    marks=[frozenset({"input", name}) for name in _OWN],
    convert=_convert,
)
