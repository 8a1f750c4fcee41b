"""DIAL's parsed logs: requests and replies in folders per deployment and day; one sample per exchange.

A row is an exchange, a rating of an earlier answer, or unusable. Unusable rows and unreadable parts are counted by reason
and left out.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from ragstone.data.codec import load_json
from ragstone.data.usage import USAGE
from ragstone.errors import InputError, StorageError
from ragstone.formats.base import Draft
from ragstone.formats.conversations import read_turns, split_last
from ragstone.formats.log_parts import LogPart, Selection, find_parts
from ragstone.formats.messages import decode, find_text
from ragstone.formats.reports import Report
from ragstone.formats.sources import Source
from ragstone.formats.usage import find_usage
from ragstone.formats.values import as_time
from ragstone.storage.places import Place

RETRIEVAL = "application/x.aidial-rag.retrieval-response+json"
# DIAL's RAG attaches each cited chunk as text, too.
_CITED = ("text/markdown", "text/plain", None)
_CITATION = re.compile(r"\s*\[\d+\]")
_RATING = re.compile(r"/v1/([^/?]+)/rate\b")
_OTHER_CALLS = re.compile(r"/(?:embeddings|tokenize|truncate_prompt|configuration)\b")
# A part contains the requests of one day in any time zone; times further away come from a wrong clock.
_CLOCK_TOLERANCE = timedelta(days=2)

Note = Callable[[str], None]


@dataclass(frozen=True)
class Rating:
    """A user's rating of an answer, which DIAL logs as a separate request."""

    response_id: str
    liked: bool
    time: str | None = None
    user: str | None = None


@dataclass(frozen=True)
class Unusable:
    """A row that cannot be used, with the reason."""

    reason: str


def read_row(row: Mapping[str, Any], day: date | None, note: Note) -> dict[str, Any] | Rating | Unusable:
    """The values of a sample, a rating, or the reason why it is neither; `note` receives the parts left out of a row."""
    request, response = _mapping(row.get("request")), _mapping(row.get("response"))
    uri = str(request.get("uri") or "")
    body = _mapping(decode(request.get("body")))
    if _RATING.search(uri) or (isinstance(body.get("rate"), bool) and "responseId" in body):
        answer, liked = body.get("responseId"), body.get("rate")
        if not isinstance(answer, str) or not isinstance(liked, bool):
            return Unusable("ratings without responseId or rate")
        return Rating(answer, liked, _time(row, request), _nested(row, "user", "id"))
    if _OTHER_CALLS.search(uri):
        return Unusable("calls that are not chats")
    status = str(response.get("status") or "200")
    if not status.startswith("2"):
        return Unusable(f"requests that failed with status {status}")
    return _read_exchange(row, request, body, day, note)


def _read_exchange(
    row: Mapping[str, Any], request: Mapping[str, Any], body: Mapping[str, Any], day: date | None, note: Note
) -> dict[str, Any] | Unusable:
    # Assembled by the parser, or the body if it was not streamed.
    assembled = _mapping(decode(row.get("assembled_response")))
    reply = assembled or _mapping(decode(_mapping(row.get("response")).get("body")))
    choices = reply.get("choices")
    message = _mapping(_mapping(choices[0]).get("message")) if isinstance(choices, list) and choices else {}
    question = _text(row.get("question")) or _text(find_text(body.get("messages"), "user"))
    answer = _text(row.get("answer")) or _text(find_text(message.get("content"), "assistant"))
    if not question:
        return Unusable("rows without a question")
    if not answer:
        return Unusable("rows without an answer")
    contexts = _contexts([*_attachments(row.get("attachments")), *_attached_to(message)], note)
    span = [_nested(row, "trace", "trace_id"), _nested(row, "trace", "core_span_id")]
    values = {
        "id": _text(reply.get("id")) or _text(row.get("response_id")) or "-".join(filter(None, span)) or None,
        "question": question,
        "answer": answer,
        "contexts": contexts,
        "history": split_last(_turns(body))[1],
        "documents": _documents(row, body, contexts),
        "metadata": _metadata(row, request, reply, day, note),
    }
    return {name: value for name, value in values.items() if value is not None}


def _turns(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The messages of a request; answers have the chunks that were attached to them."""
    messages = body.get("messages")
    found = []
    for message in messages if isinstance(messages, list) else ():
        contexts = _contexts(_attached_to(message), lambda _: None) if isinstance(message, Mapping) else None
        found += [{**turn, **({"contexts": contexts} if contexts else {})} for turn in read_turns([message])]
    return found


def _attachments(value: Any) -> list[Mapping[str, Any]]:
    """Attachments as mappings, also from JSON text."""
    items = decode(value)
    items = [items] if isinstance(items, Mapping) else items
    return [found for item in items if (found := _mapping(decode(item)))] if isinstance(items, list) else []


def _attached_to(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The attachments of a message, then those of its stages."""
    custom = _mapping(message.get("custom_content"))
    stages = custom.get("stages")
    found = _attachments(custom.get("attachments"))
    for stage in stages if isinstance(stages, list) else ():
        found += _attachments(_mapping(stage).get("attachments"))
    return found


def _contexts(attachments: Iterable[Mapping[str, Any]], note: Note) -> list[dict[str, Any]] | None:
    """The chunks of the first retrieval attachment, otherwise the cited texts; None if there are none."""
    cited: list[dict[str, Any]] = []
    for attachment in attachments:
        if attachment.get("type") != RETRIEVAL:
            if (chunk := _cited_chunk(attachment)) is None:
                note("attachments of another type")
            elif chunk not in cited:
                cited.append(chunk)
            continue
        chunks = _chunks(attachment)
        if not isinstance(chunks, str):
            return chunks
        note(chunks)
    return cited or None


def _cited_chunk(attachment: Mapping[str, Any]) -> dict[str, Any] | None:
    """A chunk attached as text of its own, with a reference or a title such as "[1] fares.pdf"."""
    text, source = _text(attachment.get("data")), _text(attachment.get("reference_url"))
    title = _text(attachment.get("title")) or ""
    if attachment.get("type") not in _CITED or text is None or not (source or _CITATION.match(title)):
        return None
    return {"text": text, "source": source or _CITATION.sub("", title).strip() or None}


def _chunks(attachment: Mapping[str, Any]) -> list[dict[str, Any]] | str:
    data = attachment.get("data")
    if data is None:
        return "attachments with a link in place of chunks" if attachment.get("url") else "attachments without data"
    try:
        content = load_json(data) if isinstance(data, str) else data
    except (ValueError, RecursionError):
        return "attachments whose JSON is broken"
    chunks = content.get("chunks") if isinstance(content, Mapping) else None
    if not isinstance(chunks, list) or not all(isinstance(chunk, Mapping) for chunk in chunks):
        return "attachments without a list of chunks"
    return [_chunk(chunk) for chunk in chunks]


def _chunk(chunk: Mapping[str, Any]) -> dict[str, Any]:
    """A chunk with our names; the chunk of a picture has no text and keeps its rank."""
    source = _mapping(chunk.get("source"))
    where = source.get("url") or chunk.get("attachment_url") or source.get("display_name")
    return {"text": _text(chunk.get("text")) or "", "source": _text(where)}


def _documents(
    row: Mapping[str, Any], body: Mapping[str, Any], contexts: list[dict[str, Any]] | None
) -> list[str] | None:
    """The documents of the question: from the row, the user's attachments, or the retrieved chunks."""
    listed = decode(row.get("documents"))
    if isinstance(listed, str):
        listed = [listed]
    if isinstance(listed, list) and listed:
        return [str(item) for item in listed if item is not None]
    messages = body.get("messages")
    for message in messages if isinstance(messages, list) else ():
        custom = _mapping(_mapping(message).get("custom_content"))
        attached = [str(item["url"]) for item in _attachments(custom.get("attachments")) if item.get("url")]
        if attached:
            return list(dict.fromkeys(attached))
    sources = [str(chunk["source"]).partition("#")[0] for chunk in contexts or () if chunk.get("source")]
    return list(dict.fromkeys(sources)) or None


def _metadata(
    row: Mapping[str, Any], request: Mapping[str, Any], reply: Mapping[str, Any], day: date | None, note: Note
) -> dict[str, Any]:
    time = _time(row, request)
    if time and day and abs(datetime.fromisoformat(time).date() - day) > _CLOCK_TOLERANCE:
        note("times outside their folder's day")
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
    return {name: str(value) for name, value in found.items() if value is not None} | _usage(row, request, reply)


def _usage(row: Mapping[str, Any], request: Mapping[str, Any], reply: Mapping[str, Any]) -> dict[str, Any]:
    """Tokens and price of the request, and the time from request to response."""
    flat = {name.rpartition(".")[2]: value for name, value in row.items() if name.startswith("token_usage.")}
    counted = {**_mapping(reply.get("usage")), **_mapping(decode(row.get("token_usage"))), **flat}
    price = next((counted[name] for name in ("price", "deployment_price") if counted.get(name) is not None), None)
    start, end = (as_time(_mapping(side).get("time")) for side in (request, row.get("response")))
    seconds = (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds() if start and end else None
    found = {**counted, "cost_usd": price, "latency_s": seconds}
    return {name: value for name in USAGE if (value := find_usage(found, name)) is not None}


def _time(row: Mapping[str, Any], request: Mapping[str, Any]) -> str | None:
    value = next((row[name] for name in ("time", "timestamp", "date_time") if row.get(name) is not None), None)
    return as_time(request.get("time") if request.get("time") is not None else value)


def _nested(row: Mapping[str, Any], outer: str, inner: str) -> str | None:
    """The column `outer.inner`, or the member `inner` of the column `outer`."""
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


_MARKS = [{"assembled_response"}, {"question", "answer", "attachments"}, {"request", "response", "trace"}]
_PARTS_LOOKED_FOR = 3
_HALF_WRITTEN = "incomplete or damaged parts"


class DialLogsFormat:
    """The exchanges of the selected parts; ratings among them are passed to `on_rating`."""

    name = "dial_logs"
    title = "DIAL parsed logs: a file or a folder of them by deployment and day"
    given: tuple[str, ...] = ()
    tolerant = True
    walks_folders = True

    def __init__(self, selection: Selection | None = None, on_rating: Callable[[Rating], None] | None = None) -> None:
        self.selection = selection or Selection()
        self.on_rating = on_rating

    def recognises(self, sources: Sequence[Source]) -> bool:
        """One file with the columns of these logs, or a folder with such files in folders of days."""
        if len(sources) != 1:
            return False
        source = sources[0]
        if source.kind != "folder":
            return any(mark <= source.keys() for mark in _MARKS)
        parts = find_parts(source.place, Selection()) if source.place is not None else iter(())
        return any(part.day is not None for part in itertools.islice(parts, _PARTS_LOOKED_FOR))

    def read(self, sources: Sequence[Source], report: Report) -> Iterator[Draft]:
        """The exchanges, part by part."""
        parts = report.info.setdefault("parts", [])
        for source in sources:
            if source.place is None:
                yield from self._of_part(source, LogPart(), report)
                continue
            for part in find_parts(source.place, self.selection):
                parts.append(str(part.place))
                yield from self._of_part(source if part.place == source.place else Source(part.place), part, report)

    def _of_part(self, source: Source, part: LogPart, report: Report) -> Iterator[Draft]:
        """The exchanges of one part; unreadable rows are counted."""
        unread = Report()
        rows = 0
        try:
            for row in source.rows(unread):
                rows += 1
                yield from self._of_row(row.values, f"{source}, {row.where}", part, report)
        except (InputError, StorageError):
            _check_storage(part.place)
            report.leave_out(_HALF_WRITTEN, str(source))
        if unread.total:
            report.leave_out("rows that cannot be read", f"{source}, {unread.problems[0].where}", unread.total)
        report.info["rows_read"] = report.info.get("rows_read", 0) + rows + unread.total

    def _of_row(self, row: Mapping[str, Any], where: str, part: LogPart, report: Report) -> Iterator[Draft]:
        content = read_row(row, part.day, lambda reason: report.leave_out(reason, where))
        if isinstance(content, Unusable):
            report.leave_out(content.reason, where)
            return
        if isinstance(content, Rating):
            report.info["ratings"] = report.info.get("ratings", 0) + 1
            if self.on_rating:
                self.on_rating(content)
            return
        metadata = content["metadata"]
        if part.deployment:
            metadata.setdefault("deployment", part.deployment)
        if not self.selection.has_deployment(metadata.get("deployment")):
            report.leave_out("rows of other deployments", where)
            return
        yield Draft(where, content)


def _check_storage(place: Place | None) -> None:
    """Raise if the storage fails: only a file whose bytes can be read is damaged itself."""
    if place is not None:
        with place.open_input() as stream:
            stream.seek(max(0, stream.size() - 8))
            stream.read(8)


FORMAT = DialLogsFormat()
