"""The process that works on a folder: recorded in a file, and recognised even if its number was given to another process."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ragstone.errors import StorageError
from ragstone.storage.places import Place, read_json

FILE = "owner.json"
_PROC = Path("/proc")


def describe_process() -> dict[str, Any]:
    """Host, number and start of this process."""
    return {"host": socket.gethostname(), "pid": os.getpid(), "started": process_start(os.getpid())}


def read_owner(folder: Place) -> dict[str, Any] | None:
    """The recorded owner of a folder, or None."""
    file = folder / FILE
    owner = read_json(file) if file.exists() else None
    return owner if isinstance(owner, dict) and {"host", "pid"} <= owner.keys() else None


def is_local(owner: Mapping[str, Any]) -> bool:
    """Whether the owner ran on this machine."""
    return bool(owner["host"] == socket.gethostname())


def is_running(owner: Mapping[str, Any]) -> bool:
    """Whether the owner still runs; a process on another machine is assumed to run.

    A process of the same number that started at another time is a different process.
    """
    if not is_local(owner):
        return True
    pid = owner["pid"]
    if not isinstance(pid, int) or not _exists(pid):
        return False
    recorded, actual = owner.get("started"), process_start(pid)
    return recorded is None or actual is None or recorded == actual


@contextmanager
def owning(folder: Place) -> Iterator[None]:
    """Record this process as the owner of a folder until the block ends."""
    record_owner(folder)
    try:
        yield
    finally:
        with suppress(StorageError):  # a stale owner file is harmless; the first error matters
            (folder / FILE).remove()


def record_owner(folder: Place) -> None:
    """Record this process as the owner of a folder that it will remove."""
    (folder / FILE).write_bytes(json.dumps(describe_process()).encode())


def process_start(pid: int) -> str | None:
    """When a process started, as a text to compare; None if the system does not say."""
    try:
        if _PROC.joinpath("self", "stat").exists():
            # Field 22 counts from boot; the name in field 2 may contain spaces and brackets.
            ticks = _PROC.joinpath(str(pid), "stat").read_text(errors="replace").rpartition(")")[2].split()[19]
            return f"{_PROC.joinpath('sys/kernel/random/boot_id').read_text().strip()}:{ticks}"
        if sys.platform == "win32":
            return None
        command, plain = ["ps", "-o", "lstart=", "-p", str(pid)], {**os.environ, "LC_ALL": "C"}
        shown = subprocess.run(command, check=False, capture_output=True, text=True, timeout=5, env=plain)  # noqa: S603
        return shown.stdout.strip() or None
    except (OSError, IndexError, subprocess.SubprocessError):
        return None


def _exists(pid: int) -> bool:
    if sys.platform == "win32":  # signal 0 would interrupt the process
        return True
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
