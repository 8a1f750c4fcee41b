"""The protocol of a platform's module: pages of its API in stages, with a route per version of the server, and scores."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from ragstone.errors import ServiceError
from ragstone.platforms.api import Answer, Api

# A server answers so if it does not have a route, because it is older or newer.
MISSING = (404, 405, 410, 501)
# A cursor that the server no longer accepts.
REFUSED = (400, 422)
_NAMES = uuid.UUID("8d3f1b52-8f64-4cf0-9f8e-0f1f6b1a7c11")


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


@dataclass(frozen=True)
class PlatformScore:
    """One score on a trace."""

    trace: str
    metric: str
    value: float
    comment: str
    is_judged: bool
    # The run and the signature, stored with the score.
    about: dict[str, Any]
    # Metadata of the sample: some platforms need more than the trace to find it.
    metadata: dict[str, Any]

    @property
    def key(self) -> uuid.UUID:
        """The same for the same trace and metric: a second push replaces the first."""
        return uuid.uuid5(_NAMES, f"{self.trace}\0{self.metric}")


class PushResult(NamedTuple):
    """A score that was sent; the error if the platform did not take it."""

    mark: PlatformScore
    error: str | None = None
