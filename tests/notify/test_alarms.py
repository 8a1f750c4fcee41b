"""Alarms of a watch over a real connection."""

from __future__ import annotations

from ragstone.notify.webhook import post_alarms, read_webhook

ALARM = {"period": "2026-11-16", "metric": "faith<b>", "direction": "lower", "before": 0.9, "after": 0.6}


def test_an_alarm_arrives(loopback):
    loopback.handler = lambda asked: {}
    for form in ("json", "slack"):
        assert post_alarms(read_webhook(loopback.url, form, {}), "prod", "2026-11-16", [ALARM]).delivered
    first, second = loopback.asked
    assert first.headers["x-ragstone-event"] == "watch.alarm"
    assert first.headers["x-ragstone-delivery"] == "prod-2026-11-16"
    assert first.json == {"event": "watch.alarm", "watch": "prod", "period": "2026-11-16", "alarms": [ALARM]}
    assert second.json["text"].splitlines()[1] == "• `faith&lt;b&gt;` direction lower, before 0.9, after 0.6"
