"""One row of DIAL's parsed logs: an exchange, a rating of an earlier answer, or nothing that can be used, with the reason."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from ragstone.formats.messages import decode, find_text
from ragstone.formats.times import as_time

RETRIEVAL = "application/x.aidial-rag.retrieval-response+json"
_RATING = re.compile(r"/v1/([^/?]+)/rate\b")
_OTHER_CALLS = re.compile(r"/(?:embeddings|tokenize|truncate_prompt|configuration)\b")
# A part of a day holds what was asked then, in whatever zone; times further off come from a clock that is wrong.
_CLOCK_TOLERANCE = timedelta(days=2)

Say = Callable[[str], None]


@dataclass(frozen=True)
class Rating:
    """Somebody's word on an answer, as DIAL keeps it beside the completions."""

    response_id: str
    liked: bool
    time: str | None = None
    user: str | None = None


@dataclass(frozen=True)
class Unusable:
    """A row of which nothing can be made, and why."""

    reason: str


def read_row(row: Mapping[str, Any], day: date | None, say: Say) -> dict[str, Any] | Rating | Unusable:
    """The values of a sample, a rating, or why it is neither; `say` is told what was left out of a row that is kept."""
    request, response = _mapping(row.get("request")), _mapping(row.get("response"))
    uri = str(request.get("uri") or "")
    body = _mapping(decode(request.get("body")))
    if _RATING.search(uri) or (isinstance(body.get("rate"), bool) and "responseId" in body):
        return _read_rating(body, row, _time(row, request))
    if _OTHER_CALLS.search(uri):
        return Unusable("calls that are no chat")
    status = str(response.get("status") or "200")
    if not status.startswith("2"):
        return Unusable(f"requests that failed with status {status}")
    return _read_exchange(row, request, body, day, say)


def _read_exchange(
    row: Mapping[str, Any], request: Mapping[str, Any], body: Mapping[str, Any], day: date | None, say: Say
) -> dict[str, Any] | Unusable:
    reply = _reply(row)
    message = _first_message(reply)
    question = _text(row.get("question")) or _text(find_text(body.get("messages"), "user"))
    answer = _text(row.get("answer")) or _text(find_text(message.get("content"), "assistant"))
    if not question:
        return Unusable("rows without a question")
    if not answer:
        return Unusable("rows without an answer")
    contexts = _contexts([*_attachments(row.get("attachments")), *_attached_to(message)], say)
    found = {
        "id": _text(reply.get("id")) or _text(row.get("response_id")) or _span(row),
        "question": question,
        "answer": answer,
        "contexts": contexts,
        "documents": _documents(row, body, contexts),
        "metadata": _metadata(row, request, reply, day, say),
    }
    return {name: value for name, value in found.items() if value is not None}


def _read_rating(body: Mapping[str, Any], row: Mapping[str, Any], time: str | None) -> Rating | Unusable:
    answer, liked = body.get("responseId"), body.get("rate")
    if not isinstance(answer, str) or not isinstance(liked, bool):
        return Unusable("ratings without responseId or rate")
    return Rating(answer, liked, time, _nested(row, "user", "id"))


# What was said


def _reply(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """The reply as one JSON object: assembled by the parser, or as it was sent if it was not streamed."""
    assembled = _mapping(decode(row.get("assembled_response")))
    return assembled or _mapping(decode(_mapping(row.get("response")).get("body")))


def _first_message(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = reply.get("choices")
    first = _mapping(choices[0]) if isinstance(choices, list) and choices else {}
    return _mapping(first.get("message"))


# What was retrieved


def _attachments(value: Any) -> list[Mapping[str, Any]]:
    """Attachments as mappings, also where a table holds them as JSON text."""
    items = decode(value)
    items = [items] if isinstance(items, Mapping) else items
    return [found for item in items if (found := _mapping(decode(item)))] if isinstance(items, list) else []


def _attached_to(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The attachments of a message and, after them, those of its stages."""
    custom = _mapping(message.get("custom_content"))
    stages = custom.get("stages")
    found = _attachments(custom.get("attachments"))
    for stage in stages if isinstance(stages, list) else ():
        found += _attachments(_mapping(stage).get("attachments"))
    return found


def _contexts(attachments: Iterable[Mapping[str, Any]], say: Say) -> list[dict[str, Any]] | None:
    """The chunks of the first attachment that holds a retrieval; None if there is none."""
    for attachment in attachments:
        if attachment.get("type") != RETRIEVAL:
            say("attachments of another type")
            continue
        found = _chunks(attachment)
        if isinstance(found, str):
            say(found)
        else:
            return found
    return None


def _chunks(attachment: Mapping[str, Any]) -> list[dict[str, Any]] | str:
    data = attachment.get("data")
    if data is None:
        return (
            "attachments that only name where the chunks are" if attachment.get("url") else "attachments without data"
        )
    try:
        content = json.loads(data) if isinstance(data, str) else data
    except (ValueError, RecursionError):
        return "attachments whose JSON is broken"
    chunks = content.get("chunks") if isinstance(content, Mapping) else None
    if not isinstance(chunks, list) or not all(isinstance(chunk, Mapping) for chunk in chunks):
        return "attachments without a list of chunks"
    return [_chunk(chunk) for chunk in chunks]


def _chunk(chunk: Mapping[str, Any]) -> dict[str, Any]:
    """A chunk in our names; that of a picture has no text, and keeps its place in the ranking."""
    source = _mapping(chunk.get("source"))
    where = source.get("url") or chunk.get("attachment_url") or source.get("display_name")
    return {"text": _text(chunk.get("text")) or "", "source": _text(where)}


def _documents(
    row: Mapping[str, Any], body: Mapping[str, Any], contexts: list[dict[str, Any]] | None
) -> list[str] | None:
    """The documents that the question is about: as the row says, as the user attached them, or as they were retrieved."""
    given = decode(row.get("documents"))
    if isinstance(given, str):
        given = [given]
    if isinstance(given, list) and given:
        return [str(item) for item in given if item is not None]
    messages = body.get("messages")
    for message in messages if isinstance(messages, list) else ():
        custom = _mapping(_mapping(message).get("custom_content"))
        attached = [str(item["url"]) for item in _attachments(custom.get("attachments")) if item.get("url")]
        if attached:
            return list(dict.fromkeys(attached))
    sources = [str(chunk["source"]).partition("#")[0] for chunk in contexts or () if chunk.get("source")]
    return list(dict.fromkeys(sources)) or None


# Who, when, where


def _metadata(
    row: Mapping[str, Any], request: Mapping[str, Any], reply: Mapping[str, Any], day: date | None, say: Say
) -> dict[str, Any]:
    time = _time(row, request)
    if time and day and abs(datetime.fromisoformat(time).date() - day) > _CLOCK_TOLERANCE:
        say("times that are not of their folder's day")
        time = None
    found = {
        "deployment": _text(row.get("deployment")),
        "time": time,
        "day": (day or (datetime.fromisoformat(time).date() if time else None)),
        "chat_id": _nested(row, "chat", "id"),
        "user": _nested(row, "user", "id"),
        "trace_id": _nested(row, "trace", "trace_id"),
        "response_id": _text(reply.get("id")) or _text(row.get("response_id")),
        "model": _text(reply.get("model")),
    }
    return {name: str(value) for name, value in found.items() if value is not None}


def _time(row: Mapping[str, Any], request: Mapping[str, Any]) -> str | None:
    value = next((row[name] for name in ("time", "timestamp", "date_time") if row.get(name) is not None), None)
    return as_time(request.get("time") if request.get("time") is not None else value)


def _span(row: Mapping[str, Any]) -> str | None:
    parts = [_nested(row, "trace", "trace_id"), _nested(row, "trace", "core_span_id")]
    return "-".join(part for part in parts if part) or None


def _nested(row: Mapping[str, Any], outer: str, inner: str) -> str | None:
    """`chat.id` as a column of that name, or as a part of the column `chat`."""
    flat = row.get(f"{outer}.{inner}")
    if flat is not None:
        return _text(flat)
    value = decode(row.get(outer))
    return _text(value.get(inner)) if isinstance(value, Mapping) else _text(value) if inner == "id" else None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: Any) -> str | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    return value if isinstance(value, str) and value.strip() else None
