"""Pages of an API as stages: what is read first, and from which route of which version of the server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from ragstone.errors import ServiceError
from ragstone.platforms.api import Answer, Api

# A server answers so if it does not have a route, because it is older or newer.
MISSING = (404, 405, 410, 501)
# A cursor that the server no longer accepts.
REFUSED = (400, 422)


class Window(NamedTuple):
    """The traces to read: from `since` to before `until`, of a project."""

    since: datetime
    until: datetime
    project: str = ""


class Page(NamedTuple):
    """Rows as the server sent them, and the cursor of the next page; None after the last one."""

    rows: list[dict[str, Any]]
    next: Any = None


# Reads the page at a cursor, None for the first; returns None if the server does not have the route.
Route = Callable[[Api, Window, Any], Awaitable[Page | None]]


class Stage(NamedTuple):
    """A list to read to its end. Routes are tried in order; `after` names a stage and the route that it must have used."""

    name: str
    routes: tuple[Route, ...]
    after: tuple[str, int] | None = None


def rows_in(answer: Answer, key: str, shown: str) -> list[dict[str, Any]]:
    """The list under a key of an answer."""
    found = answer.data.get(key) if isinstance(answer.data, Mapping) else None
    if not isinstance(found, list):
        raise ServiceError(f"{shown} has no list '{key}' in its reply. Its version may not be supported.")
    return [row for row in found if isinstance(row, dict)]


def in_utc(time: datetime) -> str:
    """A time as the APIs expect it."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
