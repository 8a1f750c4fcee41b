"""A cache of replies in a folder or in object storage, and the wrapper that answers from it.

The key of a reply is a hash of everything that can change it. There is one small JSON file per reply, written under a
temporary name and renamed, so that several processes can share a folder. An entry that cannot be read is a miss; an entry
that cannot be written is dropped. Neither fails a run.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from ragstone.errors import StorageError
from ragstone.llm.base import LLM, LLMError, LLMWrapper, Reply, Request, UnsupportedFormatError, read_logprobs
from ragstone.llm.wrappers import Speed
from ragstone.storage.durable import user_folder
from ragstone.storage.places import Place, make_private_folders, open_place, open_private

VARIABLE = "RAGSTONE_CACHE"
_SUFFIX = ".json"
# A new version makes all older entries misses.
_VERSION = 1
_SEAM = b'\n"value":'
# How fast models answered, for quotes. Of earlier calls, no more than these count in full.
_SPEEDS, _MOST_MEASURED = "speeds.json", 1000


class CacheSize(NamedTuple):
    """The size of a cache."""

    entries: int
    size_bytes: int


def default_folder() -> Path:
    """Return RAGSTONE_CACHE, or the platform's cache folder."""
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen).expanduser()
    return user_folder("cache") / "replies"


def make_key(parts: Any) -> str:
    """Return the key of some JSON; the order of its keys does not matter."""
    canonical = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.blake2b(canonical.encode(), digest_size=20).hexdigest()


class Cache:
    """A folder of replies."""

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        self.folder = Path(folder) if folder is not None else default_folder()
        # The location, for display.
        self.shown = str(self.folder)
        # Why replies could not be stored, for a note at the end of a run.
        self.problem: str | None = None

    def __repr__(self) -> str:
        return f"Cache({str(self.folder)!r})"

    @property
    def place(self) -> Place:
        """The folder, for files other than replies."""
        return open_place(self.folder).as_private()

    def read(self, key: str) -> Any:
        """Return the value of a key, or None. A broken file is a miss."""
        try:
            with open(self._path(key), "rb") as stream:
                return _decode_entry(key, stream.read())
        except (OSError, ValueError, RecursionError):
            return None

    def write(self, key: str, value: Any) -> None:
        """Store a value. A failure is reported in `problem` and not raised."""
        path = self._path(key)
        temporary = f"{path}.{os.getpid()}-{threading.get_ident():x}.tmp"
        try:
            _write_file(temporary, _encode_entry(key, value))
            os.replace(temporary, path)
        except FileNotFoundError:
            pass  # another process is clearing the cache
        except OSError as error:
            self.problem = f"replies are not stored in {self.folder}: {error.strerror or type(error).__name__}"
            with suppress(OSError):
                os.remove(temporary)

    def read_speed(self, name: str) -> Speed | None:
        """Return the measured speed of a model; None if it was never asked."""
        sums = self._speeds().get(name)
        with suppress(TypeError, ValueError):
            return Speed(*map(float, sums or ())) if sums else None
        return None

    def add_speed(self, name: str, speed: Speed) -> None:
        """Add measured calls to those of earlier runs. It is a hint for quotes: what cannot be written is dropped."""
        known = self.read_speed(name)
        if known and known.calls > _MOST_MEASURED:
            known = Speed(*(value / 2 for value in known))
        speeds = {**self._speeds(), name: speed.add(known) if known else speed}
        with suppress(OSError):
            temporary = self.folder / f"{_SPEEDS}.{os.getpid()}.tmp"
            _write_file(str(temporary), json.dumps(speeds).encode())
            temporary.replace(self.folder / _SPEEDS)

    def _speeds(self) -> dict[str, Any]:
        try:
            found = json.loads((self.folder / _SPEEDS).read_bytes())
        except (OSError, ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def size(self) -> CacheSize:
        """Count the entries and their bytes."""
        entries = total = 0
        for path in self._files():
            with suppress(OSError):
                total += path.stat().st_size
                entries += path.suffix == _SUFFIX
        return CacheSize(entries, total)

    def clear(self) -> CacheSize:
        """Remove all entries, and no other files; return what was removed."""
        size = self.size()
        try:
            for path in self._files():
                path.unlink(missing_ok=True)
        except OSError as error:
            raise StorageError(f"cannot clear {self.folder}: {error.strerror}") from None
        for folder in self._folders():
            with suppress(OSError):
                folder.rmdir()
        return size

    def _path(self, key: str) -> str:
        return f"{self.folder}{os.sep}{key[:2]}{os.sep}{key[2:]}{_SUFFIX}"

    def _folders(self) -> list[Path]:
        try:
            return [path for path in self.folder.iterdir() if len(path.name) == 2 and path.is_dir()]
        except OSError:
            return []

    def _files(self) -> Iterator[Path]:
        """Yield entries and temporary files of killed processes."""
        for folder in self._folders():
            with suppress(OSError):
                yield from (path for path in folder.iterdir() if path.suffix in (_SUFFIX, ".tmp"))


def _encode_entry(key: str, value: Any) -> bytes:
    """Encode an entry: a line with its key and a checksum, then the value."""
    content = json.dumps(value, separators=(",", ":")).encode()
    return b"".join((_head(key, content), _SEAM, content, b"}"))


def _decode_entry(key: str, entry: bytes) -> Any:
    """Return the value of an entry, or None if it is broken or has another key."""
    head, _, value = entry.partition(_SEAM)
    return json.loads(value[:-1]) if head == _head(key, value[:-1]) and value[-1:] == b"}" else None


def _write_file(path: str, content: bytes) -> None:
    """Write without fsync: a reply that is lost in a power cut is only requested again."""
    try:
        with open_private(path) as stream:
            stream.write(content)
    except FileNotFoundError:
        make_private_folders(os.path.dirname(path))
        with open_private(path) as stream:
            stream.write(content)


def _head(key: str, value: bytes) -> bytes:
    """The first line of an entry: its key and the checksum of the second line."""
    checksum = hashlib.blake2b(value, digest_size=8).hexdigest()
    return f'{{"ragstone":{_VERSION},"key":"{key}","checksum":"{checksum}",'.encode()


class Cached(LLMWrapper):
    """A model behind a cache. Stores replies and unsupported reply formats, and merges identical requests in flight."""

    def __init__(self, llm: LLM, cache: Cache, address: str = "", read_only: bool = False) -> None:
        super().__init__(llm)
        self._cache = cache
        # The same name at another address may be a different model.
        self._address = address
        # A quote does not store its guesses. It keeps them in memory, because a repeated request would be free.
        self._quoted: dict[str, Reply] | None = {} if read_only else None
        self._flying: dict[str, asyncio.Future[Reply]] = {}
        self._refused: dict[str, bool] = {}
        self._speed = Speed()

    async def close(self) -> None:
        """Store how fast the model was, and close it."""
        if self._speed.calls and self._quoted is None:
            self._cache.add_speed(speed_name(self._llm, self._address), self._speed)
        await super().close()

    async def complete(self, request: Request) -> Reply:
        """Return the cached reply, the reply of an identical request in flight, or ask the model."""
        key = self.key(request)
        while (flight := self._flying.get(key)) is not None:
            # If the first request is cancelled, the next one calls the model.
            await asyncio.wait([flight])
            if not flight.cancelled():
                if isinstance(error := flight.exception(), LLMError):
                    error = copy(error)
                    error.attempts = 0  # only the first of them made a request
                    raise error
                return _as_cached(flight.result())
        started = time.perf_counter()
        quoted = (self._quoted or {}).get(key)
        stored = None if request.ask_again else quoted or decode_reply(self._cache.read(key))
        if stored is not None:
            return replace(stored, latency_s=time.perf_counter() - started)
        if self._refuses(request.reply_format):
            raise UnsupportedFormatError(f"{self.name} does not support {request.reply_format}")
        return await self._ask(key, request)

    def key(self, request: Request) -> str:
        """Return the cache key of a request."""
        return request_key(self._llm.signature, self._address, request)

    async def _ask(self, key: str, request: Request) -> Reply:
        flight: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._flying[key] = flight
        try:
            reply = await self._llm.complete(request)
            self._speed = self._speed.add(Speed.of_call(request, reply))
            await self._keep(key, reply)
        except Exception as error:
            if isinstance(error, UnsupportedFormatError):
                self._refused[request.reply_format] = True
                self._cache.write(self._format_key(request.reply_format), "refused")
            flight.set_exception(error)
            flight.exception()  # marks it as retrieved if no other task waits
            raise
        except BaseException:
            flight.cancel()
            raise
        finally:
            del self._flying[key]
        flight.set_result(reply)
        return reply

    def _refuses(self, reply_format: str) -> bool:
        """Return whether the server refused a format in an earlier run."""
        if reply_format not in self._refused:
            stored = None if reply_format == "text" else self._cache.read(self._format_key(reply_format))
            self._refused[reply_format] = stored == "refused"
        return self._refused[reply_format]

    def _format_key(self, reply_format: str) -> str:
        names = {"kind": "format", "model": self._llm.signature, "address": self._address, "format": reply_format}
        return make_key(names)

    async def _keep(self, key: str, reply: Reply) -> None:
        """Store a reply before it is used, so that a killed run never pays for it again."""
        if self._quoted is not None:
            self._quoted[key] = _as_cached(reply)
        elif not reply.stored:
            # In a thread: creating a file takes longer than the rest of a call.
            await asyncio.get_running_loop().run_in_executor(None, self._cache.write, key, encode_reply(reply))


def request_key(signature: str, address: str, request: Request) -> str:
    """Return the cache key of a request to the model with this signature at this address."""
    messages = request.messages[:-1] if request.repair else request.messages
    return make_key(
        {
            **({"repair": request.repair} if request.repair else {}),
            "kind": "chat",
            "model": signature,
            "address": address,
            "messages": [message.key for message in messages],
            "format": request.reply_format,
            "schema": request.schema,
            "temperature": request.temperature,
            "max_tokens": request.max_tokens,
            "repeat": request.repeat,
            "logprobs": request.logprobs,
            **({"template": request.template} if request.template else {}),
        }
    )


def speed_name(llm: LLM, address: str) -> str:
    """The name under which the speed of a model at an address is kept."""
    return f"{llm.signature} {address}".strip()


def _as_cached(reply: Reply) -> Reply:
    return replace(reply, cached=True, cost_usd=0.0, attempts=0)


def encode_reply(reply: Reply) -> dict[str, Any]:
    """Return a reply as it is stored."""
    names = ("text", "model", "input_tokens", "output_tokens", "finish_reason", "logprobs", "alternatives")
    stored = {name: getattr(reply, name) for name in names}
    return {**stored, "attachments": reply.attachments} if reply.attachments else stored


def decode_reply(stored: Any) -> Reply | None:
    """Decode a stored reply; None if it is malformed."""
    try:
        logprobs, alternatives = stored["logprobs"], stored.get("alternatives")
        reply = Reply(
            text=stored["text"],
            model=stored["model"],
            input_tokens=stored["input_tokens"],
            output_tokens=stored["output_tokens"],
            finish_reason=stored["finish_reason"],
            logprobs=None if logprobs is None else read_logprobs(logprobs),
            alternatives=None if alternatives is None else tuple(map(read_logprobs, alternatives)),
            attachments=tuple(stored.get("attachments") or ()),
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
    return _as_cached(reply) if isinstance(reply.text, str) else None


class DistantCache(Cache):
    """A cache in object storage, or any other location with a URL. Shared by workers on several machines."""

    def __init__(self, url: str) -> None:
        super().__init__(".")
        self.url = self.shown = url
        self._root = open_place(url).as_private()

    def __repr__(self) -> str:
        return f"DistantCache({self.url!r})"

    @property
    def place(self) -> Place:
        """The folder, for files other than replies."""
        return self._root

    def read(self, key: str) -> Any:
        """Return the value of a key, or None."""
        try:
            return _decode_entry(key, self._entry(key).read_bytes())
        except (StorageError, OSError, ValueError):
            return None

    def write(self, key: str, value: Any) -> None:
        """Store a value. A failure is reported in `problem` and not raised."""
        try:
            self._entry(key).write_bytes(_encode_entry(key, value))
        except (StorageError, OSError) as error:
            self.problem = f"replies are not stored in {self.url}: {error}"

    def _speeds(self) -> dict[str, Any]:
        return {}

    def add_speed(self, name: str, speed: Speed) -> None:
        """Do nothing: workers on several machines would overwrite each other's."""

    def size(self) -> CacheSize:
        """Count the entries and their bytes."""
        sizes = [len(entry.read_bytes()) for entry in self._entries()]
        return CacheSize(len(sizes), sum(sizes))

    def clear(self) -> CacheSize:
        """Remove all entries; return what was removed."""
        size = self.size()
        for entry in self._entries():
            entry.remove()
        return size

    def _entry(self, key: str) -> Place:
        return self._root / key[:2] / f"{key[2:]}.json"

    def _entries(self) -> list[Place]:
        folders = [folder for folder in self._root.children() if len(folder.name) == 2]
        return [entry for folder in folders for entry in folder.children() if entry.name.endswith(".json")]


def open_cache(folder: str | os.PathLike[str] | None = None) -> Cache:
    """Open the cache in a folder or at a URL; by default RAGSTONE_CACHE or the usual folder."""
    chosen = os.fspath(folder) if folder is not None else os.environ.get(VARIABLE) or os.fspath(default_folder())
    return DistantCache(chosen) if "://" in chosen else Cache(chosen if folder is not None else None)
