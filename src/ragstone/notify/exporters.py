"""Sends the scores of a run as OpenTelemetry events (GenAI semantic conventions), and its means and files to MLflow."""

from __future__ import annotations

import importlib
import re
import time
from collections.abc import Iterator, Mapping
from typing import Any

from ragstone._version import __version__
from ragstone.data.summary import ALL
from ragstone.errors import MissingExtraError
from ragstone.storage.runs import Run, read_batches

EVENT = "gen_ai.evaluation.result"
_COLUMNS = ["sample_id", "metric", "value", "status", "reason", "signature"]
_FLUSH_MS = 30_000
_FILES = ("manifest", "summary", "scores")
_REFUSED = re.compile(r"[^\w\-. /:]")


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


def find_mlflow() -> Any:
    """The module; an error that names the extra if it is not installed."""
    try:
        return importlib.import_module("mlflow")
    except ImportError:
        raise MissingExtraError("logging to MLflow", "mlflow") from None


def log_run(run: Run) -> str:
    """Log a finished run and return its MLflow id. Samples and evidence are not logged."""
    mlflow = find_mlflow()
    with mlflow.start_run(run_name=run.name) as opened:
        mlflow.set_tags({"ragstone.run_id": run.id, "ragstone.version": str(run.info["versions"].get("ragstone"))})
        judge = {f"ragstone.{name}": str(value) for name, value in run.info.judge.items()}
        data = run.info["dataset"]
        about = {"ragstone.dataset": str(data["fingerprint"]), "ragstone.rows": str(data["rows"])}
        mlflow.log_params({**{str(name): str(value) for name, value in run.info.params.items()}, **judge, **about})
        mlflow.log_metrics(metric_values(run))
        if run.folder.place.is_local:
            for name in _FILES:
                mlflow.log_artifact(getattr(run.folder, name).path, artifact_path="ragstone")
        return str(opened.info.run_id)


def metric_values(run: Run) -> dict[str, float]:
    """The mean, interval and number of cells of each metric.

    Names such as recall/n are not used: MLflow's file store cannot have a name that is also a folder.
    """
    values: dict[str, float] = {}
    for row in run.summary():
        name = metric_name(row.metric)
        if row.slice != ALL or row.mean is None:
            continue
        values[name] = row.mean
        values[f"{name}_n"] = float(row.n_ok)
        if row.ci_low is not None and row.ci_high is not None:
            values |= {f"{name}_ci_low": row.ci_low, f"{name}_ci_high": row.ci_high}
    return values


def metric_name(metric: str) -> str:
    """A valid MLflow name: `recall@5` becomes recall_at_5, other invalid characters become underscores."""
    return _REFUSED.sub("_", metric.replace("@", "_at_")).strip("_")
