"""An OTLP-HTTP receiver: spans that an application exports are appended to a spool.

A request is answered with 200 only after its spans are on disk. Exporters repeat a request that was not answered, so a span
may be stored twice; the reader uses each span once.
"""

from __future__ import annotations

import secrets
import zlib

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from ragstone.errors import MissingExtraError, StorageError, UsageError
from ragstone.formats.otlp import Received, parse_json, parse_protobuf, protobuf_reply
from ragstone.storage.durable import Spool
from ragstone.web.security import bind, is_loopback

PORT = 4318
PATH = "/v1/traces"
_JSON, _PROTOBUF = "application/json", "application/x-protobuf"
_REJECTED = "spans without a valid traceId and spanId or without an end were not stored"


class _RefusedError(Exception):
    """A request that is answered with an error status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Receiver:
    """The server. Addresses other than loopback need a token."""

    def __init__(
        self,
        spool: str,
        host: str = "127.0.0.1",
        port: int = PORT,
        token: str | None = None,
        most_request_bytes: int = 16 << 20,
        most_spool_bytes: int = 10 << 30,
    ) -> None:
        if token is not None and len(token) < 8:
            raise UsageError("the token must have at least 8 characters; omit --token to generate one")
        self.token = token or (None if is_loopback(host) else secrets.token_urlsafe(24))
        self._most_bytes = most_request_bytes
        self._socket = bind(host, port)
        self.host, self.port = host, int(self._socket.getsockname()[1])
        try:
            self._spool = Spool(spool, most_spool_bytes)
        except StorageError:
            self._socket.close()
            raise
        app = Starlette(routes=[Route(PATH, self._receive, methods=["POST"]), Route("/", _describe)])
        settings = {
            "log_level": "warning",
            "access_log": False,
            "server_header": False,
            "lifespan": "off",
            "ws": "none",
        }
        self._server = uvicorn.Server(uvicorn.Config(app, timeout_graceful_shutdown=5, **settings))  # type: ignore[arg-type]

    @property
    def url(self) -> str:
        """The address for OTEL_EXPORTER_OTLP_TRACES_ENDPOINT."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{name}:{self.port}{PATH}"

    def serve(self) -> None:
        """Serve until stopped."""
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self._socket.close()
            self._spool.close()

    def stop(self) -> None:
        """Stop the server from another thread."""
        self._server.should_exit = True

    async def _receive(self, request: Request) -> Response:
        try:
            if request.headers.get("origin") is not None:
                raise _RefusedError(403, "Requests from web pages are refused.")
            if self.token is not None:
                given = request.headers.get("authorization", "").encode()
                if not secrets.compare_digest(given, f"Bearer {self.token}".encode()):
                    raise _RefusedError(401, "The token is missing or wrong: send `Authorization: Bearer TOKEN`.")
            kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
            received = await run_in_threadpool(_parse, kind, await self._body(request))
            await self._spool.append(received.spans)
        except _RefusedError as refusal:
            return PlainTextResponse(str(refusal), refusal.status)
        except MissingExtraError as missing:
            return PlainTextResponse(f"{missing} Or send JSON: OTEL_EXPORTER_OTLP_PROTOCOL=http/json.", 415)
        except StorageError as problem:
            # Exporters repeat the request after 503.
            return PlainTextResponse(str(problem), 503, {"retry-after": "10"})
        except ClientDisconnect:
            return PlainTextResponse("the request was not complete", 400)
        if kind == _PROTOBUF:
            return Response(protobuf_reply(received.rejected, _REJECTED), media_type=_PROTOBUF)
        partial = {"rejectedSpans": str(received.rejected), "errorMessage": _REJECTED}
        return JSONResponse({"partialSuccess": partial} if received.rejected else {})

    async def _body(self, request: Request) -> bytes:
        """The decompressed body; neither it nor what was sent may exceed the limit."""
        encoding = request.headers.get("content-encoding", "identity").strip().lower()
        if encoding not in ("identity", "gzip", "deflate"):
            raise _RefusedError(415, f"The content encoding {encoding[:40]!r} is not supported. Use gzip.")
        unpack = None if encoding == "identity" else _Unpacker()
        pieces: list[bytes] = []
        size = sent = 0
        async for piece in request.stream():
            sent += len(piece)
            try:
                plain = piece if unpack is None else unpack.add(piece, self._most_bytes - size + 1)
            except zlib.error:
                raise _RefusedError(400, "The body is damaged: it cannot be decompressed.") from None
            size += len(plain)
            if max(size, sent) > self._most_bytes:
                raise _RefusedError(413, f"The request exceeds the limit of {self._most_bytes:,} bytes.")
            pieces.append(plain)
        if unpack is not None and not unpack.is_complete:
            raise _RefusedError(400, "The body is damaged: it ends too early.")
        return b"".join(pieces)


class _Unpacker:
    """Decompresses a stream. It may have several members, which together are the content."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(47)

    @property
    def is_complete(self) -> bool:
        """Whether the last member has ended."""
        return self._member.eof

    def add(self, piece: bytes, most: int) -> bytes:
        """The content of the next bytes, up to `most` bytes."""
        found = b""
        while len(found) < most:
            if self._member.eof:
                piece = piece.lstrip(b"\0")  # padding
                self._member = zlib.decompressobj(47) if piece else self._member
            if not piece:
                break
            found += self._member.decompress(piece, most - len(found))
            piece = self._member.unused_data or self._member.unconsumed_tail
        return found


def _parse(kind: str, body: bytes) -> Received:
    if kind not in (_JSON, _PROTOBUF):
        raise _RefusedError(415, f"Send {_JSON} or {_PROTOBUF}.")
    try:
        return parse_json(body) if kind == _JSON else parse_protobuf(body)
    except ValueError as error:
        raise _RefusedError(400, f"The request cannot be read: {error}") from None


async def _describe(request: Request) -> Response:
    del request
    return PlainTextResponse(f"ragstone receive: POST spans to {PATH}\n")
