"""The log files of a watch: which there are, and what is new in each since the last position.

Lines are read up to the last complete one. A file keeps its position when it is renamed, copied or compressed by log
rotation: it is recognised by its first bytes and by those before the position.
"""

from __future__ import annotations

import atexit
import fnmatch
import glob
import gzip
import hashlib
import io
import os
import re
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from typing import IO, Any, NamedTuple

from pyarrow import fs

from ragstone.data.codec import load_json
from ragstone.errors import InputError, Problem, UsageError
from ragstone.formats.dial_logs import DialLogsFormat
from ragstone.formats.file_rows import LONGEST_LINE_BYTES
from ragstone.formats.log_parts import Selection, find_parts
from ragstone.formats.sources import Source, similar_files
from ragstone.storage.places import Place, open_place, storage_errors
from ragstone.watch.state import FileState, State

LINES, WHOLE = "lines", "whole"
BLOCK_BYTES = 4 << 20
LARGEST_GZIP_BYTES = 2 << 30
_HEAD_BYTES = 1024
_unpacked: dict[tuple[Any, ...], IO[bytes]] = {}
_LINES = re.compile(r"\.(jsonl|ndjson|log)([.-].*)?$", re.IGNORECASE)
_READABLE = re.compile(r"\.(jsonl|ndjson|log|json|csv|tsv|parquet|arrow|feather)([.-].*)?$", re.IGNORECASE)
_UNFINISHED = re.compile(r"(^[._~])|\.(tmp|swp|crc|inprogress|part)$|~$", re.IGNORECASE)
_WILD = re.compile(r"[*?\[]")


class Found(NamedTuple):
    """A file of a source with its size and time of change."""

    place: Place
    version: str
    size: int


class Line(NamedTuple):
    """A row of a growing file and the position of its first byte."""

    position: int
    values: dict[str, Any]


@dataclass(frozen=True)
class Block:
    """The complete lines after a position, the next position, and the number of lines that are not JSON objects.

    `head`, `head_bytes` and `tail` identify the file up to the next position, as in FileState.
    """

    lines: list[Line]
    position: int
    broken: int = 0
    at_end: bool = True
    head: str = ""
    head_bytes: int = 0
    tail: str = ""


def find_files(url: str, first: date | None) -> Iterator[Found]:
    """The files of a source: a file and its rotated copies, a folder, or a pattern with * and ?.

    `first` is the first day of interest; folders of earlier days in DIAL's layouts are not listed.
    """
    place = open_place(url)
    if _WILD.search(url) and not place.exists():
        yield from _find_by_pattern(place)
    elif place.is_folder():
        if DialLogsFormat().recognises([Source(place)]):
            for part in find_parts(place, Selection(first=first)):
                if part.place is not None:
                    yield _as_found(part.place, part.info) if part.info else _describe(part.place)
        else:
            yield from (one for one in _inside(place) if _READABLE.search(one.place.name))
    else:
        parent, name = _parent(place), place.name
        for one in _inside(parent, recursive=False):
            if one.place.name == name or one.place.name.startswith((f"{name}.", f"{name}-")):
                yield one


def _find_by_pattern(place: Place) -> Iterator[Found]:
    if place.is_local:
        for path in sorted(glob.glob(place.path, recursive=True)):
            if os.path.isfile(path) and not _UNFINISHED.search(os.path.basename(path)):
                yield _describe(open_place(path))
        return
    yield from (one for one in _inside(_above(place)) if fnmatch.fnmatchcase(one.place.path, place.path))


def _above(pattern: Place) -> Place:
    """The deepest folder of a pattern that has a fixed name."""
    fixed = pattern.path[: _WILD.search(pattern.path).start()].rpartition("/")[0]  # type: ignore[union-attr]
    return Place(pattern.files, fixed, pattern.url[: len(pattern.url) - len(pattern.path) + len(fixed)])


def _parent(place: Place) -> Place:
    return Place(place.files, place.path.rpartition("/")[0], place.url.rpartition("/")[0] or ".")


def _inside(folder: Place, recursive: bool = True) -> Iterator[Found]:
    with storage_errors(f"cannot list {folder}"):
        selector = fs.FileSelector(folder.path, allow_not_found=True, recursive=recursive)
        entries = folder.files.get_file_info(selector)
    for info in sorted(entries, key=lambda info: info.path):
        if info.type == fs.FileType.File and not _UNFINISHED.search(info.base_name):
            yield _as_found(folder / info.path[len(folder.path.rstrip("/")) + 1 :], info)


def _describe(place: Place) -> Found:
    with storage_errors(f"cannot look at {place}"):
        return _as_found(place, place.files.get_file_info(place.path))


def _as_found(place: Place, info: fs.FileInfo) -> Found:
    changed = info.mtime_ns if info.mtime_ns is not None else 0
    return Found(place, f"{info.size}-{changed}", info.size or 0)


def changed_files(source: int, found: Sequence[Found], state: State) -> Iterator[tuple[str, Found]]:
    """The files with something new, each with the number under which the state knows it.

    New files are entered into the state. Files without a complete line are left for later.
    """
    paths = {one.place.path: one for one in found}
    known = {number: entry for number, entry in state.files.items() if entry.source == source}
    taken = {
        number for number, entry in known.items() if entry.path in paths and entry.looked == paths[entry.path].version
    }
    quiet = {known[number].path for number in taken}
    index = _KnownFiles(known)
    for one in found:
        if one.place.path in quiet or not one.size:
            continue
        alike = index.with_head_of(one)
        number = _find_known(one, known, [*index.at_path(one.place.path), *alike], taken)
        if number is None and any(_is_copy(one, known[other], paths) for other in alike):
            continue
        if number is None:
            number = str(state.next_file)
            state.next_file += 1
            state.files[number] = known[number] = FileState(source, one.place.path)
        state.files[number].path = one.place.path
        taken.add(number)
        yield number, one
        index.add(number)


class _KnownFiles:
    """The known files by path and by their first bytes, so that a new file is opened once and not once per known file."""

    def __init__(self, known: dict[str, FileState]) -> None:
        self._known = known
        self._by_path: dict[str, list[str]] = {}
        self._by_head: dict[int, dict[str, list[str]]] = {}
        for number in known:
            self.add(number)

    def add(self, number: str) -> None:
        """Enter a known file that was read."""
        entry = self._known[number]
        numbers = [self._by_path.setdefault(entry.path, [])]
        if entry.kind != WHOLE and entry.head:
            numbers.append(self._by_head.setdefault(entry.head_bytes, {}).setdefault(entry.head, []))
        for some in numbers:
            if number not in some:
                some.append(number)

    def at_path(self, path: str) -> list[str]:
        """The numbers of the files that were at a path."""
        return self._by_path.get(path, [])

    def with_head_of(self, one: Found) -> list[str]:
        """The numbers of the files that begin with the same bytes, oldest first."""
        if not self._by_head or one.place.name.lower().endswith((".parquet", ".arrow", ".feather")):  # no lines
            return []
        try:
            with _reading(one.place) as stream:
                start = stream.read(max(self._by_head))
        except InputError:  # its reader says what is wrong with it
            return []
        found = (heads.get(_digest(start[:size]), []) for size, heads in self._by_head.items())
        return sorted({number for numbers in found for number in numbers}, key=int)


def _find_known(one: Found, known: dict[str, FileState], numbers: list[str], taken: set[str]) -> str | None:
    """The entry whose bytes this file has: that of its path first, otherwise one that was renamed."""
    for number in dict.fromkeys(numbers):
        entry = known[number]
        if number in taken:
            continue
        if entry.kind == WHOLE or not entry.head:
            if entry.path == one.place.path:
                return number
        elif _has_bytes(one, entry):
            return number
    return None


def _is_copy(one: Found, entry: FileState, paths: dict[str, Found]) -> bool:
    """Whether a file is a copy of a known one that is still there, such as one that is just being made by log rotation."""
    original = paths.get(entry.path)
    if entry.kind == WHOLE or not entry.head or original is None or original.place == one.place:
        return False
    if _has_bytes(one, entry):
        return True
    with _reading(one.place) as stream:
        if _digest(stream.read(entry.head_bytes)) != entry.head:
            return False
        end = stream.seek(0, io.SEEK_END)
        copy = _before(stream, end)
    with _reading(original.place) as stream:
        return end < entry.position and _before(stream, end) == copy


def _has_bytes(one: Found, entry: FileState) -> bool:
    with _reading(one.place) as stream:
        return _is_file_of(entry, stream)


def _is_file_of(entry: FileState, stream: IO[bytes]) -> bool:
    stream.seek(0)
    if _digest(stream.read(entry.head_bytes)) != entry.head:
        return False
    return stream.seek(0, io.SEEK_END) >= entry.position and _digest(_before(stream, entry.position)) == entry.tail


def _before(stream: IO[bytes], position: int) -> bytes:
    start = max(0, position - _HEAD_BYTES)
    stream.seek(start)
    return stream.read(position - start)


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=8).hexdigest()


def remember(entry: FileState, block: Block) -> None:
    """Move the position of a growing file behind a block."""
    entry.position = block.position
    entry.head, entry.head_bytes, entry.tail = block.head, block.head_bytes, block.tail


def rewind(entry: FileState) -> None:
    """Read a file again from its start."""
    entry.position, entry.tail = 0, "" if entry.kind == WHOLE else _digest(b"")


def kind_of_file(one: Found) -> str | None:
    """`lines` for JSON lines, `whole` for documents and tables; None if that is not clear yet."""
    if _LINES.search(one.place.name):
        return LINES
    try:
        kind = Source(one.place).kind
    except InputError:
        return None
    if kind == "jsonl":
        return LINES
    return WHOLE if kind in ("json", "csv", "parquet", "arrow") else None


def read_block(place: Place, entry: FileState) -> Block:
    """The next lines of a growing file. The last line counts without a line break if it is a complete JSON object.

    The file is opened once. If log rotation has just put another file at its path, the block is empty: with the position
    of one file in another, lines would be lost. The next pass finds both.
    """
    position = entry.position
    with _reading(place) as stream:
        if entry.head and not _is_file_of(entry, stream):
            return Block([], position)
        before = _before(stream, position)
        content = stream.read(BLOCK_BYTES)
        while b"\n" not in content and len(content) < LONGEST_LINE_BYTES and (more := stream.read(BLOCK_BYTES)):
            content += more
        at_end = not stream.read(1)
    end = content.rfind(b"\n") + 1
    rest = content[end:]
    if rest and ((at_end and _parse(rest) is not None) or len(content) >= LONGEST_LINE_BYTES):
        end = len(content)
    lines, broken, start = [], 0, 0
    for line in content[:end].splitlines(keepends=True) if end else ():
        values = _parse(line)
        if values is not None:
            lines.append(Line(position + start, values))
        elif line.strip():
            broken += 1
        start += len(line)
    known = before + content[:end]
    head, head_bytes = entry.head, entry.head_bytes
    if head_bytes < _HEAD_BYTES:  # then `known` begins with the first byte of the file
        head, head_bytes = _digest(known[:_HEAD_BYTES]), min(_HEAD_BYTES, len(known))
    return Block(lines, position + end, broken, at_end, head, head_bytes, _digest(known[-_HEAD_BYTES:]))


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        values = load_json(line)
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else None


@contextmanager
def _reading(place: Place) -> Iterator[IO[bytes]]:
    """The decompressed bytes."""
    with storage_errors(f"cannot read {place}"), place.open_input() as file:
        raw: Any = io.BufferedReader(file)
        try:
            if raw.peek(2)[:2] == b"\x1f\x8b":
                yield _seekable(raw, place)
            else:
                yield raw
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise InputError(
                str(place), [Problem(f"is a damaged gzip file: {error}", hint="compress it again")]
            ) from None


def _seekable(raw: IO[bytes], place: Place) -> IO[bytes]:
    """A gzip file cannot be sought from its end. The last one is kept, because it is read block by block."""
    info = place.files.get_file_info(place.path)
    key = (place.url, info.size, info.mtime_ns)
    if key not in _unpacked:
        _close_unpacked()
        spool = _unpacked[key] = tempfile.TemporaryFile()  # noqa: SIM115  (it lives until the next file is read)
        try:
            with gzip.GzipFile(fileobj=raw) as packed:
                while block := packed.read(1 << 20):
                    spool.write(block)
                    if spool.tell() > LARGEST_GZIP_BYTES:
                        hint = "split it, or decompress it: plain files may have any size"
                        problem = Problem(f"has over {LARGEST_GZIP_BYTES >> 30} GB when it is decompressed", hint=hint)
                        raise InputError(str(place), [problem])
        except BaseException:
            _close_unpacked()
            raise
    _unpacked[key].seek(0)
    return _unpacked[key]


@atexit.register
def _close_unpacked() -> None:
    for key in list(_unpacked):
        _unpacked.pop(key).close()


def check_sources(urls: Sequence[str]) -> None:
    """Raises if a source cannot be watched, or the folder of its files does not exist. The files may come later."""
    for url in urls:
        if url == "-":
            raise UsageError("a watch cannot read standard input. Append the log to a file and watch that.")
        place = open_place(url)
        if not place.is_local or place.exists():
            continue
        folder = _above(place) if _WILD.search(url) else _parent(place)
        if not folder.exists():
            raise UsageError(f"--from {url}: there is no folder '{folder}'. {similar_files(folder)}")
