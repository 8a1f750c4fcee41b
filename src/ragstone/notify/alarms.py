"""Posts the alarms of a watch to a webhook."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragstone.notify.webhook import Delivery, Webhook, deliver, plain_line

EVENT = "watch.alarm"


def post_alarms(webhook: Webhook, watch: str, period: str, alarms: Sequence[dict[str, Any]]) -> Delivery:
    """Post the alarms of a period. A repeated message has the same delivery id, so that a receiver can ignore it."""
    message: dict[str, Any] = {"event": EVENT, "watch": watch, "period": period, "alarms": list(alarms)}
    if webhook.format == "slack":
        lines = [f"*{plain_line(watch)}*: alarm in {plain_line(period)}"]
        lines += [f"• `{plain_line(str(one.get('metric')))}` {plain_line(_describe(one))}" for one in alarms]
        message = {"text": "\n".join(lines)}
    return deliver(webhook, message, f"{watch}-{period}", event=EVENT)


def _describe(alarm: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in alarm.items() if name not in ("metric", "period"))
