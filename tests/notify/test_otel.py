"""Events as OpenTelemetry's own SDK takes them, in memory and over HTTP."""

import sys

import pytest

from ragstone.data.types import Sample
from ragstone.errors import MissingExtraError
from ragstone.notify.exporters import EVENT, emit_results, find_sdk, label_of, span_of
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


TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


@pytest.mark.parametrize("prefix", ["", "0x"])
def test_events_are_joined_to_the_evaluated_span(tmp_path, kept, monkeypatch, prefix):
    import ragstone

    monkeypatch.delenv("RAGSTONE_LOCAL_JUDGE")
    ids = {"trace_id": f"{prefix}{TRACE}", "start_time": "2024-05-01T10:00:00Z", "end_time": "2024-05-01T10:00:01Z"}
    asked = {
        "openinference.span.kind": "CHAIN",
        "input.value": "When does the ferry leave?",
        "output.value": "At eight.",
    }
    found = {
        "openinference.span.kind": "RETRIEVER",
        "retrieval.documents.0.document.content": "The ferry leaves at eight.",
    }
    spans = [
        {**ids, "span_id": f"{prefix}{SPAN}", "parent_id": None, "name": "answer", "attributes": asked},
        {**ids, "span_id": "11f067aa0ba902b7", "parent_id": f"{prefix}{SPAN}", "name": "search", "attributes": found},
    ]
    run = ragstone.evaluate(spans, ["ragchecker.faithfulness", "k_precision"], tmp_path)
    provider, exporter = kept
    assert emit_results(run, provider) == 2
    records = {
        item.log_record.attributes["gen_ai.evaluation.name"]: item.log_record for item in exporter.get_finished_logs()
    }
    for record in records.values():
        assert (f"{record.trace_id:032x}", f"{record.span_id:016x}") == (TRACE, SPAN)
    judged = records["ragchecker.faithfulness"].attributes
    assert judged["gen_ai.evaluation.score.label"] == "pass"
    assert judged["gen_ai.evaluation.explanation"].endswith("of 2 words in answer claims")
    assert judged["ragstone.evaluator.kind"] == "judge"
    assert "local-judge/" in judged["ragstone.evaluator.model"]
    assert records["k_precision"].attributes["ragstone.evaluator.kind"] == "code"
    assert "ragstone.evaluator.model" not in records["k_precision"].attributes


def test_an_id_of_32_digits_is_not_a_trace_unless_the_sample_was_read_from_spans():
    assert span_of(Sample(TRACE, "q", metadata={"root_span_id": SPAN})) == (None, None)
    assert span_of(Sample(TRACE, "q")) == (None, None)
    assert span_of(Sample(TRACE, "q", metadata={"span_names": ["answer"]})) == (int(TRACE, 16), None)


def test_a_metric_whose_limit_depends_on_the_chunks_has_no_label():
    assert [label_of("fact_precision", value) for value in (0.0, 0.2, 1.0)] == ["", "", ""]
    assert label_of("fact_recall", 1.0) == "pass"


def test_labels_only_where_the_metric_decides(run, kept):
    provider, exporter = kept
    emit_results(run, provider)
    for item in exporter.get_finished_logs():
        record = item.log_record
        assert not record.trace_id  # the samples are not traces
        value, label = (record.attributes.get(f"gen_ai.evaluation.score.{name}") for name in ("value", "label"))
        limit = {"token_f1": 0.5}.get(record.attributes["gen_ai.evaluation.name"], 0.8)
        has_label = limit == 0.8 or value in (0, 1)
        assert label == (("pass" if value >= limit else "fail") if has_label else None)


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
