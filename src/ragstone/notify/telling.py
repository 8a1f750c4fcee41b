"""Tell all who are to be told about a finished run; each failure is written down and said, and that is all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from ragstone.compare.aggregate import aggregate
from ragstone.compare.diagnosis import diagnose
from ragstone.notify.messages import make_message
from ragstone.notify.records import add_record
from ragstone.notify.webhook import Webhook, deliver
from ragstone.storage.runs import Run

# As many as the end of a run looks into: the message should not take longer than the numbers.
_MOST_DIAGNOSED = 2_000


@dataclass(frozen=True)
class Listeners:
    """Who is to be told."""

    webhook: Webhook | None = None
    otel: bool = False
    mlflow: bool = False

    def __bool__(self) -> bool:
        return self.webhook is not None or self.otel or self.mlflow


def check_listeners(listeners: Listeners) -> None:
    """An error before the run rather than a note after it, where an optional package is missing."""
    if listeners.otel:
        from ragstone.notify.otel import find_sdk  # noqa: PLC0415  (loaded only where it is asked for)

        find_sdk()
    if listeners.mlflow:
        from ragstone.notify.mlflow import find_mlflow  # noqa: PLC0415

        find_mlflow()


def tell(run: Run, listeners: Listeners, note: Callable[[str], None]) -> None:
    """Tell everybody; `note` hears what went wrong."""
    if listeners.webhook is not None:
        _post(run, listeners.webhook, note)
    if listeners.otel:
        from ragstone.notify.otel import emit_results  # noqa: PLC0415

        _try("otel", "OpenTelemetry", run, emit_results, note)
    if listeners.mlflow:
        from ragstone.notify.mlflow import log_run  # noqa: PLC0415

        _try("mlflow", "MLflow", run, log_run, note)


def _post(run: Run, webhook: Webhook, note: Callable[[str], None]) -> None:
    try:
        message = make_message(aggregate(run, diagnose(run, _MOST_DIAGNOSED)), webhook.format)
    except Exception as problem:  # noqa: BLE001  (a run that was paid for must not be lost over a message)
        error = f"the message could not be made: {type(problem).__name__}"
        note(f"the web-hook at {webhook.shown} was not told: {error}. The run is stored all the same.")
        _write_down(run, "webhook", {"address": webhook.shown, "delivered": False, "error": error}, note)
        return
    sent = deliver(webhook, message, run.id)
    if not sent.delivered:
        tries = f"{sent.attempts} tr{'ies' if sent.attempts != 1 else 'y'}"
        note(
            f"the web-hook at {sent.address} was not reached in {tries}: {sent.error}. The run is stored all the same."
        )
    _write_down(run, "webhook", asdict(sent), note)


def _try(kind: str, name: str, run: Run, send: Callable[[Run], object], note: Callable[[str], None]) -> None:
    error = None
    try:
        send(run)
    except Exception as problem:  # noqa: BLE001  (whatever their libraries raise, the run is finished)
        # Their messages may quote addresses and keys.
        error = type(problem).__name__
        note(f"{name} could not be told: {error}. The run is stored all the same.")
    at = datetime.now(UTC).isoformat(timespec="seconds")
    _write_down(run, kind, {"at": at, "delivered": error is None, "error": error}, note)


def _write_down(run: Run, kind: str, record: dict[str, object], note: Callable[[str], None]) -> None:
    problem = add_record(run, kind, record)
    if problem is not None:
        note(f"what was told about the run could not be written down: {problem}")
