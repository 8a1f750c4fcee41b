"""One pooled client for a whole run: connections stay open, every request has a deadline, no reply fills the memory."""

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

from ragstone.http.addresses import show_address

# `connect`: nothing listens there; `certificate`: its certificate is not trusted; `timeout`: no whole reply in time;
# `broken`: the connection broke or what came is not HTTP; `size`: the reply is larger than any real one.
FailureKind = Literal["connect", "certificate", "timeout", "broken", "size"]

_CONNECT_S = 15.0
_KEEP_ALIVE_S = 60.0
_MOST_BYTES = 64 * 1024 * 1024


class HttpError(Exception):
    """A request brought no reply; `kind` says why in a word."""

    def __init__(self, kind: FailureKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class HttpReply:
    """A whole reply."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class HttpClient:
    """Posts JSON over a pool of connections that is made when it is first needed, in the loop that needs it."""

    def __init__(self, concurrency: int = 16, most_bytes: int = _MOST_BYTES) -> None:
        self._concurrency = concurrency
        self._most_bytes = most_bytes
        self._session: aiohttp.ClientSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._targets: dict[str, tuple[URL, URL | None]] = {}

    async def post_json(self, url: str, body: Any, headers: Mapping[str, str], timeout_s: float) -> HttpReply:
        """The server's reply to a JSON body, whatever its status, or an HttpError within the time."""
        # Half a surrogate pair cannot be sent; the server sees a question mark there.
        data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        return await self.post_bytes(url, data, headers, timeout_s)

    async def post_bytes(self, url: str, data: bytes, headers: Mapping[str, str], timeout_s: float) -> HttpReply:
        """The same for JSON that is written already, for instance because its bytes were signed."""
        try:
            async with asyncio.timeout(timeout_s):
                return await self._post(url, data, headers)
        except TimeoutError:
            raise HttpError("timeout", f"{show_address(url)} gave no whole reply in {timeout_s:g} s") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise _explain(error, show_address(url)) from None

    async def close(self) -> None:
        """Close the connections; a later request opens new ones."""
        session, self._session = self._session, None
        if session is not None and self._loop is asyncio.get_running_loop():
            await session.close()

    async def _post(self, url: str, data: bytes, headers: Mapping[str, str]) -> HttpReply:
        target, proxy = self._target(url)
        # A redirect would turn the POST into a GET, and could carry the key to another host.
        async with self._open_session().post(
            target, data=data, headers=headers, proxy=proxy, allow_redirects=False
        ) as response:
            return HttpReply(response.status, response.headers, await self._read(response, url))

    async def _read(self, response: aiohttp.ClientResponse, url: str) -> bytes:
        pieces: list[bytes] = []
        size = 0
        async for piece in response.content.iter_any():
            size += len(piece)
            if size > self._most_bytes:
                response.close()
                most = self._most_bytes / 2**20
                raise HttpError("size", f"{show_address(url)} sent a reply of more than {most:g} MB")
            pieces.append(piece)
        return b"".join(pieces)

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

    def _target(self, url: str) -> tuple[URL, URL | None]:
        """The address and its proxy, looked up once: aiohttp's own `trust_env` asks two threads at every request."""
        found = self._targets.get(url)
        if found is None:
            target = URL(url)
            proxy = getproxies().get(target.scheme)
            used = proxy and not (target.host and proxy_bypass(target.host))
            found = self._targets[url] = (target, URL(proxy) if proxy and used else None)
        return found


def _explain(error: Exception, shown: str) -> HttpError:
    """A short word and a line for what went wrong below; the error's own text may quote headers, so it is left out."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError | ssl.SSLCertVerificationError):
        return HttpError("certificate", f"the certificate of {shown} is not trusted. Set SSL_CERT_FILE to your own CA.")
    if isinstance(error, aiohttp.InvalidURL | aiohttp.ClientConnectorDNSError):
        return HttpError("connect", f"there is no host for {shown}: check the address")
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        return HttpError("connect", f"the proxy on the way to {shown} does not answer")
    if isinstance(error, aiohttp.ClientSSLError):
        return HttpError("connect", f"{shown} does not speak TLS: is it http rather than https?")
    if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ServerTimeoutError):
        return HttpError("connect", f"nothing answers at {shown}: is the server running?")
    return HttpError("broken", f"{shown} broke the connection or sent what is not HTTP ({type(error).__name__})")
