"""The OTLP receiver: the real exporter, damaged and hostile requests, and a process that is killed."""

import gzip
import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from contextlib import contextmanager

import pytest

from ragstone.errors import UsageError
from ragstone.formats import open_reader, read_dataset
from ragstone.web.receiver import Receiver

TRACE, ROOT = "5b8efff798038103d269b633813fc60c", "eee19b7ec3c1b174"


def span(number=1, trace=TRACE, parent=None, **attributes):
    return {
        "traceId": trace,
        "spanId": f"{number:016x}",
        **({"parentSpanId": parent} if parent else {}),
        "name": "answer",
        "kind": 2,
        "startTimeUnixNano": "1793527200000000000",
        "endTimeUnixNano": "1793527204000000000",
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()],
    }


def request(*spans):
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "ferry"}}]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {}, "spans": list(spans)}]}]}


def post(url, body, kind="application/json", **headers):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"Content-Type": kind, **{name.replace("_", "-"): value for name, value in headers.items()}}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=10) as reply:
            return reply.status, reply.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


@contextmanager
def serving(spool, **options):
    receiver = Receiver(str(spool), port=0, **options)
    thread = threading.Thread(target=receiver.serve, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        receiver.stop()
        thread.join(10)


@pytest.fixture
def spool(tmp_path):
    return tmp_path / "spool.jsonl"


def lines(spool):
    return [json.loads(line) for line in spool.read_text().splitlines()]


def test_json_is_stored_and_read_as_a_sample(spool):
    with serving(spool) as receiver:
        said = {"input.value": "When does the ferry leave?", "output.value": "At eight."}
        assert post(receiver.url, request(span(**said))) == (200, b"{}")
    [row] = lines(spool)
    assert row["resource"] == {"service.name": "ferry"}
    assert open_reader(str(spool)).format.name == "openinference"
    [sample] = read_dataset(str(spool))
    assert (sample.id, sample.question, sample.answer) == (TRACE, "When does the ferry leave?", "At eight.")
    assert sample.metadata["latency_s"] == 4.0


def test_a_span_that_is_sent_again_counts_once(spool):
    documents = {"openinference.span.kind": "RETRIEVER", "retrieval.documents": '[{"document.content": "Eight."}]'}
    with serving(spool) as receiver:
        for _ in range(2):
            post(receiver.url, request(span(1, **{"input.value": "When?"}), span(2, parent=f"{1:016x}", **documents)))
    assert len(lines(spool)) == 4
    [sample] = read_dataset(str(spool))
    assert len(sample.contexts) == 1


def test_gzip_and_the_limits_on_size(spool):
    small = json.dumps(request(span())).encode()
    with serving(spool, most_request_bytes=100_000) as receiver:
        assert post(receiver.url, gzip.compress(small), Content_Encoding="gzip")[0] == 200
        bomb = gzip.compress(b" " * 50_000_000)
        assert len(bomb) < 100_000
        assert post(receiver.url, bomb, Content_Encoding="gzip")[0] == 413
        assert post(receiver.url, b" " * 100_001)[0] == 413
        assert post(receiver.url, gzip.compress(small)[:-9], Content_Encoding="gzip")[0] == 400
        assert post(receiver.url, b"not gzip", Content_Encoding="gzip")[0] == 400
        assert post(receiver.url, small, Content_Encoding="br")[0] == 415
        assert post(receiver.url, small)[0] == 200
    assert len(lines(spool)) == 2


def test_all_members_of_a_gzip_body_are_stored_or_the_body_is_refused(spool):
    """Several members are one content, as `cat a.gz b.gz` writes it."""
    small = json.dumps(request(span(1), span(2))).encode()
    half = len(small) // 2
    members = gzip.compress(small[:half]) + gzip.compress(small[half:])
    with serving(spool, most_request_bytes=100_000) as receiver:
        for body in (members, members + b"\0" * 512, gzip.compress(b"") + members):
            assert post(receiver.url, body, Content_Encoding="gzip") == (200, b"{}")
        # Two documents are not one, and neither is stored.
        assert post(receiver.url, gzip.compress(small) * 2, Content_Encoding="gzip")[0] == 400
        assert post(receiver.url, members[:-9], Content_Encoding="gzip")[0] == 400
        assert post(receiver.url, members + b"more", Content_Encoding="gzip")[0] == 400
        bomb = gzip.compress(small) + gzip.compress(b" " * 50_000_000)
        assert post(receiver.url, bomb, Content_Encoding="gzip")[0] == 413
        assert post(receiver.url, b"", Content_Encoding="gzip")[0] == 400
    assert len(lines(spool)) == 6


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"{", "application/json", 400),
        (b"[]", "application/json", 400),
        (b'{"resourceSpans": 3}', "application/json", 400),
        (b"[" * 100_000, "application/json", 400),
        (b"{}", "text/plain", 415),
        (b"\xff\xff\xff\xff", "application/x-protobuf", 400),
        (b"{}", "application/json", 200),
    ],
)
def test_requests_that_are_not_otlp(spool, body, kind, status):
    with serving(spool) as receiver:
        assert post(receiver.url, body, kind)[0] == status
    assert lines(spool) == []


def test_spans_without_valid_ids_are_rejected_alone(spool):
    bad = [span(trace="xyz"), span(trace="0" * 32), {**span(), "spanId": "1"}, {**span(), "endTimeUnixNano": "0"}]
    bad[3]["endTimeUnixNano"] = ""
    with serving(spool) as receiver:
        status, reply = post(receiver.url, request(span(), *bad))
    assert status == 200
    assert json.loads(reply)["partialSuccess"]["rejectedSpans"] == "4"
    assert len(lines(spool)) == 1


def test_a_token_is_required_if_there_is_one(spool):
    with serving(spool, token="secret-token") as receiver:
        assert post(receiver.url, request(span()))[0] == 401
        assert post(receiver.url, request(span()), Authorization="Bearer wrong-token")[0] == 401
        assert post(receiver.url, request(span()), Authorization="Bearer secret-token")[0] == 200
        assert post(receiver.url, request(span()), Origin="http://evil.example")[0] == 403
    with pytest.raises(UsageError, match="at least 8"):
        Receiver(str(spool), port=0, token="short")
    open_to_all = Receiver(str(spool), host="0.0.0.0", port=0)
    assert open_to_all.token
    open_to_all._socket.close()
    open_to_all._spool.close()


def test_a_full_spool_asks_exporters_to_wait(spool):
    with serving(spool, most_spool_bytes=600) as receiver:
        assert post(receiver.url, request(span()))[0] == 200
        assert post(receiver.url, request(span(2)))[0] in (200, 503)
        status, reply = post(receiver.url, request(span(3)))
        assert (status, b"limit" in reply) == (503, True)


def test_without_the_extra_protobuf_names_the_install_line(spool, monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry.proto.collector.trace.v1.trace_service_pb2", None)
    with serving(spool) as receiver:
        status, reply = post(receiver.url, b"", "application/x-protobuf")
    assert status == 415
    assert b"pip install 'ragstone[otel]'" in reply
    assert b"http/json" in reply


def test_the_real_exporter(spool):
    """Nested spans of OpenTelemetry's SDK by OTLP-HTTP, as protobuf with gzip."""
    trace_exporter = pytest.importorskip("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    from opentelemetry.exporter.otlp.proto.http import Compression
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor

    with serving(spool, token="secret-token") as receiver:
        headers = {"authorization": "Bearer secret-token"}
        exporter = trace_exporter.OTLPSpanExporter(receiver.url, compression=Compression.Gzip, headers=headers)
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        tracer = provider.get_tracer("test")
        kind = "openinference.span.kind"
        with tracer.start_as_current_span("answer", attributes={kind: "CHAIN", "input.value": "When?"}) as root:
            about = {kind: "RETRIEVER", "retrieval.documents.0.document.content": "At eight."}
            with tracer.start_as_current_span("search", attributes=about):
                pass
            with tracer.start_as_current_span("llm", attributes={kind: "LLM", "llm.token_count.prompt": 12}):
                pass
            root.set_attribute("output.value", "At eight.")
        provider.shutdown()
    [sample] = read_dataset(str(spool))
    assert sample.id == f"{root.get_span_context().trace_id:032x}"
    assert (sample.question, sample.answer) == ("When?", "At eight.")
    assert [chunk.text for chunk in sample.contexts] == ["At eight."]
    assert sample.metadata["input_tokens"] == 12


def test_a_killed_receiver_loses_nothing_that_it_confirmed(tmp_path, spool):
    """Several clients send spans; kill -9 in the middle; every span with a 200 is in the spool, in whole lines."""
    command = [sys.executable, "-m", "ragstone", "receive", "--to", str(spool), "--port", "0"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    url = process.stdout.readline().partition("=")[2].split()[0]
    confirmed, sent = [], []

    def client(start):
        for number in range(start, start + 100_000):
            sent.append(number)
            try:
                status, _ = post(url, request(span(number, output="x" * 500)))
            except (OSError, http.client.HTTPException):  # the reply may be cut
                return
            if status == 200:
                confirmed.append(number)

    threads = [threading.Thread(target=client, args=(1 + 100_000 * place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + 30
    while len(confirmed) < 50 and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait(10)
    process.stdout.close()
    for thread in threads:
        thread.join(15)
    assert len(confirmed) >= 50
    whole = spool.read_bytes().rpartition(b"\n")[0].splitlines()
    stored = {int(json.loads(line)["spanId"], 16) for line in whole}
    assert set(confirmed) <= stored <= set(sent)
    # A new process continues the same spool.
    with serving(spool) as receiver:
        assert post(receiver.url, request(span(7)))[0] == 200
    assert {int(row["spanId"], 16) for row in lines(spool)} == stored | {7}
