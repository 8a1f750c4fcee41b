"""Work that survives the death of its process: owners, locks, checkpoints, journals, and the folders of the user.

A lock keeps a second process away, a checkpoint says how far the work has come, and a journal keeps each result as it
arrives. All are complete after `kill -9`: a checkpoint is replaced as a whole, and a torn last line of a journal is dropped.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, TypeVar

from ragstone.errors import StorageError
from ragstone.storage.places import Place, make_private_folders, read_json

T = TypeVar("T")
FILE = "owner.json"
_LOCK = "owner.lock"
_LOCKED_BYTE = 2**31 - 2
# PROCESS_QUERY_LIMITED_INFORMATION, and the exit code of a process that has not ended.
_QUERY, _STILL_ACTIVE = 0x1000, 259
_PROC = Path("/proc")
_BLOCK = 1 << 16


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


def record_owner(folder: Place) -> None:
    """Record this process as the owner of a folder."""
    (folder / FILE).write_bytes(json.dumps(describe_process()).encode())


def process_start(pid: int) -> str | None:
    """When a process started, as a text to compare; None if the system does not say."""
    try:
        if _PROC.joinpath("self", "stat").exists():
            # Field 22 counts from boot; the name in field 2 may contain spaces and brackets.
            ticks = _PROC.joinpath(str(pid), "stat").read_text("ascii", "replace").rpartition(")")[2].split()[19]
            return f"{_PROC.joinpath('sys/kernel/random/boot_id').read_text('ascii').strip()}:{ticks}"
        if sys.platform == "win32":
            return _windows_start(pid)
        command, plain = ["ps", "-o", "lstart=", "-p", str(pid)], {**os.environ, "LC_ALL": "C"}
        shown = subprocess.run(command, check=False, capture_output=True, text=True, timeout=5, env=plain)  # noqa: S603
        return shown.stdout.strip() or None
    except (OSError, IndexError, subprocess.SubprocessError):
        return None


def _exists(pid: int) -> bool:
    if sys.platform == "win32":  # signal 0 would interrupt the process
        return _windows_start(pid) is not None
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _windows_start(pid: int) -> str | None:
    """When a process started; None if it has ended, or belongs to another user."""
    import ctypes  # noqa: PLC0415

    kernel: Any = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined]
    kernel.OpenProcess.restype = ctypes.c_void_p
    handle = ctypes.c_void_p(kernel.OpenProcess(_QUERY, False, pid))  # noqa: FBT003
    if not handle:
        return None
    code, times = ctypes.c_ulong(), [ctypes.c_ulonglong() for _ in range(4)]
    known = kernel.GetExitCodeProcess(handle, ctypes.byref(code)) and code.value == _STILL_ACTIVE
    known = known and kernel.GetProcessTimes(handle, *(ctypes.byref(time) for time in times))
    kernel.CloseHandle(handle)
    return str(times[0].value) if known else None


@contextmanager
def lock(folder: Place, what: str, advice: str, across_machines: bool = False) -> Iterator[None]:
    """Keep other processes away from a folder until the block ends; the error names the process that works on it.

    The owner is recorded in the folder. On a local disk a lock of the operating system decides between two processes that
    start at the same time. Object stores have no such lock: each process writes its record and reads it back. An owner on
    another machine counts only `across_machines`, because containers leave records with names of hosts that are gone.
    """
    _refuse_owner(folder, what, advice, across_machines)
    with ExitStack() as held:
        if folder.is_local:
            try:
                make_private_folders(folder.path)
                descriptor = _open_to_lock(folder.path, held)
            except OSError as error:
                raise StorageError(f"cannot write {folder}: {error.strerror}") from error
            held.callback(os.close, descriptor)
            lock_file(descriptor, what, advice)
        record_owner(folder)
        try:
            if across_machines:
                _refuse_owner(folder, what, advice, across_machines)
            yield
        finally:
            with suppress(StorageError):  # a stale record is harmless; the first error matters
                (folder / FILE).remove()


def _remove(file: Path) -> None:
    with suppress(OSError):  # another process has it open
        file.unlink()


def _open_to_lock(folder: str, held: ExitStack) -> int:
    """The folder; on Windows, which cannot open folders, a file in it, which is removed in the end."""
    if sys.platform == "win32":
        file = Path(folder, _LOCK)
        held.callback(_remove, file)  # after the descriptor is closed
        return os.open(file, os.O_RDWR | os.O_CREAT)
    return os.open(folder, os.O_RDONLY)


def lock_file(descriptor: int, what: str, advice: str) -> None:
    """Lock an open file or folder; a StorageError if another process has locked it. The lock ends with the process."""
    if sys.platform == "win32":
        import msvcrt  # noqa: PLC0415

        # Other processes cannot read a locked byte. This one is beyond the end of every file.
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            raise StorageError(f"{what} is in use by another process. {advice}") from None
        return
    try:
        import fcntl  # noqa: PLC0415
    except ImportError:  # a system without locks; the record of the owner must suffice
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise StorageError(f"{what} is in use by {_find_holder(descriptor)}. {advice}") from None
    except OSError:  # some network disks have no locks; the record of the owner must suffice
        return


def _refuse_owner(folder: Place, what: str, advice: str, across_machines: bool) -> None:
    owner = read_owner(folder)
    if owner is None or owner == describe_process() or not is_running(owner):
        return
    if is_local(owner):
        raise StorageError(f"{what} is in use by process {owner['pid']} of Ragstone. {advice}")
    if across_machines:
        raise StorageError(
            f"{what} is in use by process {owner['pid']} on {owner['host']}. {advice} "
            f"If that machine is gone, remove {folder / FILE}."
        )


def _find_holder(descriptor: int) -> str:
    """The process that has locked a file, as far as the system says."""
    about = os.fstat(descriptor)
    device = f"{os.major(about.st_dev):02x}:{os.minor(about.st_dev):02x}:{about.st_ino}"
    with suppress(OSError):
        for line in Path("/proc/locks").read_text("ascii").splitlines():
            if f" {device} " in line and " FLOCK " in line and line.split()[4].isdecimal():
                return f"process {line.split()[4]}"
    return "another process"


@dataclass(frozen=True)
class Checkpoint:
    """A small JSON object that is replaced as a whole, so that a reader gets the earlier content or the new one."""

    place: Place
    # The version of its fields; None if it has none.
    version: int | None = None

    def read(self) -> dict[str, Any] | None:
        """The content without its version; None if there is no file."""
        if not self.place.exists():
            return None
        content = read_json(self.place)
        if not isinstance(content, dict) or (self.version and content.pop("version", None) != self.version):
            raise StorageError(
                f"{self.place} is not of version {self.version or 1}. Use the version of Ragstone that wrote it."
            )
        return content

    def write(self, content: Mapping[str, Any], indent: int | None = None) -> None:
        """Replace the content: the moment at which a step has happened."""
        version = {} if self.version is None else {"version": self.version}
        self.place.write_bytes(json.dumps({**version, **content}, indent=indent).encode())

    def matches(self, identity: Mapping[str, Any]) -> bool:
        """Whether it was written for this work: whether it has all these entries."""
        content = read_json(self.place) if self.place.exists() else None
        return isinstance(content, dict) and content.items() >= json.loads(json.dumps(identity)).items()


def from_fields(kind: type[T], content: Mapping[str, Any]) -> T:
    """An object of a dataclass from stored fields, without those that this version does not know."""
    known = {one.name for one in fields(kind)}  # type: ignore[arg-type]
    return kind(**{name: value for name, value in content.items() if name in known})


class Journal:
    """A file of JSON lines for one process, open for appending. A torn last line is cut off.

    With `sync`, rows are on disk when `append` returns, so that they survive a power cut too.
    """

    def __init__(self, path: str, keep: bool = True, sync: bool = True) -> None:
        self.path = path
        self._sync = sync
        folder = os.path.dirname(os.path.abspath(path))
        with ExitStack() as opened, self._explained():
            os.makedirs(folder, exist_ok=True)
            # The content is private data.
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
            opened.callback(self.close)
            lock_file(self._file, path, "Stop it, or choose another file.")
            self.truncate(self._whole_lines() if keep else 0)
            if sync and sys.platform != "win32":  # the entry of a new file in its folder
                descriptor = os.open(folder, os.O_RDONLY)
                os.fsync(descriptor)
                os.close(descriptor)
            opened.pop_all()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def append(self, rows: Iterable[Any]) -> None:
        """Write one line per row."""
        self.write(encode_rows(rows))

    def write(self, lines: bytes) -> None:
        """Write whole lines, all or none: after a failure the file has its earlier size."""
        with self._explained():
            try:
                os.lseek(self._file, self.size, os.SEEK_SET)
                left = memoryview(lines)
                while left:
                    left = left[os.write(self._file, left) :]
                if self._sync:
                    os.fsync(self._file)
            except OSError:
                os.ftruncate(self._file, self.size)
                raise
        self.size += len(lines)

    def truncate(self, size: int) -> None:
        """Cut the file to this size."""
        os.ftruncate(self._file, size)
        if self._sync:
            os.fsync(self._file)
        self.size = size

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def _whole_lines(self) -> int:
        """The size without an unfinished last line: its row was never acknowledged."""
        end = os.fstat(self._file).st_size
        while end:
            start = max(0, end - _BLOCK)
            os.lseek(self._file, start, os.SEEK_SET)
            block = os.read(self._file, end - start)
            if (found := block.rfind(b"\n")) >= 0:
                return start + found + 1
            end = start
        return 0

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StorageError(f"cannot write {self.path}: {error.strerror}") from None


def encode_rows(rows: Iterable[Any]) -> bytes:
    """Rows as JSON lines; a lone surrogate becomes a question mark."""
    return b"".join(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n" for row in rows)


def read_journal(path: str) -> list[Any]:
    """The rows of a journal; lines that are not JSON are left out, such as one that is being written."""
    try:
        lines = Path(path).read_bytes().split(b"\n")[:-1]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from None
    rows = []
    for line in lines:
        with suppress(ValueError):
            rows.append(json.loads(line))
    return rows


class SpoolFullError(StorageError):
    """The spool has reached its limit."""


class Spool:
    """A journal that many tasks append to at once; `append` returns after the rows are on disk.

    Rows that arrive while the disk is busy are written together, with one flush to disk for all of them.
    """

    def __init__(self, path: str, most_bytes: int) -> None:
        self.path = path
        self._journal = Journal(path)
        self._most_bytes = most_bytes
        self._waiting: list[tuple[bytes, asyncio.Future[None]]] = []
        self._task: asyncio.Task[None] | None = None

    async def append(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write rows and wait until they are on disk; a StorageError if they could not be written."""
        content = encode_rows(rows)
        if not content:
            return
        if self._journal.size + len(content) > self._most_bytes:
            raise SpoolFullError(f"{self.path} has reached its limit of {self._most_bytes:,} bytes")
        done = asyncio.get_running_loop().create_future()
        self._waiting.append((content, done))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._write_waiting())
        # A caller that leaves must not cancel what others wait for.
        await asyncio.shield(done)

    async def _write_waiting(self) -> None:
        while self._waiting:
            waiting, self._waiting = self._waiting, []
            try:
                await asyncio.to_thread(self._journal.write, b"".join(content for content, _ in waiting))
            except StorageError as failure:
                for _, done in waiting:
                    done.set_exception(failure)
                    done.exception()  # the caller may be gone
            else:
                for _, done in waiting:
                    done.set_result(None)

    def close(self) -> None:
        """Close the file."""
        self._journal.close()


def user_folder(kind: Literal["cache", "data"]) -> Path:
    """The user's folder for Ragstone's cache or data, where the system has them."""
    home = Path.home()
    if sys.platform == "darwin":
        base = home / "Library" / ("Caches" if kind == "cache" else "Application Support")
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif kind == "cache":
        base = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    return base / "ragstone"
