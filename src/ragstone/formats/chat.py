"""Chat messages, as OpenAI's API and fine-tuning files have them, and ShareGPT's: one sample per answered user message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragstone.formats.base import RowFormat
from ragstone.formats.common_fields import one_text
from ragstone.formats.conversations import conversation_rows, read_chunks, read_turns
from ragstone.formats.sources import Source
from ragstone.formats.tool_calls import calls_tools
from ragstone.formats.usage import USAGE_NAMES
from ragstone.formats.values import Unfit

_MESSAGES = ("messages", "conversations")
_NAMES = ("conversation_id", "conversation", "session_id", "thread_id", "id")
_REFERENCES = ("reference", "references", "ground_truth", "expected_output")
# With one of these names, the messages belong to a row of another format.
_OTHERS = {"question", "answer", "user_input", "inputs", "request", "input", "query", "assembled_response"}


class ChatFormat(RowFormat):
    """Rows of messages; files with questions of their own are not of this format."""

    def recognises(self, sources: Sequence[Source]) -> bool:
        """Whether the rows have messages that call no tools, and no question or answer of their own."""
        if not super().recognises(sources) or sources[0].keys() & _OTHERS:
            return False
        return not calls_tools(sources[0])


def _expand(row: dict[str, Any]) -> list[dict[str, Any]]:
    """The exchanges of a conversation; contexts and references of the row belong to the last one."""
    row = {key: value for key, value in row.items() if value is not None}
    key = next((name for name in _MESSAGES if name in row), _MESSAGES[0])
    turns = read_turns(row.pop(key, None))
    name = next((row.pop(key) for key in _NAMES if key in row), None)
    rows = conversation_rows(turns, name)
    if not rows:
        problem = Unfit("has no user message with a reply", "write [{role: user, content}, {role: assistant, content}]")
        return [{"question": problem}]
    references = next((row.pop(key) for key in _REFERENCES if key in row), None)
    if references is not None:
        rows[-1]["references"] = one_text(references)
    if (contexts := read_chunks(row.pop("contexts", None))) is not None:
        rows[-1]["contexts"] = contexts
    # Time, tokens and price of the row are those of its last answer.
    other = {key: value for key, value in row.items() if key not in USAGE_NAMES}
    return [*({**other, **found} for found in rows[:-1]), {**row, **rows[-1]}]


_FIELDS = ("id", "question", "answer", "contexts", "references", "history", "metadata")
FORMAT = ChatFormat(
    name="chat",
    title="chat messages of OpenAI's API, or ShareGPT conversations",
    columns={name: name for name in _FIELDS},
    marks=[frozenset({name}) for name in _MESSAGES],
    expand=_expand,
    names=dict.fromkeys(("question", "answer", "history"), "messages"),
)
