"""Sends the scores of a run as OpenTelemetry events (GenAI semantic conventions), and its means and files to MLflow."""

from __future__ import annotations

import importlib
import re
import time
from collections.abc import Iterator, Mapping
from typing import Any

from ragstone._version import __version__
from ragstone.analysis.sample_evidence import Case, read_cases_at
from ragstone.data.summary import ALL
from ragstone.data.types import Sample
from ragstone.data.usage import ROOT_SPAN, SPAN_NAMES
from ragstone.engine.metric_choice import find_metric
from ragstone.errors import MissingExtraError
from ragstone.notify.push import explain_score
from ragstone.storage.run_info import MetricInfo
from ragstone.storage.runs import Run, read_batches
from ragstone.storage.scores import read_ids

EVENT = "gen_ai.evaluation.result"
_COLUMNS = ["sample_id", "metric", "value", "status", "reason", "signature"]
_CELLS_AT_ONCE = 1_000
_HEX = re.compile(r"(?:0x)?([0-9a-fA-F]+)")
_TRACE_DIGITS, _SPAN_DIGITS = 32, 16
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
        sampled = importlib.import_module("opentelemetry.trace").TraceFlags(1)
        count = 0
        for attributes, (trace, span) in make_events(run):
            joined = {"trace_id": trace, "span_id": span, "trace_flags": sampled} if trace else {}
            logger.emit(record_type(timestamp=time.time_ns(), event_name=EVENT, attributes=attributes, **joined))
            count += 1
        if not provider.force_flush(_FLUSH_MS):
            raise TimeoutError("the events were not accepted in time")
        return count
    finally:
        if own:
            provider.shutdown()


def make_events(run: Run) -> Iterator[tuple[dict[str, Any], tuple[int | None, int | None]]]:
    """The attributes of each event, and the trace and the span of the evaluated answer, None if they are not known."""
    metrics = {metric.metric: metric for metric in run.info.metrics}
    rows = {name: row for row, name in enumerate(read_ids(run))}
    for batch in read_batches(run.folder.scores, _COLUMNS):
        cells = [cell for cell in batch.to_pylist() if cell["status"] != "skipped"]
        for start in range(0, len(cells), _CELLS_AT_ONCE):
            some = cells[start : start + _CELLS_AT_ONCE]
            cases = read_cases_at(run, sorted({rows[cell["sample_id"]] for cell in some}), run.info.evidence)
            for cell in some:
                case = cases[rows[cell["sample_id"]]]
                yield _attributes(run, cell, metrics[cell["metric"]], case), span_of(case.sample)


def _attributes(run: Run, cell: Mapping[str, Any], metric: MetricInfo, case: Case) -> dict[str, Any]:
    """Those of the conventions, then run, sample, and the identity of the evaluator."""
    models = dict.fromkeys(judge.name for tool in metric.signature.tools.values() for judge in tool.judges)
    found = {
        "gen_ai.evaluation.name": cell["metric"],
        "ragstone.run.id": run.id,
        "ragstone.run.name": run.name,
        "ragstone.sample.id": cell["sample_id"],
        "ragstone.metric.signature": cell["signature"],
        "ragstone.evaluator.kind": "judge" if metric.is_judged else "code",
        **({"ragstone.evaluator.model": ", ".join(models)} if metric.is_judged else {}),
    }
    if cell["status"] == "failed":
        return found | {"error.type": "evaluation_failed", "gen_ai.evaluation.explanation": cell["reason"] or ""}
    texts = {"score.label": label_of(metric.metric, cell["value"]), "explanation": explain_score(metric, case)}
    found |= {f"gen_ai.evaluation.{name}": text for name, text in texts.items() if text}
    return found | {"gen_ai.evaluation.score.value": float(cell["value"])}


def label_of(metric: str, value: float) -> str:
    """`pass` or `fail` by the threshold of the metric, or if the value is the best or the worst of two; otherwise empty."""
    known = find_metric(metric)
    if known is None or known.spec.better == "none" or known.is_of_all_rows:
        return ""
    if known.spec.good and known.spec.good.share_of_chunks:
        return ""  # its limit depends on what the run's chunks allow
    if known.spec.good is None and (known.spec.bounds != (0.0, 1.0) or value not in (0, 1)):
        return ""
    limit = known.spec.good.limit if known.spec.good else 0.5
    is_good = value <= limit if known.spec.better == "lower" else value >= limit
    return "pass" if is_good else "fail"


def span_of(sample: Sample) -> tuple[int | None, int | None]:
    """The trace of a sample that was read from spans, and its root span; None if the sample has none."""
    metadata = sample.metadata or {}
    trace, span = _HEX.fullmatch(sample.id), _HEX.fullmatch(str(metadata.get(ROOT_SPAN) or ""))
    # Other samples may have an id of 32 digits too, such as a UUID or a hash.
    if SPAN_NAMES not in metadata or trace is None or len(trace[1]) != _TRACE_DIGITS:
        return None, None
    return int(trace[1], 16), int(span[1], 16) if span and len(span[1]) == _SPAN_DIGITS else None


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
