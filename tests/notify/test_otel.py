"""Events as OpenTelemetry's own SDK takes them, in memory and over HTTP."""

import sys

import pytest

from ragstone.errors import MissingExtraError
from ragstone.notify.exporters import EVENT, emit_results, find_sdk
from ragstone.notify.notify import Listeners, check_listeners, read_records, send_notifications

pytest.importorskip("opentelemetry.sdk._logs")


@pytest.fixture
def kept():
    """A provider that keeps events in memory, and what it keeps."""
    from opentelemetry.sdk._logs import LoggerProvider, export

    store = getattr(export, "InMemoryLogRecordExporter", None) or export.InMemoryLogExporter
    exporter = store()
    provider = LoggerProvider()
    provider.add_log_record_processor(export.SimpleLogRecordProcessor(exporter))
    yield provider, exporter
    provider.shutdown()


def test_each_score_is_an_event(run, kept):
    provider, exporter = kept
    scored = [row for row in run.scores.to_pylist() if row["status"] == "ok"]
    assert emit_results(run, provider) == len(scored)
    records = [item.log_record for item in exporter.get_finished_logs()]
    assert {record.event_name for record in records} == {EVENT} == {"gen_ai.evaluation.result"}
    found = {
        (record.attributes["ragstone.sample.id"], record.attributes["gen_ai.evaluation.name"]): record.attributes[
            "gen_ai.evaluation.score.value"
        ]
        for record in records
    }
    assert found == {(row["sample_id"], row["metric"]): row["value"] for row in scored}
    assert records[0].attributes["ragstone.run.id"] == run.id
    assert "fact_recall" in records[0].attributes["ragstone.metric.signature"]


def test_a_failed_score_is_an_error_and_a_skipped_one_is_nothing(tmp_path, kept, catalogue):
    import ragstone
    from ragstone.registry import metric

    @metric("breaks", family="own", bounds=(0, 1))
    def breaks(answer: str) -> float:
        """A metric that breaks."""
        raise ValueError("no good")

    rows = [{"question": "q", "answer": "a"}, {"question": "q", "references": ["x"]}]
    run = ragstone.evaluate(rows, ["breaks"], tmp_path)
    provider, exporter = kept
    assert emit_results(run, provider) == 1
    [item] = exporter.get_finished_logs()
    assert item.log_record.attributes["error.type"] == "evaluation_failed"
    assert "no good" in item.log_record.attributes["gen_ai.evaluation.explanation"]
    assert "gen_ai.evaluation.score.value" not in item.log_record.attributes


def test_over_http(run, loopback, monkeypatch):
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http._log_exporter")
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{loopback.port}")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none")
    loopback.handler = lambda asked: (200, b"", {"Content-Type": "application/x-protobuf"})
    send_notifications(run, Listeners(otel=True), pytest.fail)
    sent = []
    for asked in loopback.asked:
        assert asked.path == "/v1/logs"
        request = ExportLogsServiceRequest.FromString(asked.body)
        sent += [record for part in request.resource_logs for scope in part.scope_logs for record in scope.log_records]
    assert len(sent) == sum(row.n_ok for row in run.summary())
    assert {record.event_name for record in sent} == {EVENT}
    assert read_records(run)[0]["delivered"] is True


def test_without_the_package_one_is_told_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk._logs", None)
    with pytest.raises(MissingExtraError, match=r"ragstone\[otel\]"):
        find_sdk()
    with pytest.raises(MissingExtraError):
        check_listeners(Listeners(otel=True))
