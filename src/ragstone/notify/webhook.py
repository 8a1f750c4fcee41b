"""Webhooks: the numbers of a finished run and the alarms of a watch, posted as JSON or as a Slack message, signed, with retries.

A URL may contain a secret anywhere but in its host, so only scheme and host are printed or stored.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from ragstone.engine.execute import run_to_end
from ragstone.errors import UnknownNameError, UsageError
from ragstone.http.addresses import Address, read_address, show_address
from ragstone.http.client import HttpClient, HttpError
from ragstone.http.retry import BusyError, Patience, is_busy, read_retry_after, retry
from ragstone.number_format import with_interval
from ragstone.views.run import headline_metrics

SECRET = "RAGSTONE_WEBHOOK_SECRET"  # noqa: S105  (the name of the variable)
FORMATS = ("json", "slack")
EVENT = "run.finished"
_TIMEOUT_S = 10.0
# A finished run waits for its notification, so a server may not ask for long waits.
PATIENCE = Patience(attempts=4, first_wait_s=1.0, longest_wait_s=4.0, longest_asked_s=30.0, longest_s=math.inf)


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
    webhook: Webhook, message: Any, delivery_id: str, patience: Patience = PATIENCE, event: str = EVENT
) -> Delivery:
    """Post a message; errors are returned in the Delivery and never raised."""
    body = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    try:
        attempts, status, error = run_to_end(_post(webhook, body, delivery_id, patience, event))
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
    webhook: Webhook, body: bytes, delivery_id: str, patience: Patience, event: str
) -> tuple[int, int | None, str | None]:
    """The number of attempts, the last status and the last error."""
    client = HttpClient(concurrency=1, most_bytes=1024 * 1024)
    status: int | None = None

    async def send() -> str | None:
        """The error that another attempt would not change, or None."""
        nonlocal status
        status, headers = None, _headers(webhook, body, delivery_id, event)
        try:
            reply = await client.post_bytes(webhook.address.url, body, headers, _TIMEOUT_S)
        except HttpError as problem:
            error = str(problem).replace(show_address(webhook.address.url), webhook.shown)
            if problem.kind == "certificate":
                return error
            raise BusyError(error) from None
        status = reply.status
        if is_busy(status):
            raise BusyError(f"the server replied {status}", read_retry_after(reply.headers))
        if 300 <= status < 400:
            return "the server redirects; use the final URL"
        return None if status < 300 else f"the server replied {status}"

    try:
        error, attempts = await retry(send, patience)
    except BusyError as busy:
        error, attempts = str(busy), busy.attempts
    finally:
        await client.close()
    return attempts, status, error


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
    shown = headline_metrics(scored, _MOST_METRICS)
    lines += [_metric(metric) for metric in shown]
    if len(scored) > len(shown):
        lines.append(f"and {len(scored) - len(shown)} more metrics")
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
    mean, ends = with_interval(metric["mean"], metric["ci_low"], metric["ci_high"])
    interval = "" if metric["ci_low"] is None or metric["ci_high"] is None else f" ({ends})"
    return f"• `{plain_line(metric['metric'])}` {mean}{interval}"


def plain_line(text: str) -> str:
    """One line with the special characters of Slack escaped or replaced."""
    line = " ".join("".join(sign for sign in text if sign.isprintable() or sign.isspace()).split())
    for sign, written in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("`", "'"), ("*", "∗"), ("@", "@\u200b")):
        line = line.replace(sign, written)
    return line


ALARM_EVENT = "watch.alarm"


def post_alarms(webhook: Webhook, watch: str, period: str, alarms: Sequence[dict[str, Any]]) -> Delivery:
    """Post the alarms of a period. A repeated message has the same delivery id, so that a receiver can ignore it."""
    message: dict[str, Any] = {"event": ALARM_EVENT, "watch": watch, "period": period, "alarms": list(alarms)}
    if webhook.format == "slack":
        lines = [f"*{plain_line(watch)}*: alarm in {plain_line(period)}"]
        lines += [f"• `{plain_line(str(one.get('metric')))}` {plain_line(_describe(one))}" for one in alarms]
        message = {"text": "\n".join(lines)}
    return deliver(webhook, message, f"{watch}-{period}", event=ALARM_EVENT)


def _describe(alarm: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in alarm.items() if name not in ("metric", "period"))
