"""Reads the traces of a platform into a JSON-lines file, page by page. An interrupted pull continues where it stopped.

After each page the file is flushed to disk, then the checkpoint next to it is replaced: it has the cursor of the next page
and the size of the file. Rows that were written after the checkpoint are cut off and read again, so none is lost or doubled.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from types import ModuleType
from typing import Any

from ragstone.errors import ServiceError, StorageError, UnknownNameError, UsageError
from ragstone.http.retry import Patience
from ragstone.platforms import langfuse, langsmith, phoenix
from ragstone.platforms.api import PATIENCE, Api, ignore
from ragstone.platforms.protocol import REFUSED, Page, Stage, Window
from ragstone.storage.durable import Checkpoint, Journal, from_fields
from ragstone.storage.places import open_place

PLATFORMS: dict[str, ModuleType] = {"langfuse": langfuse, "phoenix": phoenix, "langsmith": langsmith}
# The checkpoint is next to the file.
ENDING = ".pull.json"
_VERSION = 1


def find_platform(name: str) -> ModuleType:
    """The platform of that name."""
    if name not in PLATFORMS:
        raise UnknownNameError("platform", name, PLATFORMS, f"Choose from: {', '.join(PLATFORMS)}.")
    return PLATFORMS[name]


@dataclass(frozen=True)
class Progress:
    """How far a pull has come. `stage` is the number of the list that is read; `routes` are the routes of the stages."""

    platform: str
    address: str
    project: str
    since: str
    until: str
    stage: int = 0
    cursor: Any = None
    routes: dict[str, int] = field(default_factory=dict)
    # The size of the file at this page, and at the first page of the stage.
    size: int = 0
    stage_size: int = 0
    rows: int = 0
    finished: bool = False

    @property
    def window(self) -> Window:
        """The times and the project."""
        return Window(datetime.fromisoformat(self.since), datetime.fromisoformat(self.until), self.project)

    def next_stage(self) -> Progress:
        """The start of the next list."""
        return replace(self, stage=self.stage + 1, cursor=None, stage_size=self.size)


def read_progress(path: str) -> Progress | None:
    """The progress of the pull into a file; None if there is none."""
    try:
        content = _checkpoint(path).read()
    except StorageError as error:
        raise StorageError(f"{error} Remove it and the log to start again, or choose another file with -o.") from None
    return None if content is None else from_fields(Progress, content)


def _checkpoint(path: str) -> Checkpoint:
    return Checkpoint(open_place(f"{path}{ENDING}").as_private(), _VERSION)


def plan_pull(
    path: str, platform: str, project: str | None, since: datetime | None, until: datetime
) -> tuple[Progress, bool]:
    """Where to start, and whether that continues an interrupted pull.

    A finished pull is extended: from its end to `until`, at the end of the same file.
    """
    connection = find_platform(platform).connect(project)
    name = connection.project
    earlier = read_progress(path)
    if earlier is None:
        if since is None:
            raise UsageError("a first pull needs a start: --since 2026-11-01, or --since 7d for the last seven days")
        if os.path.exists(path) and os.path.getsize(path):
            raise UsageError(f"{path} exists and is not the file of an earlier pull. Choose another file with -o.")
        return Progress(platform, connection.url, name, since.isoformat(), until.isoformat()), False
    if (earlier.platform, earlier.address) != (platform, connection.url) or (name and name != earlier.project):
        of = f"{earlier.platform} at {earlier.address}{f', project {earlier.project}' if earlier.project else ''}"
        raise UsageError(f"{path} has rows of {of}. Choose another file with -o.")
    if not earlier.finished:
        return earlier, True
    start = earlier.until
    if since is not None and since < datetime.fromisoformat(start):
        raise UsageError(
            f"{path} is complete up to {start}. Leave --since out to continue from there, or choose another file with -o."
        )
    begin = replace(earlier, since=start, until=until.isoformat(), stage=0, cursor=None, routes={}, finished=False)
    return replace(begin, stage_size=earlier.size), False


async def pull(
    path: str,
    start: Progress,
    note: Callable[[Progress], None],
    report: Callable[[str], None] = ignore,
    patience: Patience = PATIENCE,
) -> Progress:
    """Read all pages to the file and return how far it came; `note` receives each one, `report` long waits."""
    platform = find_platform(start.platform)
    api = Api(platform.connect(start.project or None), report=report, patience=patience)
    try:
        with Journal(path) as journal:
            if journal.size < start.size:
                raise StorageError(
                    f"{path} is shorter than at the last page. Remove it and {path}{ENDING} to start again."
                )
            journal.truncate(start.size)  # what was written after the checkpoint
            known = await platform.find_project(api, start.project or None)
            state = start
            while state.stage < len(platform.STAGES):
                state = await _step(api, platform.STAGES[state.stage], state, known, journal)
                state = replace(state, finished=state.stage == len(platform.STAGES))
                _checkpoint(path).write(asdict(state), indent=1)
                note(state)
            return state
    finally:
        await api.close()


async def _step(api: Api, stage: Stage, state: Progress, project: str, journal: Journal) -> Progress:
    """One page, or the end of a stage that does not apply."""
    if stage.after is not None and state.routes.get(stage.after[0]) != stage.after[1]:
        return state.next_stage()
    window = state.window._replace(project=project)
    try:
        page, route = await _read(api, stage, state, window)
    except ServiceError as error:
        if state.cursor is None or not any(f"replied {status} " in str(error) for status in REFUSED):
            raise
        # The cursor has expired: the stage is read again from its first page.
        journal.truncate(state.stage_size)
        return replace(state, cursor=None, size=state.stage_size)
    journal.append(page.rows)
    rows, routes = state.rows + len(page.rows), {**state.routes, stage.name: route}
    done = replace(state, size=journal.size, rows=rows, cursor=page.next, routes=routes)
    return done.next_stage() if page.next is None else done


async def _read(api: Api, stage: Stage, state: Progress, window: Window) -> tuple[Page, int]:
    """The page from the route that the stage uses, or from the first route that the server has."""
    chosen = state.routes.get(stage.name) if state.cursor is not None else None
    numbers = range(len(stage.routes)) if chosen is None else [chosen]
    for number in numbers:
        page = await stage.routes[number](api, window, state.cursor)
        if page is not None:
            return page, number
    raise ServiceError(
        f"{api.connection.title} has no API for {stage.name} at this address. Check {api.connection.address}."
    )
