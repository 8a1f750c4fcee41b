"""Places: files and folders on a local disk, in an S3 bucket, or at any fsspec URL."""

from __future__ import annotations

import errno
import json
import mmap
import os
import re
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import IO, Any

import pyarrow as pa
from pyarrow import fs

from ragstone.errors import DamagedError, MissingExtraError, StorageError, UsageError

# Windows says the first if another process has a file of the folder open.
_PASSING = (errno.EACCES, errno.ENOTEMPTY) if sys.platform == "win32" else (errno.ENOTEMPTY,)
# The path of file:///C:/data
_DRIVE = re.compile(r"/[A-Za-z]:")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
_LOGIN = re.compile(r"(?<=://)[^/@]*:[^/@]*@")
_QUERY = re.compile(r"\?[^?]*=.*")
_S3_TIMEOUT_S = 20
# The end of a file's name while it is written.
TEMPORARY_ENDING = ".tmp"


@dataclass(frozen=True)
class Place:
    """A path within a file system. New local files and folders of a private place are for their owner only."""

    files: fs.FileSystem
    path: str
    url: str
    private: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        return show_url(self.url)

    def __truediv__(self, name: str) -> Place:
        return Place(self.files, f"{self.path.rstrip('/')}/{name}", f"{self.url.rstrip('/')}/{name}", self.private)

    def as_private(self) -> Place:
        """The same place, for data that only the user may read."""
        return replace(self, private=True)

    def as_shared(self) -> Place:
        """The same place, for files with the usual permissions, such as reports."""
        return replace(self, private=False)

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rstrip("/").rpartition("/")[2]

    @property
    def is_local(self) -> bool:
        """Whether the place is on this machine's disk."""
        return isinstance(self.files, fs.LocalFileSystem)

    def kind(self) -> fs.FileType:
        """File, Directory or NotFound."""
        with storage_errors(f"cannot look at {self}"):
            return self.files.get_file_info(self.path).type

    def exists(self) -> bool:
        """Whether there is a file or folder."""
        return bool(self.kind() != fs.FileType.NotFound)

    def is_file(self) -> bool:
        """Whether there is a file. On S3 one request; `exists` lists a folder of that name too if there is no file."""
        if self.is_local:
            return bool(self.kind() == fs.FileType.File)
        with storage_errors(f"cannot look at {self}"):
            try:
                self.files.open_input_file(self.path).close()
            except FileNotFoundError:
                return False
        return True

    def is_folder(self) -> bool:
        """Whether it is a folder (on S3: a prefix with objects)."""
        return bool(self.kind() == fs.FileType.Directory)

    def children(self) -> list[Place]:
        """The entries of a folder, sorted by name; empty if the folder does not exist."""
        return [place for place, _ in self.entries()]

    def entries(self) -> list[tuple[Place, fs.FileInfo]]:
        """The same with size and time of change of each, without a request per entry."""
        with storage_errors(f"cannot list {self}"):
            entries = self.files.get_file_info(fs.FileSelector(self.path, allow_not_found=True))
        return [(self / info.base_name, info) for info in sorted(entries, key=lambda info: info.base_name)]

    def files_below(self) -> list[str]:
        """The paths of all files in a folder and its subfolders, relative to it and sorted: on S3 one request per 1,000 files."""
        with storage_errors(f"cannot list {self}"):
            entries = self.files.get_file_info(fs.FileSelector(self.path, allow_not_found=True, recursive=True))
        # Some file systems list paths with another leading slash.
        start = len(self.path.strip("/")) + 1
        return sorted(info.path.lstrip("/")[start:] for info in entries if info.type == fs.FileType.File)

    def open_input(self) -> pa.NativeFile:
        """A seekable file to read. A pipe or device is refused, because opening it can wait forever."""
        if self.is_local and self.kind() == fs.FileType.Unknown:
            raise UsageError(f"'{self}' is not a regular file. Pass a file; '-' reads data from standard input.")
        with storage_errors(f"cannot read {self}"):
            return self.files.open_input_file(self.path)

    def read_bytes(self) -> bytes:
        """The whole content."""
        with storage_errors(f"cannot read {self}"), self.open_input() as stream:
            return bytes(stream.read())

    def remove(self) -> None:
        """Remove a file if it exists."""
        with storage_errors(f"cannot remove {self}"), suppress(FileNotFoundError):
            self.files.delete_file(self.path)

    def remove_folder(self) -> None:
        """Remove a folder and its content if it exists; again if a process that is about to end has just written into it."""
        with storage_errors(f"cannot remove {self}"):
            for again in (True, True, False):
                try:
                    if self.is_folder():
                        self.files.delete_dir(self.path)
                    return
                except OSError as error:
                    if error.errno not in _PASSING or not again:
                        raise
                    time.sleep(0.2)

    @contextmanager
    def writing(self) -> Iterator[IO[bytes]]:
        """Open a file for writing. It appears complete if the block succeeds, otherwise not at all.

        Local: a temporary file in the same folder, then a rename. Remote: a local temporary file, then one upload, because
        closing a partly written object would publish it.
        """
        with storage_errors(f"cannot write {self}"):
            if self.is_local:
                with self._writing_locally() as stream:
                    yield stream
            else:
                with tempfile.TemporaryFile() as spool:
                    yield spool
                    spool.flush()
                    empty = os.fstat(spool.fileno()).st_size == 0
                    content = b"" if empty else mmap.mmap(spool.fileno(), 0, access=mmap.ACCESS_READ)
                    # All bytes in one call, so that Ctrl-C cannot publish a partial object.
                    with self._open_output() as target:
                        target.write(content)

    def write_bytes(self, content: bytes) -> None:
        """Write a small file atomically."""
        with self.writing() as stream:
            stream.write(content)

    def _open_output(self) -> pa.NativeFile:
        try:
            return self.files.open_output_stream(self.path)
        except FileNotFoundError:
            if isinstance(self.files, fs.S3FileSystem):
                raise
            # Some fsspec file systems have real folders that must exist.
            self.files.create_dir(self.path.rpartition("/")[0], recursive=True)
            return self.files.open_output_stream(self.path)

    @contextmanager
    def _writing_locally(self) -> Iterator[IO[bytes]]:
        folder = os.path.dirname(self.path)
        if self.private:
            make_private_folders(folder)
        else:
            os.makedirs(folder, exist_ok=True)
        temporary = f"{self.path}.{uuid.uuid4().hex[:8]}{TEMPORARY_ENDING}"
        try:
            with open_private(temporary) if self.private else open(temporary, "wb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            _replace(temporary, self.path)
        except BaseException:
            with suppress(FileNotFoundError):
                os.remove(temporary)
            raise


def _replace(temporary: str, path: str) -> None:
    """Windows refuses as long as another process reads the old file: try for a second."""
    for left in reversed(range(20 if sys.platform == "win32" else 1)):
        try:
            os.replace(temporary, path)
            return
        except PermissionError:
            if not left:
                raise
            time.sleep(0.05)


def make_private_folders(path: str) -> None:
    """Create a folder and its missing parents with mode 0700. Folders that exist keep their permissions."""
    if path and not os.path.isdir(path):
        if (parent := os.path.dirname(path)) != path:  # a drive of Windows may be missing
            make_private_folders(parent)
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:  # another process was faster, or it is a file
            if not os.path.isdir(path):
                raise


def private_opener(path: str, flags: int) -> int:
    """The `opener` of `open` that creates files with mode 0600."""
    return os.open(path, flags, 0o600)


def open_private(path: str) -> IO[bytes]:
    """Open a file for writing; a new file gets mode 0600."""
    return open(path, "wb", opener=private_opener)


def show_url(url: str) -> str:
    """A path or URL for messages and records: without user and password, and without a query, which may be signed."""
    return _QUERY.sub("?…", _LOGIN.sub("", url, count=1)) if _SCHEME.match(url) else url


def open_place(url: str | os.PathLike[str]) -> Place:
    """The place of a local path, `s3://bucket/key`, or any URL that fsspec supports."""
    text = os.fspath(url)
    if not text:
        raise UsageError("the path is empty. If it comes from a variable, check that the variable is set.")
    scheme = _SCHEME.match(text)
    if not scheme:
        return Place(fs.LocalFileSystem(), _local_path(os.path.expanduser(text)), text.replace(os.sep, "/"))
    kind, rest = scheme[1].lower(), text[scheme.end() :]
    if _LOGIN.search(text):
        raise UsageError(
            f"the address {show_url(text)} was given with a password, which would be stored. Leave it out, and set "
            f"{'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY' if kind == 's3' else 'it in the configuration of fsspec'}."
        )
    if kind == "file":
        rest = rest[1:] if _DRIVE.match(rest) else rest
        return Place(fs.LocalFileSystem(), _local_path(rest), rest)
    if not rest.strip("/"):
        raise UsageError(f"'{text}' has no bucket or host")
    if kind == "s3":
        return Place(_s3(), re.sub("/+", "/", rest.strip("/")), text)
    return Place(_fsspec(kind, text), rest.rstrip("/"), text)


def _local_path(path: str) -> str:
    """The absolute path with `/`, which Windows and Arrow accept: the parts of a `Place` are found by it."""
    return os.path.abspath(path).replace(os.sep, "/")


def _s3() -> fs.FileSystem:
    """S3, configured by the usual AWS_ variables; AWS_ENDPOINT_URL selects a compatible server."""
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "us-east-1"
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    return fs.S3FileSystem(
        region=region,
        endpoint_override=endpoint,
        connect_timeout=_S3_TIMEOUT_S,
        request_timeout=_S3_TIMEOUT_S,
        retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=3),
        force_virtual_addressing=False,
        # A small file is one request in place of three.
        allow_delayed_open=True,
    )


def _fsspec(scheme: str, url: str) -> fs.FileSystem:
    try:
        import fsspec  # noqa: PLC0415  (an extra)
    except ImportError:
        raise MissingExtraError(f"reading {show_url(url)}", "fsspec") from None
    try:
        return fs.PyFileSystem(fs.FSSpecHandler(fsspec.filesystem(scheme)))
    except (ValueError, ImportError, TypeError) as error:
        raise UsageError(f"cannot open '{show_url(url)}': {show_url(str(error))}") from None


@contextmanager
def storage_errors(what: str) -> Iterator[None]:
    """Turns failures of disks and buckets into a StorageError with reason and advice."""
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        reason, advice = _explain(error)
        raise StorageError(f"{what}: {reason}{f'. {advice}' if advice else ''}") from error
    except Exception as error:
        # The file systems of fsspec raise errors of their own libraries; ours and Python's are bugs.
        if type(error).__module__.partition(".")[0] in ("ragstone", "builtins"):
            raise
        raise StorageError(f"{what}: {_without_noise(str(error)) or type(error).__name__}") from error


@contextmanager
def damage_errors(place: Place) -> Iterator[None]:
    """The same for reading a file of a run: a DamagedError unless the disk, the network or the permissions are the reason."""
    try:
        with storage_errors(f"cannot read {place}"):
            yield
    except StorageError as error:
        reason, advice = _explain(error.__cause__) if isinstance(error.__cause__, Exception) else (str(error), "")
        if isinstance(error, DamagedError) or (advice and not isinstance(error.__cause__, FileNotFoundError)):
            raise
        raise DamagedError(place, reason) from error


def _explain(error: Exception) -> tuple[str, str]:
    text = " ".join(str(error).split())
    number = getattr(error, "errno", None)
    if isinstance(error, FileNotFoundError) or "NO_SUCH_KEY" in text:
        return "there is no such file or folder", "Check the name."
    if "NO_SUCH_BUCKET" in text or "bucket does not exist" in text or ("Bucket" in text and "not exist" in text):
        return "there is no such bucket", "Create it first, or check its name and AWS_ENDPOINT_URL."
    if isinstance(error, PermissionError) or "ACCESS_DENIED" in text or "READ-ONLY" in text.upper():
        return "permission denied", "Fix the permissions, or choose another location."
    if number == 28 or "No space left" in text:
        return "the disk is full", "Free some space, then run again with --resume."
    if number == 30:
        return "the file system is read-only", "Choose another location."
    if "NETWORK_CONNECTION" in text or "Couldn't connect" in text or "Connection refused" in text:
        return "the server does not answer", "Check the network and AWS_ENDPOINT_URL."
    return (os.strerror(number) if isinstance(number, int) else _without_noise(text)), ""


def _without_noise(text: str) -> str:
    return text.split("Detail:", maxsplit=1)[0].strip()[:400]


def read_json(place: Place) -> Any:
    """A small JSON file."""
    try:
        with suppress(ValueError):
            return json.loads(place.read_bytes())
        # An object that was replaced between the request for its size and that for its content is cut: read it again.
        return json.loads(place.read_bytes())
    except ValueError as error:
        raise StorageError(f"cannot read {place}: it is not JSON ({error})") from None
