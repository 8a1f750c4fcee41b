"""RAGChecker's input and output files. Their claims and verdicts become evidence, so no model is called for them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from ragstone.data.schema import FIELDS
from ragstone.formats.base import Draft, RowFormat, name_pairs
from ragstone.formats.common_fields import one_text, rename_parts
from ragstone.formats.ragstone import rows
from ragstone.formats.reports import Report
from ragstone.formats.sources import Source
from ragstone.storage.places import Place

_EVIDENCE = name_pairs(
    "response_claims:answer_claims gt_answer_claims:reference_claims answer2response:answer_claims_in_reference "
    "response2answer:reference_claims_in_answer retrieved2response:answer_claims_in_contexts "
    "retrieved2answer:reference_claims_in_contexts"
)
# RAGChecker ignores unknown keys, so fields that it does not have are stored under these.
_OURS = tuple(name for name in FIELDS if name not in ("id", "question", "answer", "contexts"))
_PREFIX = "ragstone."
_RESULTS = "results"


class RagcheckerFormat(RowFormat):
    """A document with a list of results and information about all of them."""

    def read(self, sources: Sequence[Source], report: Report) -> Iterator[Draft]:
        """One sample per result; the rest of the document is information about all of them."""
        for source in sources:
            if source.kind == "json" and isinstance(document := source.document, dict) and _RESULTS in document:
                report.info.update({key: value for key, value in document.items() if key != _RESULTS})
        yield from super().read(sources, report)

    def write(self, batches: Iterable[pa.RecordBatch], target: Place, info: Mapping[str, Any]) -> None:
        """Write one JSON document, one result per line."""
        with target.writing() as stream:
            stream.write(f'{{"{_RESULTS}": ['.encode())
            for number, row in enumerate(rows(batches)):
                stream.write(b",\n" if number else b"\n")
                stream.write(json.dumps(self._result(row), ensure_ascii=False).encode())
            stream.write(b"\n]")
            for key, value in info.items():
                if key != _RESULTS:
                    stream.write(f",\n{json.dumps(key)}: {json.dumps(value)}".encode())
            stream.write(b"}\n")

    def _result(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """A sample with RAGChecker's names; the first five are required, even if empty."""
        references, metadata = row.get("references"), row.get("metadata", {})
        result = {
            "query_id": row["id"],
            "query": row.get("question"),
            "gt_answer": references[0] if references else None,
            "response": row.get("answer"),
            "retrieved_context": _documents(row.get("contexts")),
            **{theirs: _spell(ours, row[ours]) for theirs, ours in _EVIDENCE.items() if ours in row},
            **{key: value for key, value in metadata.items() if key not in self.columns},
        }
        rest = {name: row[name] for name in _OURS if name in row and name != "metadata"}
        if references and references == [result["gt_answer"] or None]:
            del rest["references"]
        if clashing := {key: value for key, value in metadata.items() if key in self.columns}:
            rest["metadata"] = clashing
        return result | {f"{_PREFIX}{name}": value for name, value in rest.items()}


def _documents(chunks: Any) -> Any:
    if chunks is None:
        return None
    return [{"doc_id": chunk.get("id"), **{k: v for k, v in chunk.items() if k != "id"}} for chunk in chunks]


def _spell(name: str, value: Any) -> Any:
    """Claims as triplets or texts, verdicts as capitalised words."""
    if name.endswith("_claims"):
        return [claim.get("triplet") or claim["text"] for claim in value]
    if isinstance(value, list):
        return [_spell(name, item) for item in value]
    return value.capitalize()


def _convert(row: dict[str, Any]) -> dict[str, Any]:
    """The reference is one text, unless the row also has all references under our key."""
    row = dict(row)
    row["retrieved_context"] = rename_parts(row.get("retrieved_context"), {"doc_id": "id"})
    if row.get(f"{_PREFIX}references") is None:
        row["gt_answer"] = one_text(row.get("gt_answer"))
    else:
        row.pop("gt_answer", None)
    return row


FORMAT = RagcheckerFormat(
    name="ragchecker",
    title="RAGChecker's inputs and outputs",
    columns={
        **name_pairs("query_id:id query:question gt_answer:references response:answer retrieved_context:contexts"),
        **_EVIDENCE,
        **{f"{_PREFIX}{name}": name for name in _OURS},
    },
    marks=[frozenset({"query", name}) for name in ("gt_answer", "retrieved_context", "response_claims")],
    convert=_convert,
    given=tuple(_EVIDENCE.values()),
)
