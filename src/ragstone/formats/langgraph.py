"""LangGraph states and other rows with a list of messages that call tools (LangChain, OpenAI, Anthropic)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from ragstone.data.schema import FIELDS, GIVEN_EVIDENCE
from ragstone.formats.base import RowFormat
from ragstone.formats.reports import Report
from ragstone.formats.sources import Source
from ragstone.formats.tool_calls import exchange_of, read_messages

_ROWS_LOOKED_AT = 20


class LangGraphFormat(RowFormat):
    """One sample per row: the last question with its answer and steps; other columns have our names."""

    def recognises(self, sources: Sequence[Source]) -> bool:
        """One source in which messages of the first rows call tools."""
        if not super().recognises(sources):
            return False
        rows = itertools.islice(sources[0].rows(Report()), _ROWS_LOOKED_AT)
        messages = (message for row in rows for message in read_messages(row.values.get("messages")))
        return any(message.calls or message.results for message in messages)


def _convert(row: dict[str, Any]) -> dict[str, Any]:
    """The parts of the messages; a column of the same name takes precedence."""
    row = dict(row)
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
