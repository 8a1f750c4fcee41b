"""A web-hook: the numbers of a finished run, posted as JSON, signed, tried again, and never a reason to fail.

An address may hold a secret anywhere but in its host, so only scheme and host are ever printed or stored.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from ragstone.engine.execution import run_to_end
from ragstone.errors import UnknownNameError, UsageError
from ragstone.http.addresses import Address, read_address, show_address
from ragstone.http.client import HttpClient, HttpError, HttpReply

SECRET = "RAGSTONE_WEBHOOK_SECRET"  # noqa: S105  (the name of the variable)
FORMATS = ("json", "slack")
EVENT = "run.finished"
_TIMEOUT_S = 10.0
# Before the second try, the third and the fourth; a server may ask for more, up to a limit.
_WAITS_S = (1.0, 2.0, 4.0)
_LONGEST_WAIT_S = 30.0
_TRY_AGAIN = (408, 425, 429)


@dataclass(frozen=True)
class Webhook:
    """Where to post, in which form, and the secret to sign with."""

    address: Address
    format: str = "json"
    secret: str | None = None

    @property
    def shown(self) -> str:
        """Scheme and host: a path may be a secret too, as Slack's are."""
        parts = urlsplit(self.address.url)
        return f"{parts.scheme}://{parts.netloc}"


@dataclass(frozen=True)
class Delivery:
    """What became of it."""

    address: str
    format: str
    signed: bool
    at: str
    delivered: bool
    attempts: int
    status: int | None = None
    error: str | None = None


def read_webhook(url: str, format: str = "json", environment: Mapping[str, str] | None = None) -> Webhook:
    """The web-hook that a user named, checked before anything is evaluated."""
    if format not in FORMATS:
        raise UnknownNameError("form of a web-hook", format, FORMATS, f"There are: {', '.join(FORMATS)}.")
    scheme = url.strip().partition(":")[0].lower()
    if scheme not in ("http", "https"):
        named = f"'{scheme}:' is" if scheme.isalnum() and ":" in url else "that is"
        raise UsageError(f"--webhook: {named} nothing to post to. Write it as https://host/path.")
    if not _has_host(url):
        raise UsageError("--webhook: the address has no host, or its port is no number. Write it as https://host/path.")
    secret = (os.environ if environment is None else environment).get(SECRET)
    return Webhook(read_address(url), format, secret or None)


def _has_host(url: str) -> bool:
    """Whether host and port make sense; the port is only looked at when it is asked for."""
    try:
        parts = urlsplit(url.strip())
        return bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


def deliver(webhook: Webhook, message: Any, delivery_id: str, waits_s: tuple[float, ...] = _WAITS_S) -> Delivery:
    """Post a message; whatever happens, the answer is a Delivery and no exception."""
    body = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    try:
        attempts, status, error = run_to_end(_post(webhook, body, delivery_id, waits_s))
    except Exception as problem:  # noqa: BLE001  (a run that was paid for must not be lost over a message)
        attempts, status, error = 1, None, f"{type(problem).__name__} while posting"
    return Delivery(
        address=webhook.shown,
        format=webhook.format,
        signed=webhook.secret is not None,
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        delivered=error is None,
        attempts=attempts,
        status=status,
        error=error,
    )


async def _post(
    webhook: Webhook, body: bytes, delivery_id: str, waits_s: tuple[float, ...]
) -> tuple[int, int | None, str | None]:
    """How often it was tried, the last status, and what went wrong in the end."""
    client = HttpClient(concurrency=1, most_bytes=1024 * 1024)
    status, error = None, None
    try:
        for attempt in range(1, len(waits_s) + 2):
            status, error, wait_s = None, None, None
            try:
                reply = await client.post_bytes(
                    webhook.address.url, body, _headers(webhook, body, delivery_id), _TIMEOUT_S
                )
                status, error, wait_s = _judge(reply)
            except HttpError as problem:
                error = str(problem).replace(show_address(webhook.address.url), webhook.shown)
                wait_s = None if problem.kind == "certificate" else 0.0
            if error is None or wait_s is None or attempt > len(waits_s):
                break
            await asyncio.sleep(min(_LONGEST_WAIT_S, max(wait_s, waits_s[attempt - 1])))
        return attempt, status, error
    finally:
        await client.close()


def _judge(reply: HttpReply) -> tuple[int, str | None, float | None]:
    """The status, what is wrong with it if anything, and how long to wait before another try, if that makes sense."""
    if 200 <= reply.status < 300:
        return reply.status, None, None
    if 300 <= reply.status < 400:
        return reply.status, "it redirects elsewhere; name the address that it leads to", None
    again = reply.status >= 500 or reply.status in _TRY_AGAIN
    return reply.status, f"it answered {reply.status}", _asked_wait(reply) if again else None


def _asked_wait(reply: HttpReply) -> float:
    value = reply.headers.get("Retry-After", "")
    return float(value) if value.isdecimal() else 0.0


def _headers(webhook: Webhook, body: bytes, delivery_id: str) -> dict[str, str]:
    headers = {"X-Ragstone-Event": EVENT, "X-Ragstone-Delivery": delivery_id}
    if webhook.address.authorization:
        headers["Authorization"] = webhook.address.authorization
    if webhook.secret:
        stamp = str(int(time.time()))
        headers["X-Ragstone-Timestamp"] = stamp
        headers["X-Ragstone-Signature"] = sign(webhook.secret, stamp, body)
    return headers


def sign(secret: str, timestamp: str, body: bytes) -> str:
    """HMAC-SHA256 over the time, a dot and the body, so that an old message cannot be sent again as a new one."""
    digest = hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256)
    return f"sha256={digest.hexdigest()}"
