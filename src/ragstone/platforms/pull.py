"""Reads the traces of a platform into a JSON-lines file, page by page. An interrupted pull continues where it stopped.

After each page the file is flushed to disk, then the checkpoint next to it is replaced: it has the cursor of the next page
and the size of the file. Rows that were written after the checkpoint are cut off and read again, so none is lost or doubled.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from types import ModuleType
from typing import Any

from ragstone.errors import ServiceError, StorageError, UnknownNameError, UsageError
from ragstone.platforms import langfuse, langsmith, phoenix
from ragstone.platforms.api import Api, ignore
from ragstone.platforms.pages import REFUSED, Page, Stage, Window
from ragstone.storage.spool import lock_file

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
class Checkpoint:
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
    version: int = _VERSION

    @property
    def window(self) -> Window:
        """The times and the project."""
        return Window(datetime.fromisoformat(self.since), datetime.fromisoformat(self.until), self.project)

    def next_stage(self) -> Checkpoint:
        """The start of the next list."""
        return replace(self, stage=self.stage + 1, cursor=None, stage_size=self.size)


def read_checkpoint(path: str) -> Checkpoint | None:
    """The checkpoint of a file; None if there is none."""
    try:
        with open(f"{path}{ENDING}", encoding="utf-8") as stream:
            content = json.load(stream)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise StorageError(f"cannot read {path}{ENDING}: {error}. Remove it and the log to start again.") from None
    if content.get("version") != _VERSION:
        raise StorageError(f"{path}{ENDING} is of another version. Choose another file with -o.")
    return Checkpoint(**content)


def _write_checkpoint(path: str, checkpoint: Checkpoint) -> None:
    temporary = f"{path}{ENDING}.tmp"
    with open(temporary, "w", encoding="utf-8") as stream:
        json.dump(asdict(checkpoint), stream, indent=1)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(temporary, f"{path}{ENDING}")


def plan_pull(
    path: str, platform: str, project: str | None, since: datetime | None, until: datetime
) -> tuple[Checkpoint, bool]:
    """Where to start, and whether that continues an interrupted pull.

    A finished pull is extended: from its end to `until`, at the end of the same file.
    """
    connection = find_platform(platform).connect(project)
    name = connection.project
    earlier = read_checkpoint(path)
    if earlier is None:
        if since is None:
            raise UsageError("a first pull needs a start: --since 2026-11-01, or --since 7d for the last seven days")
        if os.path.exists(path) and os.path.getsize(path):
            raise UsageError(f"{path} exists and is not the file of an earlier pull. Choose another file with -o.")
        return Checkpoint(platform, connection.url, name, since.isoformat(), until.isoformat()), False
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
    size = earlier.size
    return replace(begin, size=size, stage_size=size), False


async def pull(
    path: str,
    start: Checkpoint,
    note: Callable[[Checkpoint], None],
    report: Callable[[str], None] = ignore,
    first_wait_s: float = 1.0,
) -> Checkpoint:
    """Read all pages to the file and return the last checkpoint; `note` receives each one, `report` long waits."""
    platform = find_platform(start.platform)
    api = Api(platform.connect(start.project or None), report=report, first_wait_s=first_wait_s)
    try:
        with _exclusive(path) as stream:
            _cut(stream, start.size, path)
            known = await platform.find_project(api, start.project or None)
            state = start
            while state.stage < len(platform.STAGES):
                state = await _step(api, platform.STAGES[state.stage], state, known, stream)
                state = replace(state, finished=state.stage == len(platform.STAGES))
                _write_checkpoint(path, state)
                note(state)
            return state
    finally:
        await api.close()


async def _step(api: Api, stage: Stage, state: Checkpoint, project: str, stream: Any) -> Checkpoint:
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
        stream.truncate(state.stage_size)
        stream.seek(state.stage_size)
        return replace(state, cursor=None, size=state.stage_size)
    content = b"".join(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n" for row in page.rows)
    stream.write(content)
    stream.flush()
    os.fsync(stream.fileno())
    size = state.size + len(content)
    done = replace(
        state, size=size, rows=state.rows + len(page.rows), cursor=page.next, routes={**state.routes, stage.name: route}
    )
    return done.next_stage() if page.next is None else done


async def _read(api: Api, stage: Stage, state: Checkpoint, window: Window) -> tuple[Page, int]:
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


@contextmanager
def _exclusive(path: str) -> Iterator[Any]:
    """The file, opened for one process."""
    try:
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        # Traces are private data: only the user may read the file.
        stream = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b")
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}") from None
    with stream:
        lock_file(stream.fileno(), path)
        yield stream


def _cut(stream: Any, size: int, path: str) -> None:
    """Remove what was written after the checkpoint."""
    if os.fstat(stream.fileno()).st_size < size:
        raise StorageError(f"{path} is shorter than at the last page. Remove it and {path}{ENDING} to start again.")
    stream.truncate(size)
    stream.seek(size)
