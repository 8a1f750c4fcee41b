"""Sends notifications for a finished run. Failures are logged and never raised.

Each notification is recorded in notifications.json in the folder of the run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from ragstone.analysis.aggregate import aggregate
from ragstone.analysis.diagnosis import diagnose
from ragstone.errors import StorageError
from ragstone.notify.exporters import emit_results, find_mlflow, find_sdk, log_run
from ragstone.notify.webhook import Webhook, deliver, make_message
from ragstone.storage.places import read_json
from ragstone.storage.runs import Run

FILE = "notifications.json"


def read_records(run: Run) -> list[dict[str, Any]]:
    """The recorded notifications, oldest first."""
    place = run.folder.place / FILE
    found = read_json(place) if place.exists() else []
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def add_record(run: Run, kind: str, record: Mapping[str, Any]) -> str | None:
    """Append a record. Returns the error message if it cannot be written."""
    try:
        entries = [*read_records(run), {"kind": kind, **record}]
        content = json.dumps(entries, indent=2, ensure_ascii=False).encode("utf-8", "replace")
        (run.folder.place / FILE).write_bytes(content)
    except StorageError as problem:
        return str(problem)
    return None


# Limits the time that a message takes; the same limit as at the end of a run.
_MOST_DIAGNOSED = 2_000


@dataclass(frozen=True)
class Listeners:
    """The targets of notifications."""

    webhook: Webhook | None = None
    otel: bool = False
    mlflow: bool = False

    def __bool__(self) -> bool:
        return self.webhook is not None or self.otel or self.mlflow


def check_listeners(listeners: Listeners) -> None:
    """Raises before the run if an optional package is missing."""
    if listeners.otel:
        find_sdk()
    if listeners.mlflow:
        find_mlflow()


def send_notifications(run: Run, listeners: Listeners, note: Callable[[str], None]) -> None:
    """Send all notifications; failures are passed to `note`."""
    if listeners.webhook is not None:
        _post(run, listeners.webhook, note)
    if listeners.otel:
        _try("otel", "OpenTelemetry", run, emit_results, note)
    if listeners.mlflow:
        _try("mlflow", "MLflow", run, log_run, note)


def _post(run: Run, webhook: Webhook, note: Callable[[str], None]) -> None:
    try:
        message = make_message(aggregate(run, diagnose(run, _MOST_DIAGNOSED)), webhook.format)
    except Exception as problem:  # noqa: BLE001  (a notification must never fail a finished run)
        error = f"the message could not be built: {type(problem).__name__}"
        note(f"the webhook at {webhook.shown} was not notified: {error}. The run is stored.")
        _record(run, "webhook", {"address": webhook.shown, "delivered": False, "error": error}, note)
        return
    sent = deliver(webhook, message, run.id)
    if not sent.delivered:
        note(f"the webhook at {sent.address} was not notified: {sent.error}. The run is stored.")
    _record(run, "webhook", asdict(sent), note)


def _try(kind: str, name: str, run: Run, send: Callable[[Run], object], note: Callable[[str], None]) -> None:
    error = None
    try:
        send(run)
    except Exception as problem:  # noqa: BLE001  (a notification must never fail a finished run)
        # The messages of these libraries may contain URLs and keys.
        error = type(problem).__name__
        note(f"{name} could not be notified: {error}. The run is stored.")
    at = datetime.now(UTC).isoformat(timespec="seconds")
    _record(run, kind, {"at": at, "delivered": error is None, "error": error}, note)


def _record(run: Run, kind: str, record: dict[str, object], note: Callable[[str], None]) -> None:
    problem = add_record(run, kind, record)
    if problem is not None:
        note(f"the notification could not be recorded: {problem}")
