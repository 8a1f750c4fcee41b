"""Calls of tools as steps: from chat messages (LangGraph, OpenAI, Anthropic), and the chunks in what a tool returned."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.formats.chunk_parts import further_parts, images_of
from ragstone.formats.messages import decode
from ragstone.formats.reports import Report
from ragstone.formats.sources import Source

Chunks = list[dict[str, Any]]
_ROWS_LOOKED_AT = 20

_LISTS = ("documents", "results", "chunks", "contexts", "hits", "matches", "passages", "sources", "data")
_TEXTS = ("page_content", "content", "text", "snippet", "passage", "body")
_IDS = ("id", "chunk_id", "doc_id", "document_id")
_SCORES = ("score", "similarity", "relevance_score")
_SOURCES = ("source", "url", "uri", "title")
_QUERIES = ("query", "question", "search_query", "q", "input", "text", "keywords")
_ROLES = {
    **dict.fromkeys(("human", "user", "humanmessage", "humanmessagechunk"), "user"),
    **dict.fromkeys(("ai", "assistant", "model", "aimessage", "aimessagechunk"), "assistant"),
    **dict.fromkeys(("tool", "function", "toolmessage", "functionmessage", "function_call_output"), "tool"),
    "function_call": "assistant",
}


def chunks_of(output: Any) -> Chunks:
    """The output of a tool as chunks: a list of documents, or one chunk with the text."""
    output = decode(output)
    if isinstance(output, Mapping):
        listed = next((output[key] for key in _LISTS if isinstance(output.get(key), list)), None)
        output = [output] if listed is None else listed
    if not isinstance(output, list):
        output = [output]
    return [
        chunk
        for item in output
        if (chunk := _chunk(item))["text"].strip() or chunk["id"] is not None or "image" in chunk
    ]


def _chunk(item: Any) -> dict[str, Any]:
    if not isinstance(item, Mapping):
        return {"text": _written(item), "id": None, "score": None, "source": None}
    inner = next((item[key] for key in ("kwargs", "document") if isinstance(item.get(key), Mapping)), item)
    metadata = inner.get("metadata")
    about = {**metadata, **inner} if isinstance(metadata, Mapping) else inner
    text = next((inner[key] for key in _TEXTS if isinstance(inner.get(key), str)), None)
    name = next((about[key] for key in _IDS if isinstance(about.get(key), str | int) and str(about[key]).strip()), None)
    score = next((about[key] for key in _SCORES if type(about.get(key)) in (int, float)), None)
    source = next((about[key] for key in _SOURCES if isinstance(about.get(key), str)), None)
    more = further_parts(inner, metadata)
    if image := next(iter(images_of([item])), None):
        more["image"] = image
    if text is None:
        text = "" if name is not None or "image" in more else _written(inner)
    return {"text": text, "id": name, "score": score, "source": source, **more}


def query_of(arguments: Any) -> str | None:
    """The query among the arguments of a call; all arguments as JSON if none of them is one."""
    arguments = decode(arguments)
    if isinstance(arguments, Mapping):
        texts = {key: value for key, value in arguments.items() if isinstance(value, str)}
        known = next((texts[key] for key in _QUERIES if key in texts), None)
        if known is None and len(arguments) == 1:
            known = next(iter(texts.values()), None)
        return (known if known is not None else _written(arguments)) if arguments else None
    return _written(arguments) or None


def _written(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return "" if value is None else json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
    except (TypeError, ValueError, RecursionError):
        return str(type(value).__name__)


@dataclass(frozen=True, slots=True)
class Message:
    """A message: its role and text, the calls that it makes and the results that it contains, both with their ids."""

    role: str
    text: str
    # Id, tool and arguments.
    calls: tuple[tuple[str | None, str, Any], ...] = ()
    # Id, tool if known, and output.
    results: tuple[tuple[str | None, str | None, Any], ...] = ()


def read_messages(raw: Any) -> list[Message]:
    """The messages of a list; other items are left out."""
    items = decode(raw)
    return [_message(item) for item in items if isinstance(item, Mapping)] if isinstance(items, list) else []


def _message(item: Mapping[str, Any]) -> Message:
    kind = item.get("id")
    constructor = str(kind[-1]) if isinstance(kind, list) and kind else ""
    inner = next((item[key] for key in ("kwargs", "data", "message") if isinstance(item.get(key), Mapping)), item)
    names = (inner.get("role"), inner.get("type"), item.get("type"), constructor)
    role = next((_ROLES[str(name).lower()] for name in names if str(name).lower() in _ROLES), "")
    content = inner.get("content")
    parts = [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else []
    if role == "tool":
        output = inner.get("artifact") or inner.get("output") or content
        name = _text(inner.get("name"))
        result = (_text(inner.get("tool_call_id") or inner.get("call_id")), name, output)
        return Message(role, "", results=(result,))
    results = [(_text(p.get("tool_use_id")), None, p.get("content")) for p in parts if p.get("type") == "tool_result"]
    texts = [content] if isinstance(content, str) else [p["text"] for p in parts if isinstance(p.get("text"), str)]
    return Message(role, "\n".join(texts), tuple(_calls(inner, parts)), tuple(results))


def _calls(message: Mapping[str, Any], parts: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str | None, str, Any]]:
    extra = message.get("additional_kwargs")
    listed = message.get("tool_calls") or (extra.get("tool_calls") if isinstance(extra, Mapping) else None)
    calls = [call for call in listed if isinstance(call, Mapping)] if isinstance(listed, list) else []
    calls += [part for part in parts if part.get("type") == "tool_use"]
    if isinstance(legacy := message.get("function_call"), Mapping):
        calls.append(legacy)
    if message.get("type") == "function_call":
        calls.append(message)
    for call in calls:
        function = call["function"] if isinstance(call.get("function"), Mapping) else call
        arguments = next((function[key] for key in ("args", "arguments", "input") if key in function), None)
        yield _text(call.get("call_id") or call.get("id")), _text(function.get("name")) or "tool", arguments


def _text(value: Any) -> str | None:
    return str(value) if isinstance(value, str | int) and str(value).strip() else None


def steps_of(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """One step per call in order, with the chunks of its result; a result without a call is a step too."""
    steps: list[dict[str, Any]] = []
    waiting: dict[str, dict[str, Any]] = {}
    for message in messages:
        for name, output in _finish(message, waiting):
            steps.append({"tool": name, "contexts": chunks_of(output)})
        for call, tool, arguments in message.calls:
            step = {"tool": tool, "query": query_of(arguments), "contexts": None}
            steps.append(step)
            waiting[call or f"\0{len(steps)}"] = step
    return steps


def _finish(message: Message, waiting: dict[str, dict[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Give each result to the call with its id, otherwise to the first open call of that tool; the others are returned."""
    for call, tool, output in message.results:
        key = call if call in waiting else None
        if key is None and (call is None or not waiting):
            key = next((one for one, step in waiting.items() if tool in (None, step["tool"])), None)
        if key is not None:
            waiting.pop(key)["contexts"] = chunks_of(output)
        else:
            yield tool or "tool", output


def exchange_of(messages: Sequence[Message]) -> dict[str, Any]:
    """The last question, its answer and steps, and the earlier messages of user and assistant as history."""
    asked = [number for number, message in enumerate(messages) if message.role == "user" and message.text.strip()]
    last = asked[-1] if asked else 0
    earlier, now = messages[:last], messages[last:]
    answers = [message.text for message in now if message.role == "assistant" and message.text.strip()]
    history = [
        {"role": message.role, "text": message.text}
        for message in earlier
        if message.role in ("user", "assistant") and message.text.strip()
    ]
    return {
        "question": messages[last].text if asked else None,
        "answer": answers[-1] if answers else None,
        "history": history or None,
        "steps": steps_of(now),
    }


def calls_tools(source: Source) -> bool:
    """Whether the messages of most of the first rows call tools: such a row is one task of an agent."""
    rows = list(itertools.islice(source.rows(Report()), _ROWS_LOOKED_AT))
    calling = sum(
        any(message.calls or message.results for message in read_messages(row.values.get("messages"))) for row in rows
    )
    return 2 * calling > len(rows)
