"""Batches in OpenAI's format: through its batch API, or as files for vLLM's `run_batch` and other offline tools."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

from ragstone.data.codec import load_json
from ragstone.errors import StopRunError
from ragstone.http.client import HttpClient, HttpError, HttpReply
from ragstone.llm.base import LLMAccessError, LLMBusyError, Reply, Request
from ragstone.llm.batches import BatchRecord, BatchResult, BatchState, BatchUnknownError
from ragstone.llm.endpoints import Endpoint
from ragstone.llm.providers.openai import OpenAIChat, OpenAIEndpoint, explain_status, read_choice

P = ParamSpec("P")
T = TypeVar("T")
_URL = "/v1/chat/completions"
_MEGABYTE = 1_000_000
# The name of our entry in a batch's metadata.
_MARK = "ragstone"
_RUNNING = ("validating", "in_progress", "finalizing", "cancelling", "queued", "pending", "running", "processing")
_ENDED = ("completed", "failed", "expired", "cancelled", "canceled", "succeeded")
_AT_A_TIME = 100
_PAGES = 20
_BOUNDARY = "ragstone-batch-boundary"
# Uploads and downloads of large files.
TRANSFER_S = 1800.0


def understood(method: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Decorator of a batch API's methods: a reply that lacks something, or has it in another form, is asked for again."""

    @wraps(method)
    async def call(*given: P.args, **named: P.kwargs) -> T:
        try:
            return await method(*given, **named)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            api, record = cast("tuple[BatchEndpoint, BatchRecord]", given[:2])
            what = f"without {error}" if isinstance(error, KeyError) else "of another form than expected"
            raise LLMBusyError(f"{api.where} sent a reply about batch {record.batch or record.id} {what}") from None

    return call


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a JSON object, or an empty one in place of anything else."""
    return value if isinstance(value, Mapping) else {}


def count(value: Any) -> int:
    """Return a count, or 0 in place of anything else."""
    return value if isinstance(value, int) else 0


class BatchEndpoint(OpenAIEndpoint):
    """Base of batch APIs behind an endpoint."""

    has_calls, guesses = True, False

    def __init__(self, endpoint: Endpoint, client: HttpClient, timeout_s: float) -> None:
        super().__init__(endpoint, client, timeout_s)
        self.where = endpoint.shown
        self._headers: Mapping[str, str] = endpoint.headers

    def advise(self, record: BatchRecord) -> str:
        """Return what the user can do about a batch that is not finished."""
        return f"Run the same command again to continue; `ragstone batches cancel {record.id}` ends it."

    async def _fetch(self, what: str, body: bytes | None = None, kind: str = "application/json") -> bytes:
        """Send a POST with a body, or a GET; return the body of the reply or raise an error that says whether to retry."""
        path, _, query = what.partition("?")
        url = self._endpoint.url(path)
        url = f"{url}{'&' if '?' in url else '?'}{query}" if query else url
        headers, timeout_s = {**self._headers, "Content-Type": kind}, max(self._timeout_s, TRANSFER_S)
        try:
            reply = await self._client.send("GET" if body is None else "POST", url, body, headers, timeout_s)
        except HttpError as error:
            raise self._explain(error) from None
        self._has_answered = True
        if reply.status in (404, 405) and path in ("files", "batches", "messages/batches"):
            raise LLMAccessError(f"{self.where} has no batch API ({path}): repeat the command without --batch.")
        if reply.status in (404, 410) and path.endswith(("/content", "/results")):
            raise BatchUnknownError(f"{self.where} does not have {path} any more.")
        if reply.status == 404 and "batches/" in path:
            raise BatchUnknownError(f"{self.where} does not know the batch {path.rpartition('batches/')[2]}.")
        if reply.status != 200:
            raise explain_status(reply, self._endpoint)
        return reply.body

    async def _fetch_lines(self, what: str) -> list[bytes]:
        """Return the lines of a file of results; none if it was deleted. A web page in its place is asked for again."""
        try:
            lines = [line for line in (await self._fetch(what)).splitlines() if line.strip()]
        except BatchUnknownError:
            return []
        if lines and not any(map(_is_json, lines)):
            raise LLMBusyError(f"{self.where} sent something else than results ({what})")
        return lines

    async def _json(self, what: str, body: Any = None) -> Any:
        return _parse(await self._fetch(what, None if body is None else json.dumps(body).encode()), self.where)

    def _explained(self, result: BatchResult, request: Request | None) -> Exception:
        reply = HttpReply(result.status, {}, json.dumps(result.body).encode())
        return explain_status(reply, self._endpoint, request)


class OpenAIBatches(BatchEndpoint):
    """OpenAI's batch API."""

    kind = "openai"
    most_requests, most_bytes = 50_000, 190 * _MEGABYTE

    def __init__(self, chat: OpenAIChat, endpoint: Endpoint, client: HttpClient, timeout_s: float) -> None:
        super().__init__(endpoint, client, timeout_s)
        self._chat = chat

    def line(self, key: str, request: Request) -> bytes:
        """Return a request of a batch as JSON."""
        body = self._chat.batch_body(request)
        line = {"custom_id": key, "method": "POST", "url": _URL, "body": body}
        return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")

    @understood
    async def prepare(self, record: BatchRecord, lines: Sequence[bytes]) -> Any:
        """Upload the requests as a file; return its id."""
        name = f"ragstone-{record.id}.jsonl"
        parts = [
            f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'.encode(),
            f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'.encode(),
            b"Content-Type: application/jsonl\r\n\r\n",
            *(piece for line in lines for piece in (line, b"\n")),
            f"\r\n--{_BOUNDARY}--\r\n".encode(),
        ]
        kind = f"multipart/form-data; boundary={_BOUNDARY}"
        return str(_parse(await self._fetch("files", b"".join(parts), kind), self.where)["id"])

    @understood
    async def create(self, record: BatchRecord, prepared: Any) -> str:
        """Submit the batch with the record's id as metadata; return its id."""
        body = {"input_file_id": prepared, "endpoint": _URL, "completion_window": "24h", "metadata": {_MARK: record.id}}
        return str((await self._json("batches", body))["id"])

    @understood
    async def find(self, record: BatchRecord, taken: frozenset[str]) -> str | None:
        """Look for the record's id in the metadata of recent batches."""
        after = ""
        for _ in range(_PAGES):
            page = await self._json(f"batches?limit={_AT_A_TIME}{after}")
            for batch in map(mapping, page["data"]):
                if mapping(batch.get("metadata")).get(_MARK) == record.id and batch["id"] not in taken:
                    return str(batch["id"])
            if not page.get("has_more") or not page["data"]:
                return None
            after = f"&after={page['data'][-1]['id']}"
        return None

    @understood
    async def look(self, record: BatchRecord) -> BatchState:
        """Return the state of a batch."""
        batch = await self._json(f"batches/{record.batch}")
        counts, errors = mapping(batch.get("request_counts")), mapping(batch.get("errors")).get("data")
        files = tuple(str(batch[name]) for name in ("output_file_id", "error_file_id") if batch.get(name))
        done = count(counts.get("completed")) + count(counts.get("failed"))
        told = [str(mapping(error).get("message")) for error in errors[:2]] if isinstance(errors, list) else []
        problem, status = self._endpoint.hide_keys("; ".join(told)), str(batch["status"])
        is_known = status.lower() in (*_RUNNING, *_ENDED)
        return BatchState(status, status.lower() in _ENDED, done, problem, files, is_known)

    @understood
    async def results(self, record: BatchRecord, state: BatchState) -> list[BatchResult]:  # noqa: ARG002  (the protocol)
        """Return the lines of the output file and of the error file."""
        found: list[BatchResult] = []
        for file in state.files:
            found += read_lines(await self._fetch_lines(f"files/{file}/content"))
        return found

    async def cancel(self, record: BatchRecord) -> None:
        """Ask the server to end a batch."""
        await self._json(f"batches/{record.batch}/cancel", {})

    def read(self, result: BatchResult, request: Request | None) -> Reply:
        """Return the reply in a result, or raise an LLMError."""
        if result.status != 200:
            raise self._explained(result, request)
        return read_choice(result.body, self.name, 0.0)


class BatchFiles(OpenAIBatches):
    """Files in OpenAI's batch format, for a tool that the user runs."""

    kind = "files"
    has_calls = False

    def __init__(self, chat: OpenAIChat, endpoint: Endpoint, folder: str) -> None:
        super().__init__(chat, endpoint, HttpClient(), 1.0)
        self.where = folder

    def advise(self, record: BatchRecord) -> str:
        """Return the command that answers the requests."""
        command = ["python", "-m", "vllm.entrypoints.openai.run_batch", "-i", _input(record), "-o", _output(record)]
        command += ["--model", self._endpoint.model or ""]
        return f"Answer its requests, for example with\n  {shlex.join(command)}\nand run the same command again."

    async def prepare(self, record: BatchRecord, lines: Sequence[bytes]) -> Any:
        """Return the content of the input file."""
        del record
        return b"".join(piece for line in lines for piece in (line, b"\n"))

    async def create(self, record: BatchRecord, prepared: Any) -> str:
        """Write the input file."""
        try:
            os.makedirs(record.where, exist_ok=True)
            with open(f"{_input(record)}.tmp", "wb") as stream:
                stream.write(prepared)
            os.replace(f"{_input(record)}.tmp", _input(record))
        except OSError as error:
            raise StopRunError(f"cannot write {_input(record)}: {error.strerror}") from None
        return record.id

    async def find(self, record: BatchRecord, taken: frozenset[str]) -> str | None:
        """Return the record's id if its input file was written."""
        del taken
        return record.id if os.path.exists(_input(record)) else None

    async def look(self, record: BatchRecord) -> BatchState:
        """Count the results in the output file, which a tool may still be writing."""
        found = {result.key for result in await self.results(record, BatchState("", is_ended=False))}
        done = len(found.intersection(record.keys))
        is_ended = done == len(set(record.keys))
        return BatchState("completed" if is_ended else "in_progress" if done else "written", is_ended, done)

    async def results(self, record: BatchRecord, state: BatchState) -> list[BatchResult]:
        """Return the lines of the output file."""
        del state
        try:
            with open(_output(record), "rb") as stream:
                return list(read_lines(stream))
        except OSError:
            return []

    async def cancel(self, record: BatchRecord) -> None:
        """Remove the input file."""
        if os.path.exists(_input(record)):
            os.remove(_input(record))


def read_lines(lines: Iterable[bytes]) -> Iterator[BatchResult]:
    """Yield the results in lines of an output or error file; a line that is not a result is skipped."""
    for line in lines:
        try:
            data = load_json(line)
            key, response, error = data["custom_id"], data.get("response") or {}, data.get("error")
            status = int(response.get("status_code") or 500)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue
        body = response.get("body")
        if error is not None:
            # vLLM gives an error as a text, in `error`, or one level deeper.
            body, status = (
                (error if isinstance(error, Mapping) else {"message": str(error)}),
                500 if status == 200 else status,
            )
        elif body is None:
            status = 500
        yield BatchResult(str(key), status, body)


def _is_json(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _parse(body: bytes, where: str) -> Any:
    with suppress(ValueError, RecursionError):
        if isinstance(data := load_json(body), dict):
            return data
    raise LLMBusyError(f"{where} sent a reply that is not JSON")


def _input(record: BatchRecord) -> str:
    return os.path.join(record.where, f"ragstone-{record.id}.input.jsonl")


def _output(record: BatchRecord) -> str:
    return os.path.join(record.where, f"ragstone-{record.id}.output.jsonl")
