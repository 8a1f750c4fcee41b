"""RAGAS 0.2 and newer: `SingleTurnSample` and `MultiTurnSample` rows, and `EvaluationDataset` files."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ragstone.formats.base import name_pairs
from ragstone.formats.common_fields import join_ids, one_text
from ragstone.formats.conversations import conversation_rows, read_turns
from ragstone.formats.row_writer import WritableRowFormat, beside, ids_of, relevant_ids, renamed, texts_of
from ragstone.formats.values import Unfit, plain

# What belongs to the last turn of a conversation.
_OF_LAST = (
    *("retrieved_contexts", "retrieved_context_ids", "reference", "reference_contexts", "reference_context_ids"),
    "rubrics",
)


def _convert(row: dict[str, Any]) -> dict[str, Any]:
    """Joins chunks with their ids."""
    row = join_ids(row, "retrieved_contexts", ("retrieved_context_ids",))
    row["reference"] = one_text(row.get("reference"))
    return row


def _expand(row: dict[str, Any], made: Counter[str]) -> list[dict[str, Any]]:
    """One row per answered user message of a conversation; the reference belongs to the last one."""
    messages = plain(row.get("user_input"))
    if not isinstance(messages, list):
        return [row]
    turns = read_turns(messages)
    if turns and turns[-1]["role"] == "user" and isinstance(row.get("response"), str):
        turns.append({"role": "assistant", "text": row["response"]})
    rows = conversation_rows(turns, row.get("id"), made)
    if not rows:
        problem = f"is a conversation of {len(messages)} messages without an answered question"
        return [{**row, "user_input": Unfit(problem, "write {type: human, content} and {type: ai, content}")}]
    rest = {key: value for key, value in row.items() if key not in ("id", "user_input", "response", *_OF_LAST)}
    named = [{_THEIRS.get(name, name): value for name, value in found.items()} for found in rows]
    last = {key: row[key] for key in _OF_LAST if row.get(key) is not None}
    return [*({**rest, **found} for found in named[:-1]), {**rest, **named[-1], **last}]


_THEIRS = {"question": "user_input", "answer": "response", "contexts": "retrieved_contexts"}


def _as_row(sample: dict[str, Any]) -> dict[str, Any]:
    """A SingleTurnSample; RAGAS has one reference."""
    row = {
        **renamed(sample, "id question:user_input answer:response reference_contexts"),
        "retrieved_contexts": texts_of(sample.get("contexts")),
        "retrieved_context_ids": ids_of(sample.get("contexts")),
        "reference": next(iter(sample.get("references") or ()), None),
        "reference_context_ids": relevant_ids(sample.get("relevance")),
    }
    return beside(row, sample.get("metadata"))


FORMAT = WritableRowFormat(
    name="ragas",
    title="RAGAS 0.2 and newer",
    columns=name_pairs(
        "id user_input:question response:answer retrieved_contexts:contexts reference:references reference_contexts "
        "reference_context_ids:relevance history"
    ),
    marks=[frozenset({"user_input"})],
    convert=_convert,
    expand=_expand,
    as_row=_as_row,
    writes=frozenset({"question", "answer", "contexts", "references", "reference_contexts", "relevance", "metadata"}),
)
