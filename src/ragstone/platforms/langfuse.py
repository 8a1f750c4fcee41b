"""Langfuse: observations and scores of version 4; traces, observations and scores of older servers.

Langfuse Cloud removes the older routes on 16 November 2026. A self-hosted server has them until it is upgraded to version 4.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from ragstone.platforms.api import Answer, Api, Connection, need_variable, read_url
from ragstone.platforms.pages import MISSING, Page, Route, Stage, Window, in_utc, rows_in
from ragstone.platforms.scores import Mark, Outcome

TITLE = "Langfuse"
_CLOUD = "https://cloud.langfuse.com"
_PUBLIC, _SECRET = "LANGFUSE_PUBLIC_KEY", "LANGFUSE_SECRET_KEY"
_ADDRESS = ("LANGFUSE_HOST", "LANGFUSE_BASE_URL")
_FIELDS = "core,basic,time,io,metadata,model,usage,metrics,trace_context"
_PAGE = 100
LONGEST_ID = 200


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


def accepts(mark: Mark) -> bool:
    """Any id can be that of a trace."""
    return 0 < len(mark.trace) <= LONGEST_ID


async def write(api: Api, marks: list[Mark]) -> list[Outcome]:
    """One request per score; a score with the same id is replaced."""
    return [await _write_one(api, mark) for mark in marks]


async def _write_one(api: Api, mark: Mark) -> Outcome:
    body = {
        "id": f"ragstone-{mark.key}",
        "traceId": mark.trace,
        "name": mark.metric,
        "value": mark.value,
        "dataType": "NUMERIC",
        "comment": mark.comment,
        "metadata": {"ragstone": mark.about},
    }
    answer = await api.call("POST", f"{_API}/scores", body=body, expects=(400, 404, 422))
    return Outcome(mark, None if answer.status < 300 else f"status {answer.status}")


# Scores per call of `write`.
BATCH = 1
