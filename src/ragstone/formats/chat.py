"""Chat messages, as OpenAI's API and fine-tuning files have them, and ShareGPT's: one sample per answered user message."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from ragstone.data.usage import number_of
from ragstone.formats.base import Draft, RowFormat, name_pairs
from ragstone.formats.column_names import WEAK, read_name
from ragstone.formats.common_fields import one_text, unpack
from ragstone.formats.conversations import (
    CONVERSATION_NAMES,
    chunk_field,
    conversation_rows,
    is_message,
    read_chunks,
    read_turns,
    unknown_role,
)
from ragstone.formats.reports import Report
from ragstone.formats.sources import Source
from ragstone.formats.tool_calls import calls_tools
from ragstone.formats.usage import USAGE_NAMES
from ragstone.formats.values import TIME_NAMES, Unfit, as_time

_MESSAGES = ("messages", "conversations")
_NAMES = (*CONVERSATION_NAMES, "id")
# The order of the messages of a log that has one message per row.
_ORDER = ("turn", "turn_id", "turn_number", "message_index", "index", "seq", "position", "order", *TIME_NAMES)
_REFERENCES = ("reference", "references", "ground_truth", "expected_output")
_ROWS_LOOKED_AT, _MOSTLY = 200, 0.8
# With one of these names, the messages belong to a row of another format.
_OTHERS = {"question", "answer", "user_input", "inputs", "request", "input", "query", "assembled_response"}


class ChatFormat(RowFormat):
    """Rows of messages; files with questions of their own are not of this format."""

    def recognises(self, sources: Sequence[Source]) -> bool:
        """Whether the rows have messages that call no tools, and no question or answer of their own."""
        if len(sources) != 1 or sources[0].keys() & _OTHERS:
            return False
        return self._has_message_rows(sources[0]) or (super().recognises(sources) and not calls_tools(sources[0]))

    @staticmethod
    def _has_message_rows(source: Source) -> bool:
        """Whether each of the first rows is one message, as in a log of a chat or a file with one conversation."""
        if source.kind in ("folder", "text") or source.keys() & set(_MESSAGES):
            return False
        rows = source.head(_ROWS_LOOKED_AT)
        return len(rows) > 1 and sum(map(is_message, rows)) > _MOSTLY * len(rows)

    def read(self, sources: Sequence[Source], report: Report) -> Iterator[Draft]:
        """One draft per exchange. Rows of one message each are put together by the name of their conversation."""
        [source] = sources
        is_flat, made = self._has_message_rows(source), Counter[str]()
        first = [row.values for row in islice(source.rows(Report()), _ROWS_LOOKED_AT)]
        field = chunk_field(first if is_flat else [one for row in first for one in _messages(row)])
        if field:
            report.note(f"the chunks of messages are read from '{field}'")
        if not is_flat:
            for row in source.rows(report):
                for each in _expand_row(row.values, made, field):
                    yield Draft(row.where, self.rename(each, source.mapped), self._names_in(row.values))
            return
        known: dict[str, list[dict[str, Any]]] = {}
        for row in source.rows(report):
            name = next((row.values[key] for key in CONVERSATION_NAMES if key in row.values), "")
            known.setdefault(str(name), []).append(row.values)
        unanswered: list[str] = []
        for name, rows in known.items():
            same = {key: value for key, value in rows[0].items() if all(row.get(key) == value for row in rows[1:])}
            about = {key: value for key, value in same.items() if key not in CONVERSATION_NAMES}
            for each in _expand({**about, "messages": sorted(rows, key=_place), "conversation": name}, made, field):
                if isinstance(each["question"], Unfit) and len(known) > 1:
                    unanswered.append(name)
                else:
                    yield Draft(f"conversation {name}".rstrip(), self.rename(each), self.names)
        report.note_all("conversations without an answered question", unanswered, "they are left out")


def _place(row: dict[str, Any]) -> tuple[float, str]:
    """The place of a message by its number or else its time; rows without either stay in the order of the file."""
    value = next((row[key] for key in _ORDER if row.get(key) not in (None, "")), None)
    number = number_of(value)
    return (0.0, as_time(value) or "") if number is None else (number, "")


def messages_column(source: Source) -> str | None:
    """The column of other names whose cells are conversations; None if a column may be the question or the answer."""
    rows, names = source.head(_ROWS_LOOKED_AT), {name: read_name(name) for name in source.columns}
    if any(name and name.field in ("question", "answer") and name.strength > WEAK for name in names.values()):
        return None
    for column in names:
        cells = [cell for row in rows if (cell := unpack(row.get(column)))]
        roles = [{turn["role"] for turn in read_turns(cell)} for cell in cells]
        if rows and sum({"user", "assistant"} <= some for some in roles) > _MOSTLY * len(rows):
            return column
    return None


def _messages(row: dict[str, Any]) -> list[Any]:
    found = unpack(next((row[name] for name in _MESSAGES if name in row), None))
    return found if isinstance(found, list) else []


def _expand_row(row: dict[str, Any], made: Counter[str], field: str | None) -> list[dict[str, Any]]:
    """The exchanges of a row; a role that is not known is a problem, because its message may be a question or an answer."""
    if role := next((found for key in _MESSAGES if (found := unknown_role(row.get(key)))), None):
        return [
            {"question": Unfit(f"has a message with the role {role!r}", "a role is user, assistant, system or tool")}
        ]
    return _expand(row, made, field)


def _expand(row: dict[str, Any], made: Counter[str], field: str | None) -> list[dict[str, Any]]:
    """The exchanges of a conversation; contexts and references of the row belong to the last one."""
    row = {key: value for key, value in row.items() if value is not None}
    key = next((name for name in _MESSAGES if name in row), _MESSAGES[0])
    turns = read_turns(row.pop(key, None), field)
    name = next((row.pop(key) for key in _NAMES if key in row), None)
    rows = conversation_rows(turns, name, made)
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


FORMAT = ChatFormat(
    name="chat",
    title="chat messages of OpenAI's API, or ShareGPT conversations",
    columns=name_pairs("id question answer contexts references history metadata"),
    marks=[frozenset({name}) for name in _MESSAGES],
    names=dict.fromkeys(("question", "answer", "history"), "messages"),
)
