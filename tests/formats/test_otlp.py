import json

import pytest

from ragstone.formats.otlp import parse_json, parse_protobuf, protobuf_reply

SPAN = {
    "traceId": "5B8EFFF798038103D269B633813FC60C",
    "spanId": "EEE19B7EC3C1B174",
    "name": "chat",
    "startTimeUnixNano": "1544712660000000000",
    "endTimeUnixNano": "1544712661000000000",
    "kind": 1,
    "attributes": [{"key": "input.value", "value": {"stringValue": "When?"}}],
    "events": [{"name": "first token", "attributes": [{"key": "n", "value": {"intValue": "3"}}]}],
}
RESOURCE = {"attributes": [{"key": "service.name", "value": {"stringValue": "ferry"}}]}


def request(*spans, **more):
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}], **more}]}).encode()


def test_a_span_has_plain_attributes_and_ids_in_lower_case():
    (row,), rejected = parse_json(request(SPAN, resource=RESOURCE))
    assert rejected == 0
    assert row == {
        "traceId": SPAN["traceId"].lower(),
        "spanId": SPAN["spanId"].lower(),
        "name": "chat",
        "startTimeUnixNano": SPAN["startTimeUnixNano"],
        "endTimeUnixNano": SPAN["endTimeUnixNano"],
        "attributes": {"input.value": "When?"},
        "events": [{"name": "first token", "attributes": {"n": 3}}],
        "resource": {"service.name": "ferry"},
    }


@pytest.mark.parametrize(
    "change",
    [{"traceId": "0" * 32}, {"traceId": "5b8e"}, {"spanId": None}, {"spanId": "0" * 16}, {"endTimeUnixNano": None}],
)
def test_spans_without_ids_or_an_end_are_counted(change):
    received = parse_json(request({**SPAN, **change}, SPAN))
    assert (len(received.spans), received.rejected) == (1, 1)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[]", "no list 'resourceSpans'"),
        (b'{"resourceSpans": 3}', "no list 'resourceSpans'"),
        (b"{", "Expecting"),
        (b'{"a":' + b"[" * 100_000, "nested too deeply"),
    ],
)
def test_other_requests_are_refused(content, message):
    with pytest.raises(ValueError, match=message):
        parse_json(content)


def test_an_empty_request_has_no_spans():
    assert parse_json(b"{}") == ([], 0)


def test_protocol_buffers_give_the_same_spans():
    service = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
    message = service.ExportTraceServiceRequest()
    span = message.resource_spans.add().scope_spans.add().spans.add()
    span.trace_id, span.span_id = bytes.fromhex(SPAN["traceId"]), bytes.fromhex(SPAN["spanId"])
    span.name, span.start_time_unix_nano, span.end_time_unix_nano = "chat", 1, 2
    attribute = span.attributes.add()
    attribute.key, attribute.value.string_value = "input.value", "When?"
    (row,), rejected = parse_protobuf(message.SerializeToString())
    assert (row["traceId"], row["spanId"], rejected) == (SPAN["traceId"].lower(), SPAN["spanId"].lower(), 0)
    assert row["attributes"] == {"input.value": "When?"}
    reply = service.ExportTraceServiceResponse()
    reply.ParseFromString(protobuf_reply(2, "no ids"))
    assert (reply.partial_success.rejected_spans, reply.partial_success.error_message) == (2, "no ids")
