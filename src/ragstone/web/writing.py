"""The few requests that change something: they carry our pages' secret, are small enough, and answer with a page."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from ragstone.web.library import Library
from ragstone.web.safety import Guard

_MOST_BYTES = 32 * 1024 * 1024
_MOST_FIELDS = 10_000
_STALE = (
    "This page is older than the viewer that answers: it was started anew. Your edits are kept in the browser; "
    "go back, reload the page and try again."
)
# From the library, the names in the path and the fields of a form to page data.
Change = Callable[[Library, Sequence[str], QueryParams], dict[str, Any]]
Answer = Callable[[Request, dict[str, Any], int], Response]


def change_endpoint(
    library: Library, guard: Guard, change: Change, answer: Answer
) -> Callable[[Request], Awaitable[Response]]:
    """The endpoint of a change: refused without the secret, done in a thread, answered by a page."""

    async def post(request: Request) -> Response:
        form = await _read_form(request)
        if not guard.allows_change(form.get("token")):
            raise HTTPException(403, _STALE)
        names = list(request.path_params.values())
        data = await run_in_threadpool(change, library, names, form)
        status = data.pop("status", 200)
        return await run_in_threadpool(answer, request, data, status)

    return post


async def _read_form(request: Request) -> QueryParams:
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/x-www-form-urlencoded":
        raise HTTPException(415, "Changes are sent as application/x-www-form-urlencoded.")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > _MOST_BYTES:
            raise HTTPException(413, f"That is more than {_MOST_BYTES // 1024 // 1024} MB; save fewer edits at a time.")
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
    except ValueError:
        raise HTTPException(400, "The form cannot be read.") from None
    return QueryParams(pairs)
