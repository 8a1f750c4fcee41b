"""The Arrow schema of every table, and the meaning of each field of a sample."""

from __future__ import annotations

import functools
import typing
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragstone.data.codec import arrow_type
from ragstone.data.types import Claim, Sample
from ragstone.data.verdict import Verdict


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
    "answerable": Field("whether the documents contain the answer", _HINTS["answerable"]),
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
    "answer_claims_in_reference": list[Verdict],
    "reference_claims_in_answer": list[Verdict],
    "answer_claims_in_contexts": list[list[Verdict]],
    "reference_claims_in_contexts": list[list[Verdict]],
    "answer_claims_in_all_contexts": list[Verdict],
    "reference_claims_in_all_contexts": list[Verdict],
    "verdict_agreement": list[float],
    "standalone_question": str,
    "answer_claims_in_history": list[Verdict],
    "reference_entities": list[str],
    "reference_entities_in_contexts": list[bool],
    "answer_claims_in_corpus": list[Verdict],
    # Per fact: support, partial_support, not_support.
    "nugget_support": list[Verdict],
    "generated_questions": list[str],
    "noncommittal": bool,
    # Sentences of the chunks, numbered from 0 over all of them.
    "needed_sentences": list[int],
    "chunk_usefulness": list[bool],
}

SAMPLES = pa.schema([pa.field(name, field.type, nullable=name != "id") for name, field in FIELDS.items()])

_TYPES = {"text": pa.string(), "number": pa.float64(), "count": pa.int64(), "flag": pa.bool_()}
_TYPES["word"] = pa.dictionary(pa.int32(), pa.string())


def _table(**columns: str) -> pa.Schema:
    """A schema from the names of types; a type in capitals may not be null."""
    return pa.schema([pa.field(name, _TYPES[kind.lower()], kind.islower()) for name, kind in columns.items()])


SCORES = _table(sample_id="TEXT", metric="WORD", value="number", status="WORD", reason="word", signature="WORD")
SUMMARY = _table(
    metric="TEXT",
    slice="TEXT",
    mean="number",
    ci_low="number",
    ci_high="number",
    n_ok="COUNT",
    n_skipped="COUNT",
    n_failed="COUNT",
    reason="text",
)
# Every model call; empty if no metric uses a model. `reply` is the unchanged reply of the judge model.
CALLS = _table(
    sample_id="TEXT",
    evidence="TEXT",
    prompt="TEXT",
    prompt_hash="TEXT",
    model="TEXT",
    input_tokens="count",
    output_tokens="count",
    cost_usd="number",
    latency_s="number",
    attempts="COUNT",
    cached="FLAG",
    error="text",
    reply="text",
)


def evidence_schema(value: pa.DataType) -> pa.Schema:
    """The table of one kind of evidence: one row per sample, with the hash of its inputs."""
    table = _table(sample_id="TEXT", status="WORD", reason="word", inputs="TEXT", signature="WORD")
    return table.insert(1, pa.field("value", value))


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


def unknown_texts(contexts: pa.ListArray) -> np.ndarray:
    """The number of chunks of each row whose text is unknown: it is empty, and the chunk has an id, a source or an image."""
    chunks = contexts.flatten()
    parts = [chunks.field(name) for name in ("id", "source", "image") if chunks.type.get_field_index(name) >= 0]
    named = functools.reduce(pc.or_, map(pc.is_valid, parts))
    return _count_in_rows(contexts, pc.and_(pc.equal(chunks.field("text"), ""), named))


def images_in_rows(contexts: pa.ListArray, with_text: bool = False) -> np.ndarray:
    """The number of chunks of each row that are an image without a text, or with one."""
    chunks = contexts.flatten()
    if chunks.type.get_field_index("image") < 0:  # a run of an earlier version
        return np.zeros(len(contexts))
    is_one = pc.equal(pc.equal(chunks.field("text"), ""), not with_text)
    return _count_in_rows(contexts, pc.and_(is_one, pc.is_valid(chunks.field("image"))))


def _count_in_rows(contexts: pa.ListArray, counted: pa.Array) -> np.ndarray:
    lengths = contexts.value_lengths().fill_null(0).to_numpy()
    rows, weights = np.repeat(np.arange(len(contexts)), lengths), counted.to_numpy(zero_copy_only=False)
    return np.bincount(rows, weights=weights, minlength=len(contexts))


def unknown_reason(unknown: float, total: int, images: float = 0, reader: str = "this metric") -> str:
    """The reason why a metric of texts skips a row. `images` of the unknown texts are images, which `reader` does not see."""
    if images and images == unknown:
        are = "is an image" if images == 1 else "are images"
        return f"{images:.0f} of {total} retrieved chunks {are} without a text, and {reader} does not see images"
    return f"the text of {unknown:.0f} of {total} retrieved chunks is unknown (known by id or as an image only)"
