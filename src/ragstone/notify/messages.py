"""What a web-hook says: the aggregate of a run as JSON, or a few lines that Slack and its like show as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragstone.compare.worst import telling_metrics
from ragstone.notify.webhook import EVENT

_MOST_METRICS = 8
_LIMITS = {
    "retriever": "the retriever limits quality",
    "generator": "the generator limits quality",
    "both": "retriever and generator both limit quality",
    "neither": "neither part limits quality",
}


def make_message(found: Mapping[str, Any], format: str) -> dict[str, Any]:
    """The body of a post, from an aggregate."""
    return {"text": slack_text(found)} if format == "slack" else {"event": EVENT, **found}


def slack_text(found: Mapping[str, Any]) -> str:
    """The run in a few lines of Slack's own markup; text from data cannot mention anybody or make links."""
    run, rows = found["run"], found["dataset"]["rows"]
    lines = [f"*{_plain(run['name'])}* finished: {rows:,} sample{'s' if rows != 1 else ''}"]
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
    lines.append(f"run `{_plain(run['id'])}`")
    return "\n".join(lines)


def _diagnosed(found: Mapping[str, Any]) -> Sequence[str]:
    lines = []
    if found["limits"] in _LIMITS:
        lines.append(_LIMITS[found["limits"]] + ("" if found["sure"] else ", as it seems: there are too few rows"))
    if found["failing"]:
        causes = ", ".join(f"{one['main_of']} {one['cause']}" for one in found["causes"] if one["main_of"])
        lines.append(f"{found['failing']:,} of {found['looked_at']:,} samples fail: {causes}")
    return lines


def _metric(metric: Mapping[str, Any]) -> str:
    low, high = metric["ci_low"], metric["ci_high"]
    interval = "" if low is None or high is None else f" ({low:.3f} – {high:.3f})"
    return f"• `{_plain(metric['metric'])}` {metric['mean']:.3f}{interval}"


def _plain(text: str) -> str:
    """On one line, with Slack's three signs escaped and its marks taken out."""
    line = " ".join("".join(sign for sign in text if sign.isprintable() or sign.isspace()).split())
    for sign, written in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("`", "'"), ("*", "∗"), ("@", "@\u200b")):
        line = line.replace(sign, written)
    return line
