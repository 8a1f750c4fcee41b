"""Calls of a platform's HTTP API: keys, retries, rate limits and messages for everything that can go wrong."""

from __future__ import annotations

import asyncio
import json
import math
import os
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import urlencode

from ragstone.errors import ServiceError, UsageError
from ragstone.http.addresses import read_address
from ragstone.http.client import HttpClient, HttpError, HttpReply
from ragstone.http.retry import BusyError, Patience, is_busy, read_retry_after, retry

_TIMEOUT_S = 60.0
PATIENCE = Patience(attempts=7, first_wait_s=1.0, longest_wait_s=60.0, longest_s=math.inf)
# Waits of this length are reported.
_LONG_S = 5.0
_DETAIL_CHARS = 200


def ignore(text: str) -> None:
    """Reports nothing."""
    del text


@dataclass(frozen=True)
class Connection:
    """The address and the keys of a platform. Messages name the variables that the user can change."""

    title: str
    url: str
    headers: Mapping[str, str] = field(repr=False)
    # The environment variables of the keys and of the address.
    keys: tuple[str, ...]
    address: str
    project: str = ""


class Answer(NamedTuple):
    """The status of a reply, and its JSON."""

    status: int
    data: Any


class Api:
    """Calls with retries. A rejected key and a server that does not answer raise an error with the variable to check."""

    def __init__(
        self,
        connection: Connection,
        concurrency: int = 4,
        report: Callable[[str], None] = ignore,
        patience: Patience = PATIENCE,
    ) -> None:
        self.connection = connection
        # What was learned about the server, in the words of the platform's module.
        self.traits: set[str] = set()
        self._client = HttpClient(concurrency)
        self._report = report
        self._patience = patience
        self._has_answered = False
        self._resume_at = 0.0

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def call(
        self,
        method: str,
        path: str,
        params: Mapping[str, Any] | None = None,
        body: Any = None,
        expects: Collection[int] = (),
    ) -> Answer:
        """The answer with a status of success or one of `expects`; other statuses raise a ServiceError."""
        base = "" if path.startswith(("http://", "https://")) else self.connection.url
        query = urlencode({name: value for name, value in (params or {}).items() if value is not None}, doseq=True)
        url = f"{base}{path}{'?' if query else ''}{query}"
        data = None if body is None else json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        shown = f"{method} {path}"

        async def send() -> Answer:
            await self._hold()
            try:
                reply = await self._client.send(method, url, data, self.connection.headers, _TIMEOUT_S)
            except HttpError as problem:
                is_down = problem.kind == "connect" and not self._has_answered
                if is_down or problem.kind in ("certificate", "size"):
                    raise self._misdirected(problem) from None
                raise BusyError(str(problem)) from None
            self._has_answered = True
            if is_busy(reply.status):
                raise BusyError(self._replied(reply, shown), read_retry_after(reply.headers))
            return self._judge(reply, shown, expects)

        try:
            return (await retry(send, self._patience, wait=self._wait))[0]
        except BusyError as error:
            raise self._misdirected(error) from None

    def _misdirected(self, problem: Exception) -> ServiceError:
        stop = "" if str(problem).endswith(("?", ".")) else "."
        return ServiceError(f"{problem}{stop} The address comes from {self.connection.address}.")

    async def _hold(self) -> None:
        """Wait if the server asked for a pause: no other call may use up what the rate limit leaves."""
        while (wait_s := self._resume_at - time.monotonic()) > 0:
            await asyncio.sleep(wait_s)

    async def _wait(self, wait_s: float, error: BusyError) -> None:
        if wait_s >= _LONG_S:
            self._report(f"{self.connection.title} is busy: waiting {wait_s:.0f} s")
        if error.retry_after_s is not None:
            self._resume_at = max(self._resume_at, time.monotonic() + wait_s)
        else:
            await asyncio.sleep(wait_s)

    def _judge(self, reply: HttpReply, shown: str, expects: Collection[int]) -> Answer:
        if reply.status in expects:
            return Answer(reply.status, reply.json())
        if reply.status in (401, 403):
            keys = " and ".join(self.connection.keys)
            detail = self._detail(reply)
            raise UsageError(
                f"{self.connection.title} rejects the key (status {reply.status}{detail}). Check {keys}, and that "
                f"{self.connection.address} names the server that the key belongs to."
            )
        if 300 <= reply.status < 400:
            raise ServiceError(
                f"{self.connection.title} redirects {shown}. Set {self.connection.address} to the final address."
            )
        if reply.status >= 400:
            raise ServiceError(self._replied(reply, shown))
        data = reply.json()
        if reply.body.strip() and data is None:
            raise ServiceError(
                f"{self.connection.title} sent no JSON for {shown}. Check {self.connection.address}: it should be the "
                "address of the API."
            )
        return Answer(reply.status, data)

    def _replied(self, reply: HttpReply, shown: str) -> str:
        return f"{self.connection.title} replied {reply.status} to {shown}{self._detail(reply)}"

    def _detail(self, reply: HttpReply) -> str:
        """The message of an error reply, on one line and without keys."""
        text = reply.body.decode("utf-8", "replace")
        for value in self.connection.headers.values():
            for secret in (value, value.partition(" ")[2]):
                if secret:
                    text = text.replace(secret, "…")
        line = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
        return f": {line[:_DETAIL_CHARS]}{'…' if len(line) > _DETAIL_CHARS else ''}" if line else ""


def read_variable(*names: str, default: str = "") -> str:
    """The first of these environment variables that is set."""
    return next((value for name in names if (value := os.environ.get(name, "").strip())), default)


def need_variable(title: str, *names: str) -> str:
    """Like `read_variable`; an error if none is set."""
    if value := read_variable(*names):
        return value
    raise UsageError(f"{title} needs a key: set {' or '.join(names)} in the environment.")


def read_url(*names: str, default: str) -> str:
    """The address in an environment variable, without a slash at its end."""
    value = read_variable(*names, default=default)
    if "://" not in value:
        raise UsageError(f"{names[0]} is not a web address. Write it as https://host.")
    return read_address(value).url.rstrip("/")
