"""Sends every score as an OpenTelemetry event `gen_ai.evaluation.result` (GenAI semantic conventions)."""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterator, Mapping
from typing import Any

from ragstone._version import __version__
from ragstone.errors import MissingExtraError
from ragstone.storage.runs import Run, read_batches

EVENT = "gen_ai.evaluation.result"
_COLUMNS = ["sample_id", "metric", "value", "status", "reason", "signature"]
_FLUSH_MS = 30_000


def find_sdk() -> None:
    """Raises an error that names the extra if the SDK is not installed."""
    try:
        importlib.import_module("opentelemetry.sdk._logs")
        importlib.import_module("opentelemetry.exporter.otlp.proto.http._log_exporter")
    except ImportError:
        raise MissingExtraError("sending to OpenTelemetry", "otel") from None


def emit_results(run: Run, provider: Any = None) -> int:
    """Emit one event per score that was not skipped, by OTLP to OTEL_EXPORTER_OTLP_ENDPOINT or with `provider`."""
    find_sdk()
    own = provider is None
    provider = _open_provider() if own else provider
    try:
        logger = provider.get_logger("ragstone", __version__)
        record_type = importlib.import_module("opentelemetry._logs").LogRecord
        count = 0
        for attributes in event_attributes(run):
            record = record_type(timestamp=time.time_ns(), event_name=EVENT, attributes=dict(attributes))
            logger.emit(record)
            count += 1
        if not provider.force_flush(_FLUSH_MS):
            raise TimeoutError("the events were not accepted in time")
        return count
    finally:
        if own:
            provider.shutdown()


def event_attributes(run: Run) -> Iterator[Mapping[str, Any]]:
    """The attributes of each event: those of the conventions, then run, sample and signature."""
    shared = {"ragstone.run.id": run.id, "ragstone.run.name": run.name}
    for batch in read_batches(run.folder.scores, _COLUMNS):
        for cell in batch.to_pylist():
            if cell["status"] == "skipped":
                continue
            attributes = {
                "gen_ai.evaluation.name": cell["metric"],
                **shared,
                "ragstone.sample.id": cell["sample_id"],
                "ragstone.metric.signature": cell["signature"],
            }
            if cell["status"] == "failed":
                attributes |= {"error.type": "evaluation_failed", "gen_ai.evaluation.explanation": cell["reason"] or ""}
            else:
                attributes["gen_ai.evaluation.score.value"] = float(cell["value"])
            yield attributes


def _open_provider() -> Any:
    sdk = importlib.import_module("opentelemetry.sdk._logs")
    export = importlib.import_module("opentelemetry.sdk._logs.export")
    otlp = importlib.import_module("opentelemetry.exporter.otlp.proto.http._log_exporter")
    provider = sdk.LoggerProvider()
    provider.add_log_record_processor(export.BatchLogRecordProcessor(otlp.OTLPLogExporter()))
    return provider
