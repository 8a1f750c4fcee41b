"""Phoenix: spans of a project with the annotations of their root spans; scores are annotations of spans or traces."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

from ragstone.platforms.api import Api, Connection, read_url, read_variable
from ragstone.platforms.protocol import MISSING, Page, PlatformScore, PushResult, Stage, Window, in_utc, rows_in

TITLE = "Phoenix"
_KEY = "PHOENIX_API_KEY"
_ADDRESS = ("PHOENIX_COLLECTOR_ENDPOINT", "PHOENIX_ENDPOINT")
_PAGE = 500
# Annotations are asked for by span id, in the address.
_SPANS_AT_ONCE = 50
_TRACE = re.compile(r"[0-9a-f]{32}")
_SPAN = re.compile(r"[0-9a-f]{16}")
IDENTIFIER = "ragstone"


def connect(project: str | None = None) -> Connection:
    """The connection from the environment; a local server needs no key."""
    url = re.sub(r"/v1/traces$", "", read_url(*_ADDRESS, default="http://localhost:6006"))
    key = read_variable(_KEY)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    name = project or read_variable("PHOENIX_PROJECT", "PHOENIX_PROJECT_NAME", default="default")
    return Connection(TITLE, url, headers, (_KEY,), _ADDRESS[0], name)


async def find_project(api: Api, project: str | None) -> str:
    """Phoenix takes the name of a project as it is."""
    return project or api.connection.project


async def _spans(api: Api, window: Window, cursor: Any) -> Page | None:
    path = f"/v1/projects/{quote(window.project, safe='')}/spans"
    times = {"start_time": in_utc(window.since), "end_time": in_utc(window.until)}
    answer = await api.call("GET", path, {"limit": _PAGE, "cursor": cursor, **times})
    rows = rows_in(answer, "data", f"{TITLE} {path}")
    await _annotate(api, window.project, rows)
    return Page(rows, answer.data.get("next_cursor") or None)


async def _annotate(api: Api, project: str, rows: list[dict[str, Any]]) -> None:
    """Add the annotations of root spans. Servers before version 8 have none to read."""
    contexts = [(row, row.get("context")) for row in rows if not row.get("parent_id")]
    roots = {span: row for row, about in contexts if isinstance(about, dict) and (span := about.get("span_id"))}
    path = f"/v1/projects/{quote(project, safe='')}/span_annotations"
    names = list(roots)
    for start in range(0, len(names), _SPANS_AT_ONCE):
        cursor = None
        while True:
            params = {"span_ids": names[start : start + _SPANS_AT_ONCE], "limit": 1000, "cursor": cursor}
            answer = await api.call("GET", path, params, expects=MISSING)
            if answer.status in MISSING:
                break
            for note in rows_in(answer, "data", f"{TITLE} {path}"):
                if (root := roots.get(str(note.get("span_id")))) is not None:
                    root.setdefault("annotations", []).append(note)
            cursor = answer.data.get("next_cursor")
            if not cursor:
                break


STAGES = (Stage("spans", (_spans,)),)


def accepts(mark: PlatformScore) -> bool:
    """Traces of OpenTelemetry have an id of 32 hexadecimal digits."""
    return _TRACE.fullmatch(mark.trace) is not None


async def write(api: Api, marks: list[PlatformScore]) -> list[PushResult]:
    """Annotations in batches. One unknown span fails its batch, which is then divided."""
    spans = [mark for mark in marks if _root(mark)]
    traces = [mark for mark in marks if not _root(mark)]
    return [*await _write(api, "/v1/span_annotations", spans), *await _write(api, "/v1/trace_annotations", traces)]


async def _write(api: Api, path: str, marks: list[PlatformScore]) -> list[PushResult]:
    if not marks:
        return []
    body = {"data": [_annotation(mark) for mark in marks]}
    answer = await api.call("POST", path, {"sync": "true"}, body, expects=(404, 422))
    if answer.status < 300:
        return [PushResult(mark) for mark in marks]
    if len(marks) == 1:
        found = "the trace is not in the project's server" if answer.status == 404 else f"status {answer.status}"
        return [PushResult(marks[0], found)]
    half = len(marks) // 2
    return [*await _write(api, path, marks[:half]), *await _write(api, path, marks[half:])]


def _annotation(mark: PlatformScore) -> dict[str, Any]:
    root = _root(mark)
    return {
        "name": mark.metric,
        "annotator_kind": "LLM" if mark.is_judged else "CODE",
        "result": {"score": mark.value, "label": None, "explanation": mark.comment},
        "metadata": mark.about,
        # With the same name, target and identifier, an annotation is replaced.
        "identifier": IDENTIFIER,
        **({"span_id": root} if root else {"trace_id": mark.trace}),
    }


def _root(mark: PlatformScore) -> str | None:
    span = str(mark.metadata.get("root_span_id") or "")
    return span if _SPAN.fullmatch(span) else None


BATCH = 100
