"""The Arrow schema of every table, and the meaning of each field of a sample."""

from __future__ import annotations

import typing
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ragstone.data.codec import arrow_type
from ragstone.data.types import Claim, Sample, ScoredVerdict


@dataclass(frozen=True)
class Field:
    """A column of the samples table."""

    meaning: str
    annotation: Any
    # An empty list of references or facts means no ground truth; an empty list of contexts means that nothing was retrieved.
    empty_is_absent: bool = False

    @property
    def type(self) -> pa.DataType:
        """The Arrow type of the column."""
        return arrow_type(self.annotation)


_HINTS = typing.get_type_hints(Sample)

FIELDS: dict[str, Field] = {
    "id": Field("a name for the sample, unique in its file", _HINTS["id"]),
    "question": Field("what was asked", _HINTS["question"]),
    "answer": Field("what the system answered", _HINTS["answer"]),
    "contexts": Field("the retrieved chunks in rank order", _HINTS["contexts"]),
    "references": Field("right answers", _HINTS["references"], empty_is_absent=True),
    "reference_contexts": Field("texts that should be retrieved", _HINTS["reference_contexts"], empty_is_absent=True),
    "relevance": Field("chunk id to grade: what should be retrieved", _HINTS["relevance"], empty_is_absent=True),
    "facts": Field("what the chunks must contain for a right answer", _HINTS["facts"], empty_is_absent=True),
    "answerable": Field("whether the documents hold the answer", _HINTS["answerable"]),
    "documents": Field("the documents that the question is about", _HINTS["documents"], empty_is_absent=True),
    "history": Field("earlier messages of the conversation, oldest first", _HINTS["history"], empty_is_absent=True),
    "rewritten_question": Field("the question that the system made of the conversation", _HINTS["rewritten_question"]),
    "steps": Field("calls of tools that led to the answer, in order", _HINTS["steps"]),
    "expected_steps": Field("calls of tools that should be made", _HINTS["expected_steps"], empty_is_absent=True),
    "citations": Field("which parts of the answer cite which chunks", _HINTS["citations"], empty_is_absent=True),
    "metadata": Field("anything else, for slices", _HINTS["metadata"]),
}

# Evidence that a file may contain; it is used as it is and not computed again.
# Verdicts in a file are words: entailment, neutral, contradiction. The local judge adds probabilities and `unsure`.
GIVEN_EVIDENCE: dict[str, Any] = {
    "answer_claims": list[Claim],
    "reference_claims": list[Claim],
    "answer_claims_in_reference": list[ScoredVerdict],
    "reference_claims_in_answer": list[ScoredVerdict],
    "answer_claims_in_contexts": list[list[ScoredVerdict]],
    "reference_claims_in_contexts": list[list[ScoredVerdict]],
    "answer_claims_in_all_contexts": list[ScoredVerdict],
    "reference_claims_in_all_contexts": list[ScoredVerdict],
    "verdict_agreement": list[float],
    "standalone_question": str,
    "answer_claims_in_history": list[ScoredVerdict],
    "reference_entities": list[str],
    "reference_entities_in_contexts": list[bool],
    "answer_claims_in_corpus": list[ScoredVerdict],
    # Per fact: support, partial_support, not_support.
    "nugget_support": list[ScoredVerdict],
}

SAMPLES = pa.schema([pa.field(name, field.type, nullable=name != "id") for name, field in FIELDS.items()])

_WORD = pa.dictionary(pa.int32(), pa.string())
SCORES = pa.schema(
    [
        pa.field("sample_id", pa.string(), nullable=False),
        pa.field("metric", _WORD, nullable=False),
        pa.field("value", pa.float64()),
        pa.field("status", _WORD, nullable=False),
        pa.field("reason", _WORD),
        pa.field("signature", _WORD, nullable=False),
    ]
)

SUMMARY = pa.schema(
    [
        pa.field("metric", pa.string(), nullable=False),
        pa.field("slice", pa.string(), nullable=False),
        pa.field("mean", pa.float64()),
        pa.field("ci_low", pa.float64()),
        pa.field("ci_high", pa.float64()),
        pa.field("n_ok", pa.int64(), nullable=False),
        pa.field("n_skipped", pa.int64(), nullable=False),
        pa.field("n_failed", pa.int64(), nullable=False),
        pa.field("reason", pa.string()),
    ]
)

# Every model call; empty if no metric uses a model. `reply` is the unchanged reply of the judge model.
CALLS = pa.schema(
    [
        pa.field("sample_id", pa.string(), nullable=False),
        pa.field("evidence", pa.string(), nullable=False),
        pa.field("prompt", pa.string(), nullable=False),
        pa.field("prompt_hash", pa.string(), nullable=False),
        pa.field("model", pa.string(), nullable=False),
        pa.field("input_tokens", pa.int64()),
        pa.field("output_tokens", pa.int64()),
        pa.field("cost_usd", pa.float64()),
        pa.field("latency_s", pa.float64()),
        pa.field("attempts", pa.int64(), nullable=False),
        pa.field("cached", pa.bool_(), nullable=False),
        pa.field("error", pa.string()),
        pa.field("reply", pa.string()),
    ]
)


def evidence_schema(value: pa.DataType) -> pa.Schema:
    """The table of one kind of evidence: one row per sample, with the hash of its inputs."""
    return pa.schema(
        [
            pa.field("sample_id", pa.string(), nullable=False),
            pa.field("value", value),
            pa.field("status", _WORD, nullable=False),
            pa.field("reason", _WORD),
            pa.field("inputs", pa.string(), nullable=False),
            pa.field("signature", _WORD, nullable=False),
        ]
    )


def samples_schema(given: typing.Iterable[str] = ()) -> pa.Schema:
    """The samples table with the evidence columns that the file contains."""
    schema = SAMPLES
    for name in given:
        schema = schema.append(pa.field(name, arrow_type(GIVEN_EVIDENCE[name])))
    return schema


def present(name: str, column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Whether each row has a value for a field."""
    known = pc.is_valid(column)
    if name in FIELDS and FIELDS[name].empty_is_absent:
        known = pc.and_(known, pc.fill_null(pc.greater(pc.list_value_length(column), 0), fill_value=False))
    return known
