"""A pooled HTTP client: connections are reused, every request has a timeout, and the size of replies is limited."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.request import getproxies, proxy_bypass

import aiohttp
from yarl import URL

from ragstone.data.codec import load_json
from ragstone.http.addresses import show_address

# `connect`: no server at the address; `certificate`: not trusted; `timeout`: no complete reply in time;
# `broken`: the connection broke or the reply is not HTTP; `size`: the reply is too large.
FailureKind = Literal["connect", "certificate", "timeout", "broken", "size"]

_CONNECT_S = 15.0
_KEEP_ALIVE_S = 60.0
_MOST_BYTES = 64 * 1024 * 1024


class HttpError(Exception):
    """A request failed; `kind` is the reason."""

    def __init__(self, kind: FailureKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class HttpReply:
    """A complete reply."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """Return the body as JSON; None if it is not JSON."""
        try:
            return load_json(self.body)
        except (ValueError, RecursionError):
            return None


class HttpClient:
    """Sends JSON over a connection pool, which is created at the first request in the running loop."""

    def __init__(self, concurrency: int = 16, most_bytes: int = _MOST_BYTES) -> None:
        self._concurrency = concurrency
        self._most_bytes = most_bytes
        self._session: aiohttp.ClientSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._proxies: dict[tuple[str, str | None], URL | None] = {}

    async def post_json(self, url: str, body: Any, headers: Mapping[str, str], timeout_s: float) -> HttpReply:
        """Return the reply to a JSON body with any status, or raise an HttpError within the timeout."""
        # A lone surrogate is sent as a question mark.
        data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        return await self.post_bytes(url, data, headers, timeout_s)

    async def post_bytes(self, url: str, data: bytes, headers: Mapping[str, str], timeout_s: float) -> HttpReply:
        """Like `post_json`, for JSON that is already encoded, for example because its bytes were signed."""
        return await self.send("POST", url, data, headers, timeout_s)

    async def send(
        self, method: str, url: str, data: bytes | None, headers: Mapping[str, str], timeout_s: float
    ) -> HttpReply:
        """Return the reply to a request with any method and status, or raise an HttpError within the timeout."""
        try:
            async with asyncio.timeout(timeout_s):
                return await self._send(method, url, data, headers)
        except TimeoutError:
            raise HttpError("timeout", f"{show_address(url)} sent no complete reply within {timeout_s:g} s") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise _explain(error, show_address(url)) from None

    async def close(self) -> None:
        """Close the connections; a later request opens new ones."""
        session, self._session = self._session, None
        if session is not None and self._loop is asyncio.get_running_loop():
            await session.close()

    async def _send(self, method: str, url: str, data: bytes | None, headers: Mapping[str, str]) -> HttpReply:
        target = URL(url)
        # A redirect would turn POST into GET and could send the key to another host.
        async with self._open_session().request(
            method, target, data=data, headers=headers, proxy=self._proxy(target), allow_redirects=False
        ) as response:
            return HttpReply(response.status, response.headers, await self._read(response, url))

    async def _read(self, response: aiohttp.ClientResponse, url: str) -> bytes:
        body = bytearray()
        async for piece in response.content.iter_any():
            body += piece
            if len(body) > self._most_bytes:
                response.close()
                most = self._most_bytes / 2**20
                raise HttpError("size", f"{show_address(url)} sent a reply of more than {most:g} MB")
        return bytes(body)

    def _open_session(self) -> aiohttp.ClientSession:
        loop = asyncio.get_running_loop()
        if self._session is None or self._loop is not loop:
            self._loop = loop
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=self._concurrency, keepalive_timeout=_KEEP_ALIVE_S),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_S),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={"Content-Type": "application/json", "User-Agent": "ragstone"},
            )
        return self._session

    def _proxy(self, target: URL) -> URL | None:
        """Return the proxy of a host, cached: aiohttp's own `trust_env` uses two threads per request."""
        key = (target.scheme, target.host)
        if key not in self._proxies:
            proxy = getproxies().get(target.scheme)
            used = proxy and not (target.host and proxy_bypass(target.host))
            self._proxies[key] = URL(proxy) if proxy and used else None
        return self._proxies[key]


def _explain(error: Exception, shown: str) -> HttpError:
    """Return the failure kind and a message. The error's own text may quote headers, so it is left out."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError | ssl.SSLCertVerificationError):
        return HttpError("certificate", f"the certificate of {shown} is not trusted. Set SSL_CERT_FILE to your CA.")
    if isinstance(error, aiohttp.InvalidURL | aiohttp.ClientConnectorDNSError):
        return HttpError("connect", f"the host of {shown} does not exist: check the address")
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        return HttpError("connect", f"the proxy for {shown} does not answer")
    if isinstance(error, aiohttp.ClientSSLError):
        return HttpError("connect", f"{shown} does not support TLS: is it http instead of https?")
    if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ServerTimeoutError):
        return HttpError("connect", f"no server answers at {shown}: is it running?")
    return HttpError("broken", f"{shown} closed the connection or sent an invalid reply ({type(error).__name__})")
