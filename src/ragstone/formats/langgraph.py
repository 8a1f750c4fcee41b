"""LangGraph states and other rows with a list of messages that call tools (LangChain, OpenAI, Anthropic)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragstone.data.schema import FIELDS, GIVEN_EVIDENCE
from ragstone.formats.base import RowFormat
from ragstone.formats.sources import Source
from ragstone.formats.tool_calls import calls_tools, exchange_of, read_messages
from ragstone.formats.values import Unfit


class LangGraphFormat(RowFormat):
    """One sample per row: the last question with its answer and steps; other columns have our names."""

    def recognises(self, sources: Sequence[Source]) -> bool:
        """One source in which messages of the first rows call tools."""
        return super().recognises(sources) and calls_tools(sources[0])


def _convert(row: dict[str, Any]) -> dict[str, Any]:
    """The parts of the messages; a column of the same name takes precedence."""
    row = dict(row)
    if "messages" not in row and "question" not in row:
        problem = Unfit("has no messages", "write {messages: [{role, content}, …]} for each conversation")
        return {**row, "question": problem}
    found = exchange_of(read_messages(row.pop("messages", None)))
    return {**found, **{name: value for name, value in row.items() if value is not None}}


FORMAT = LangGraphFormat(
    name="langgraph",
    title="LangGraph states and messages with tool calls",
    columns={"thread_id": "id", "run_id": "id", **{name: name for name in (*FIELDS, *GIVEN_EVIDENCE)}},
    marks=[frozenset({"messages"})],
    convert=_convert,
    given=tuple(GIVEN_EVIDENCE),
    names=dict.fromkeys(("question", "answer", "history", "steps"), "messages"),
)
