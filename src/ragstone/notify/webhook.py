"""Webhooks: the numbers of a finished run, posted as JSON or as a Slack message, signed, with retries.

A URL may contain a secret anywhere but in its host, so only scheme and host are printed or stored.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from ragstone.compare.sample_order import telling_metrics
from ragstone.engine.execute import run_to_end
from ragstone.errors import UnknownNameError, UsageError
from ragstone.http.addresses import Address, read_address, show_address
from ragstone.http.client import HttpClient, HttpError, HttpReply

SECRET = "RAGSTONE_WEBHOOK_SECRET"  # noqa: S105  (the name of the variable)
FORMATS = ("json", "slack")
EVENT = "run.finished"
_TIMEOUT_S = 10.0
# Waits before the second, third and fourth attempt; a server may request longer waits, up to a limit.
_WAITS_S = (1.0, 2.0, 4.0)
_LONGEST_WAIT_S = 30.0
_TRY_AGAIN = (408, 425, 429)


@dataclass(frozen=True)
class Webhook:
    """The target URL, the message format and the signing secret."""

    address: Address
    format: str = "json"
    secret: str | None = None

    @property
    def shown(self) -> str:
        """Scheme and host; the path may be a secret, as in Slack URLs."""
        parts = urlsplit(self.address.url)
        return f"{parts.scheme}://{parts.netloc}"


@dataclass(frozen=True)
class Delivery:
    """The result of a delivery."""

    address: str
    format: str
    signed: bool
    at: str
    delivered: bool
    attempts: int
    status: int | None = None
    error: str | None = None


def read_webhook(url: str, format: str = "json", environment: Mapping[str, str] | None = None) -> Webhook:
    """Parse and check a webhook before the evaluation starts."""
    if format not in FORMATS:
        raise UnknownNameError("webhook format", format, FORMATS, f"Choose from: {', '.join(FORMATS)}.")
    scheme = url.strip().partition(":")[0].lower()
    if scheme not in ("http", "https"):
        subject = f"'{scheme}:'" if scheme.isalnum() and ":" in url else "this"
        raise UsageError(f"--webhook: {subject} is not an HTTP URL. Write it as https://host/path.")
    if not _has_host(url):
        raise UsageError("--webhook: the URL has no host, or its port is not a number. Write it as https://host/path.")
    secret = (os.environ if environment is None else environment).get(SECRET)
    return Webhook(read_address(url), format, secret or None)


def _has_host(url: str) -> bool:
    """Whether host and port are valid; urlsplit checks the port only on access."""
    try:
        parts = urlsplit(url.strip())
        return bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


def deliver(
    webhook: Webhook, message: Any, delivery_id: str, waits_s: tuple[float, ...] = _WAITS_S, event: str = EVENT
) -> Delivery:
    """Post a message; errors are returned in the Delivery and never raised."""
    body = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    try:
        attempts, status, error = run_to_end(_post(webhook, body, delivery_id, waits_s, event))
    except Exception as problem:  # noqa: BLE001  (a notification must never fail a finished run)
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
    webhook: Webhook, body: bytes, delivery_id: str, waits_s: tuple[float, ...], event: str
) -> tuple[int, int | None, str | None]:
    """The number of attempts, the last status and the last error."""
    client = HttpClient(concurrency=1, most_bytes=1024 * 1024)
    status, error = None, None
    try:
        for attempt in range(1, len(waits_s) + 2):
            status, error, wait_s = None, None, None
            try:
                reply = await client.post_bytes(
                    webhook.address.url, body, _headers(webhook, body, delivery_id, event), _TIMEOUT_S
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
    """The status, the error if any, and the wait before a retry (None if a retry is useless)."""
    if 200 <= reply.status < 300:
        return reply.status, None, None
    if 300 <= reply.status < 400:
        return reply.status, "the server redirects; use the final URL", None
    again = reply.status >= 500 or reply.status in _TRY_AGAIN
    return reply.status, f"the server replied {reply.status}", _asked_wait(reply) if again else None


def _asked_wait(reply: HttpReply) -> float:
    value = reply.headers.get("Retry-After", "")
    return float(value) if value.isdecimal() else 0.0


def _headers(webhook: Webhook, body: bytes, delivery_id: str, event: str) -> dict[str, str]:
    headers = {"X-Ragstone-Event": event, "X-Ragstone-Delivery": delivery_id}
    if webhook.address.authorization:
        headers["Authorization"] = webhook.address.authorization
    if webhook.secret:
        stamp = str(int(time.time()))
        headers["X-Ragstone-Timestamp"] = stamp
        headers["X-Ragstone-Signature"] = sign(webhook.secret, stamp, body)
    return headers


def sign(secret: str, timestamp: str, body: bytes) -> str:
    """HMAC-SHA256 over the timestamp, a dot and the body; the timestamp prevents replay."""
    digest = hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256)
    return f"sha256={digest.hexdigest()}"


_MOST_METRICS = 8
_LIMITS = {
    "retriever": "the retriever limits quality",
    "generator": "the generator limits quality",
    "both": "retriever and generator both limit quality",
    "neither": "neither part limits quality",
}


def make_message(aggregate: Mapping[str, Any], format: str) -> dict[str, Any]:
    """The body of the request, from an aggregate."""
    return {"text": slack_text(aggregate)} if format == "slack" else {"event": EVENT, **aggregate}


def slack_text(found: Mapping[str, Any]) -> str:
    """The run in a few lines of Slack markup; text from data cannot create mentions or links."""
    run, rows = found["run"], found["dataset"]["rows"]
    lines = [f"*{plain_line(run['name'])}* finished: {rows:,} sample{'s' if rows != 1 else ''}"]
    if diagnosis := found["diagnosis"]:
        lines += _diagnosed(diagnosis)
    scored = [metric for metric in found["metrics"] if metric["mean"] is not None]
    lines += [_metric(metric) for metric in telling_metrics(scored, _MOST_METRICS)]
    if len(scored) > _MOST_METRICS:
        lines.append(f"and {len(scored) - _MOST_METRICS} more metrics")
    failed = sum(metric["n_failed"] for metric in found["metrics"])
    if failed:
        lines.append(f"{failed:,} cells failed")
    cost = found["totals"].get("cost_usd")
    if cost:
        lines.append(f"cost ${cost:.2f}")
    lines.append(f"run `{plain_line(run['id'])}`")
    return "\n".join(lines)


def _diagnosed(found: Mapping[str, Any]) -> Sequence[str]:
    lines = []
    if found["limits"] in _LIMITS:
        lines.append(_LIMITS[found["limits"]] + ("" if found["sure"] else " (not sure: too few rows)"))
    if found["failing"]:
        lines.append(found["text"])
    return lines


def _metric(metric: Mapping[str, Any]) -> str:
    low, high = metric["ci_low"], metric["ci_high"]
    interval = "" if low is None or high is None else f" ({low:.3f} – {high:.3f})"
    return f"• `{plain_line(metric['metric'])}` {metric['mean']:.3f}{interval}"


def plain_line(text: str) -> str:
    """One line with the special characters of Slack escaped or replaced."""
    line = " ".join("".join(sign for sign in text if sign.isprintable() or sign.isspace()).split())
    for sign, written in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("`", "'"), ("*", "∗"), ("@", "@\u200b")):
        line = line.replace(sign, written)
    return line
