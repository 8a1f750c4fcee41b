"""Langfuse: observations and scores of version 4; traces, observations and scores of older servers.

Langfuse Cloud removes the older routes on 16 November 2026. A self-hosted server has them until it is upgraded to version 4.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from ragstone.platforms.api import Answer, Api, Connection, need_variable, read_url
from ragstone.platforms.protocol import MISSING, Page, PlatformScore, PushResult, Route, Stage, Window, in_utc, rows_in

TITLE = "Langfuse"
_CLOUD = "https://cloud.langfuse.com"
_PUBLIC, _SECRET = "LANGFUSE_PUBLIC_KEY", "LANGFUSE_SECRET_KEY"
_ADDRESS = ("LANGFUSE_HOST", "LANGFUSE_BASE_URL")
_FIELDS = "core,basic,time,io,metadata,model,usage,metrics,trace_context"
_PAGE = 100
_TRACE = re.compile(r"[0-9a-f]{32}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)")
# A server before version 4.
_TAKES_ONE = "one score per request"


def connect(project: str | None = None) -> Connection:
    """The connection from the environment. Keys belong to a project, so that `project` has no effect."""
    del project
    pair = f"{need_variable(TITLE, _PUBLIC)}:{need_variable(TITLE, _SECRET)}"
    headers = {"Authorization": f"Basic {b64encode(pair.encode()).decode()}"}
    return Connection(TITLE, read_url(*_ADDRESS, default=_CLOUD), headers, (_PUBLIC, _SECRET), _ADDRESS[0])


async def find_project(api: Api, project: str | None) -> str:
    """Keys belong to one project: there is nothing to look up."""
    del api
    return project or ""


def _by_cursor(path: str, *, start: str, end: str, fields: str) -> Route:
    async def route(api: Api, window: Window, cursor: Any) -> Page | None:
        params = {"fields": fields, "limit": _PAGE, "cursor": cursor, start: in_utc(window.since)}
        if end:
            params[end] = in_utc(window.until)
        answer = await api.call("GET", path, params, expects=MISSING if cursor is None else ())
        if answer.status in MISSING:
            return None
        return Page(rows_in(answer, "data", f"{TITLE} {path}"), _meta(answer).get("cursor") or None)

    return route


def _by_number(path: str, *, start: str, end: str, order: str | None = None) -> Route:
    async def route(api: Api, window: Window, cursor: Any) -> Page | None:
        number = int(cursor or 1)
        params = {"page": number, "limit": _PAGE, "orderBy": order, start: in_utc(window.since)}
        if end:
            params[end] = in_utc(window.until)
        answer = await api.call("GET", path, params)
        rows = rows_in(answer, "data", f"{TITLE} {path}")
        last = _meta(answer).get("totalPages")
        has_more = number < last if isinstance(last, int) else len(rows) == _PAGE
        return Page(rows, number + 1 if has_more and rows else None)

    return route


def _meta(answer: Answer) -> Mapping[str, Any]:
    meta = answer.data.get("meta")
    return meta if isinstance(meta, Mapping) else {}


_API = "/api/public"
STAGES = (
    Stage(
        "observations",
        (
            _by_cursor(f"{_API}/v2/observations", start="fromStartTime", end="toStartTime", fields=_FIELDS),
            _by_number(f"{_API}/observations", start="fromStartTime", end="toStartTime"),
        ),
    ),
    Stage(
        "traces",
        (_by_number(f"{_API}/traces", start="fromTimestamp", end="toTimestamp", order="timestamp.asc"),),
        after=("observations", 1),
    ),
    # Users rate an answer later than it was given: scores have no upper bound of time.
    Stage(
        "scores",
        (
            _by_cursor(f"{_API}/v3/scores", start="fromTimestamp", end="", fields="details,subject"),
            _by_number(f"{_API}/v2/scores", start="fromTimestamp", end=""),
        ),
    ),
)


def accepts(mark: PlatformScore) -> bool:
    """Any text can be the id of a trace: samples that were read from traces have the names of their spans."""
    return "span_names" in mark.metadata or _TRACE.fullmatch(mark.trace) is not None


async def write(api: Api, marks: list[PlatformScore]) -> list[PushResult]:
    """Scores as a list; older servers take one score per request. A score with the same id and time is replaced."""
    path = f"{_API}/scores"
    if _TAKES_ONE not in api.traits:
        answer = await api.call("POST", path, body=[_score(mark) for mark in marks], expects=(400, 422))
        if answer.status < 300 and not _rejected(answer):
            return [PushResult(mark) for mark in marks]
        if len(marks) > 1:
            # The reply does not say which scores are rejected.
            return [outcome for mark in marks for outcome in await write(api, [mark])]
        if answer.status < 300:
            return [PushResult(marks[0], _rejected(answer))]
    outcomes = []
    for mark in marks:
        answer = await api.call("POST", path, body=_score(mark), expects=(400, 404, 422))
        if answer.status < 300:
            api.traits.add(_TAKES_ONE)
        outcomes.append(PushResult(mark, None if answer.status < 300 else f"status {answer.status}"))
    return outcomes


def _score(mark: PlatformScore) -> dict[str, Any]:
    # The time of the trace: a second push must have the same.
    time = mark.metadata.get("time")
    return {
        "id": f"ragstone-{mark.key}",
        "traceId": mark.trace,
        "name": mark.metric,
        "value": mark.value,
        "dataType": "NUMERIC",
        "comment": mark.comment,
        "metadata": {"ragstone": mark.about},
        **({"timestamp": time} if isinstance(time, str) and _TIME.fullmatch(time) else {}),
    }


def _rejected(answer: Answer) -> str | None:
    """The reason of a rejected score; None if all were accepted."""
    if not isinstance(answer.data, Mapping) or not answer.data.get("rejected"):
        return None
    errors = answer.data.get("errors")
    first = errors[0] if isinstance(errors, list) and errors else {}
    return str(first.get("message") if isinstance(first, Mapping) else first)[:200]


# Scores per call of `write`; a request may have 1 MB.
BATCH = 50
