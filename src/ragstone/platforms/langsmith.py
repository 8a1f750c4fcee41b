"""LangSmith: runs of a project, from the second version of the query or the first; scores are feedback on root runs."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from typing import Any

from ragstone.errors import UsageError
from ragstone.platforms.api import Api, Connection, need_variable, read_url, read_variable
from ragstone.platforms.protocol import MISSING, Page, PlatformScore, PushResult, Stage, Window, in_utc, rows_in

TITLE = "LangSmith"
_KEY = "LANGSMITH_API_KEY"
_ADDRESS = ("LANGSMITH_ENDPOINT", "LANGCHAIN_ENDPOINT")
_PAGE = 100
_SELECTED = [
    *("id", "name", "run_type", "start_time", "end_time", "first_token_time", "error", "extra", "inputs"),
    *("outputs", "tags", "trace_id", "dotted_order", "prompt_tokens", "completion_tokens", "total_tokens"),
    *("total_cost", "feedback_stats", "parent_run_ids"),
]
# Feedback scores have four decimals.
_DECIMALS = 4


def connect(project: str | None = None) -> Connection:
    """The connection from the environment."""
    headers = {"x-api-key": need_variable(TITLE, _KEY, "LANGCHAIN_API_KEY")}
    if workspace := read_variable("LANGSMITH_WORKSPACE_ID"):
        headers["X-Tenant-Id"] = workspace
    url = read_url(*_ADDRESS, default="https://api.smith.langchain.com")
    name = project or read_variable("LANGSMITH_PROJECT", "LANGCHAIN_PROJECT", default="default")
    return Connection(TITLE, url, headers, (_KEY,), _ADDRESS[0], name)


async def find_project(api: Api, project: str | None) -> str:
    """The id of a project, from its name."""
    name = project or api.connection.project
    if _is_uuid(name):
        return name
    answer = await api.call("GET", "/sessions", {"name": name, "limit": 1})
    found = answer.data[0].get("id") if isinstance(answer.data, list) and answer.data else None
    if found is None:
        raise UsageError(f"LangSmith has no project '{name}'. Name it with --project or LANGSMITH_PROJECT.")
    return str(found)


async def _query(api: Api, window: Window, cursor: Any) -> Page | None:
    root = re.sub(r"/api(/v1)?$", "", api.connection.url)
    body = {
        "project_ids": [window.project],
        "min_start_time": in_utc(window.since),
        "max_start_time": in_utc(window.until),
        "page_size": _PAGE,
        "selects": [name.upper() for name in (*_SELECTED, "project_id", "thread_id", "metadata")],
        **({"cursor": cursor} if cursor else {}),
    }
    path = f"{root}/api/v2/runs/query"
    answer = await api.call("POST", path, body=body, expects=MISSING if cursor is None else ())
    if answer.status in MISSING:
        return None
    return Page(rows_in(answer, "items", f"{TITLE} {path}"), answer.data.get("next_cursor") or None)


async def _query_first_version(api: Api, window: Window, cursor: Any) -> Page | None:
    body = {
        "session": [window.project],
        "start_time": in_utc(window.since),
        "filter": f'lt(start_time, "{in_utc(window.until)}")',
        "limit": _PAGE,
        "order": "asc",
        "select": [*_SELECTED, "parent_run_id", "session_id"],
        **({"cursor": cursor} if cursor else {}),
    }
    answer = await api.call("POST", "/runs/query", body=body)
    cursors = answer.data.get("cursors") if isinstance(answer.data, Mapping) else None
    following = cursors.get("next") if isinstance(cursors, Mapping) else None
    rows = rows_in(answer, "runs", f"{TITLE} /runs/query")
    return Page(rows, following if rows else None)


STAGES = (Stage("runs", (_query, _query_first_version)),)


def accepts(mark: PlatformScore) -> bool:
    """Runs have UUIDs."""
    return _is_uuid(mark.trace)


def _is_uuid(text: str) -> bool:
    try:
        return str(uuid.UUID(text)) == text.lower()
    except ValueError:
        return False


async def write(api: Api, marks: list[PlatformScore]) -> list[PushResult]:
    """One request per score."""
    return [await _write_one(api, mark) for mark in marks]


async def _write_one(api: Api, mark: PlatformScore) -> PushResult:
    """Create feedback with a fixed id; if it exists already, change it."""
    value = {"score": round(mark.value, _DECIMALS), "comment": mark.comment}
    body = {
        "id": str(mark.key),
        "run_id": mark.trace,
        "trace_id": mark.trace,
        "key": mark.metric,
        **value,
        "feedback_source": {"type": "model" if mark.is_judged else "api", "metadata": {"ragstone": mark.about}},
    }
    # Newer servers find the run by these two.
    for name, ours in (("session_id", "langsmith_project"), ("start_time", "langsmith_start_time")):
        if known := mark.metadata.get(ours):
            body[name] = known
    answer = await api.call("POST", "/feedback", body=body, expects=(404, 409, 422))
    if answer.status == 409:
        answer = await api.call("PATCH", f"/feedback/{mark.key}", body=value, expects=(404, 422))
    if answer.status < 300:
        return PushResult(mark)
    return PushResult(mark, "the run is not in LangSmith" if answer.status == 404 else f"status {answer.status}")


BATCH = 1
