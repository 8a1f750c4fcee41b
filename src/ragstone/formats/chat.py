"""Chat messages, as OpenAI's API and fine-tuning files have them, and ShareGPT's: one sample per answered user message."""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice, pairwise
from typing import Any

from ragstone.data.usage import number_of
from ragstone.errors import UnknownColumnsError
from ragstone.formats.base import Draft, RowFormat, name_pairs
from ragstone.formats.column_guess import map_options
from ragstone.formats.column_map import listed
from ragstone.formats.column_names import WEAK, read_name
from ragstone.formats.common_fields import one_text, unpack
from ragstone.formats.conversations import (
    CONVERSATION_NAMES,
    ROLES,
    SPEAKERS,
    TEXTS,
    chunk_field,
    conversation_rows,
    is_message,
    read_chunks,
    read_roles,
    read_turns,
    speaker_names,
)
from ragstone.formats.file_rows import Row
from ragstone.formats.reports import Report
from ragstone.formats.sources import Source
from ragstone.formats.tool_calls import calls_tools
from ragstone.formats.usage import USAGE_NAMES
from ragstone.formats.values import TIME_NAMES, Unfit, as_time

_Row = dict[str, Any]
_Read = Callable[[Any], list[_Row]]
_MESSAGES = ("messages", "conversations")
_NAMES = (*CONVERSATION_NAMES, "id")
# The order of the messages of a log that has one message per row.
_ORDER = ("turn", "turn_id", "turn_number", "message_index", "index", "seq", "position", "order", *TIME_NAMES)
_REFERENCES = ("reference", "references", "ground_truth", "expected_output")
_ROWS_LOOKED_AT, _MOSTLY, _OFTEN = 200, 0.8, 0.5
_UNPAIRED = {"user": "user messages without a reply", "assistant": "replies followed by another reply"}
# With one of these names, the messages belong to a row of another format.
_OTHERS = {"question", "answer", "user_input", "inputs", "request", "input", "query", "assembled_response"}


class ChatFormat(RowFormat):
    """Rows of messages; files with questions of their own are not of this format."""

    def recognises(self, sources: Sequence[Source]) -> bool:
        """Whether the rows have messages that call no tools, and no question or answer of their own."""
        if len(sources) != 1 or sources[0].keys() & _OTHERS:
            return False
        return _has_message_rows(sources[0]) or (super().recognises(sources) and not calls_tools(sources[0]))

    def read(self, sources: Sequence[Source], report: Report) -> Iterator[Draft]:
        """One draft per exchange. Rows of one message each are put together by the name of their conversation."""
        [source] = sources
        is_flat, made, field = _has_message_rows(source), Counter[str](), chunk_field(_messages_of(source))
        if not is_flat:
            check_assistant(source)
        # The names of users may be anywhere in the file.
        roles = read_roles(_messages_of(source, None if source.assistant else _ROWS_LOOKED_AT), source.assistant or "")
        read = partial(read_turns, field=field, roles=roles)
        if field:
            report.note(f"the chunks of messages are read from '{field}'")
        for role in ("user", "assistant"):
            if words := [repr(word) for word in roles if roles[word] == role != ROLES.get(word)]:
                report.note(f"{listed(words)} {'is' if len(words) == 1 else 'are'} read as the {role}")
        if is_flat:
            yield from self._read_log(source, report, read, roles)
            return
        for row in source.rows(report):
            for each in _expand_row(row.values, made, read, roles):
                yield Draft(row.where, self.rename(each, source.mapped), self._names_in(row.values))

    def _read_log(self, source: Source, report: Report, read: _Read, roles: Mapping[str, str]) -> Iterator[Draft]:
        made = Counter[str]()
        known, left_out = _by_conversation(source.rows(report)), defaultdict[str, list[str]](list)
        for name, ordered in known.items():
            rows = [row.values for row in ordered]
            same = {key: value for key, value in rows[0].items() if all(row.get(key) == value for row in rows[1:])}
            about = {key: value for key, value in same.items() if key not in CONVERSATION_NAMES}
            for reason, where in _faults(ordered, roles, report):
                left_out[reason].append(where)
            for each in _expand({**about, "messages": rows, "conversation": name}, made, read):
                if isinstance(each["question"], Unfit) and len(known) > 1:
                    left_out["conversations without an answered question"].append(name)
                else:
                    yield Draft(f"conversation {name}".rstrip(), self.rename(each), self.names)
        for reason, names in left_out.items():
            report.note_all(reason, names, "they are left out")


def _faults(rows: Sequence[Row], roles: Mapping[str, str], report: Report) -> Iterator[tuple[str, str]]:
    """Messages of a conversation without a counterpart or a text, and where; no field for a text is a problem."""
    spoken = []
    for where, values in rows:
        if turns := read_turns([values], roles=roles):
            spoken.append((turns[0]["role"], where))
        elif is_message({**values, "text": "?"}, roles) and values.keys().isdisjoint((*TEXTS, "tool_calls")):
            report.problem(where, "is a message without a text", hint=f"it has {', '.join(values)}")
        elif not is_message(values, roles):
            yield "messages without a known role or a text", where
    for (role, where), (then, _) in pairwise([*spoken, ("user", "")]):
        if role == then and role in _UNPAIRED:
            yield _UNPAIRED[role], where


def _has_message_rows(source: Source) -> bool:
    """Whether each of the first rows is one message, as in a log of a chat or a file with one conversation."""
    if source.kind in ("folder", "text") or source.keys() & set(_MESSAGES):
        return False
    rows = _messages_of(source)
    roles = read_roles(rows, source.assistant or "")
    return len(rows) > 1 and sum(is_message(row, roles) for row in rows) > _MOSTLY * len(rows)


def check_assistant(source: Source) -> None:
    """Raise if the rows are messages of conversations, and no role is known to be the assistant's."""
    keys = source.keys()
    if not keys & {*CONVERSATION_NAMES} or not keys & {*TEXTS} or keys & {*_MESSAGES} or _asks(keys - {*TEXTS}):
        return
    talks = _by_conversation(islice(source.rows(Report()), _ROWS_LOOKED_AT)).values()
    _ask_assistant(source, [[row.values for row in talk] for talk in talks], keys - {*_NAMES, *TEXTS, *_ORDER})


def _ask_assistant(
    source: Source, talks: Sequence[Sequence[Mapping[str, Any]]], columns: Iterable[str], **more: str
) -> None:
    for column in sorted(columns, key=lambda name: (name not in SPEAKERS, name)):
        pairs = [[str(one.get(column) or "").lower() for one in two] for talk in talks for two in pairwise(talk)]
        times = Counter(word for pair in pairs if all(pair) and pair[0] != pair[1] for word in pair)
        # The assistant speaks before or after each of the others; of two that do, it is rather the second one.
        likely = max(reversed(times), key=lambda word: (times[word], word not in ROLES), default="")
        if likely[:1].isalpha() and times[likely] > (_OFTEN if column in SPEAKERS else _MOSTLY) * len(pairs):
            option = map_options({**more, **({} if column in SPEAKERS else {"role": column}), "assistant": likely})
            roles = listed(list(dict.fromkeys(word for pair in pairs for word in pair)))
            text = f"{source} looks like a chat log with the roles {roles}; which one is the assistant? {option}"
            raise UnknownColumnsError(text, shlex.split(option))


def _by_conversation(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """The messages of each conversation, in order."""
    found = defaultdict[str, list[Row]](list)
    for row in rows:
        found[str(next((row.values[key] for key in CONVERSATION_NAMES if key in row.values), ""))].append(row)
    return {name: sorted(some, key=lambda row: _place(row.values)) for name, some in found.items()}


def _messages_of(source: Source, most: int | None = _ROWS_LOOKED_AT) -> Sequence[Mapping[str, Any]]:
    """The messages in the first rows, or in all."""
    rows = [row.values for row in islice(source.rows(Report()), most)]
    cells = [unpack(row[name]) for row in rows for name in _MESSAGES if name in row]
    return [one for cell in cells if isinstance(cell, list) for one in cell if isinstance(one, Mapping)] or rows


def _place(row: dict[str, Any]) -> tuple[float, str]:
    """The place of a message by its number or else its time; rows without either stay in the order of the file."""
    value = next((row[key] for key in _ORDER if row.get(key) not in (None, "")), None)
    number = number_of(value)
    return (0.0, as_time(value) or "") if number is None else (number, "")


def _asks(columns: Iterable[str]) -> bool:
    """Whether the name of a column means the question or the answer."""
    return any(one and one.field in ("question", "answer") and one.strength > WEAK for one in map(read_name, columns))


def messages_column(source: Source) -> str | None:
    """The column of other names whose cells are conversations, if none may be the question; raises if no role is the assistant's."""
    rows = source.head(_ROWS_LOOKED_AT)
    asking: dict[str, list[list[Mapping[str, Any]]]] = {}
    for column in () if _asks(source.columns) else source.columns:
        cells = [cell for row in rows if (cell := unpack(row.get(column)))]
        talks = [[one for one in cell if isinstance(one, Mapping)] for cell in cells if isinstance(cell, list)]
        known = read_roles([one for talk in talks for one in talk], source.assistant or "")
        found = [{turn["role"] for turn in read_turns(cell, roles=known)} for cell in cells]
        if rows and sum({"user", "assistant"} <= some for some in found) > _MOSTLY * len(rows):
            return column
        if sum(any(not {*TEXTS}.isdisjoint(one) for one in talk) for talk in talks) > _MOSTLY * len(rows):
            asking[column] = talks
    for column, talks in asking.items():
        # Chunks have types, too.
        _ask_assistant(source, talks, {*SPEAKERS} - {"type"}, messages=column)
    return None


def _expand_row(row: _Row, made: Counter[str], read: _Read, roles: Mapping[str, str]) -> list[_Row]:
    """The exchanges of a row; a role that is not known is a problem, because its message may be a question or an answer."""
    names = [name for key in _MESSAGES for name in speaker_names(row.get(key))]
    if role := next((name for name in names if name.lower() not in roles), None):
        hint = f"; if one of {listed(names)} is the assistant and the others are users, add --map assistant=NAME"
        problem = Unfit(f"has a message with the role {role!r}", f"a role is user, assistant, system or tool{hint}")
        return [{"question": problem}]
    return _expand(row, made, read)


def _expand(row: _Row, made: Counter[str], read: _Read) -> list[_Row]:
    """The exchanges of a conversation; contexts and references of the row are those of the last one, or contexts of each."""
    row = {key: value for key, value in row.items() if value is not None}
    key = next((name for name in _MESSAGES if name in row), _MESSAGES[0])
    turns = read(row.pop(key, None))
    name = next((row.pop(key) for key in _NAMES if key in row), None)
    rows = conversation_rows(turns, name, made)
    if not rows:
        problem = Unfit("has no user message with a reply", "write [{role: user, content}, {role: assistant, content}]")
        return [{"question": problem}]
    if (references := next((row.pop(key) for key in _REFERENCES if key in row), None)) is not None:
        rows[-1]["references"] = one_text(references)
    given = unpack(row.pop("contexts", row.pop("contexts_by_turn", None)))
    each = isinstance(given, list) and len(given) == len(rows) and all(isinstance(one, list) for one in given)
    for found, some in zip(rows if each else rows[-1:], given if each else [given], strict=True):
        if (contexts := read_chunks(some)) is not None:
            found["contexts"] = contexts
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
