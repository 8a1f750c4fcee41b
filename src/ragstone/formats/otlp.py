"""OTLP requests as spans, one mapping per span: what `ragstone receive` stores and `openinference` reads."""

from __future__ import annotations

import importlib
import re
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Mapping
from typing import Any, NamedTuple

from ragstone.data.codec import load_json
from ragstone.errors import MissingExtraError
from ragstone.formats.spans import listed, unpack_spans, untyped

_TRACE = re.compile(r"(?!0{32})[0-9a-fA-F]{32}")
_SPAN = re.compile(r"(?!0{16})[0-9a-fA-F]{16}")
_IDS = ("traceId", "spanId", "parentSpanId")
_KEPT = ("name", "startTimeUnixNano", "endTimeUnixNano", "status")


class Received(NamedTuple):
    """The valid spans of a request, and the number of others."""

    spans: list[dict[str, Any]]
    rejected: int


def parse_json(content: bytes) -> Received:
    """The spans of a request in JSON; a ValueError if it is not one."""
    try:
        document = load_json(content)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    if not isinstance(document, Mapping) or not isinstance(document.get("resourceSpans", []), list):
        raise ValueError("the request has no list 'resourceSpans'")  # noqa: TRY004  (a bad value, as the others)
    return _received(document)


def parse_protobuf(content: bytes) -> Received:
    """The same in Protocol Buffers, which needs an optional package."""
    message = _messages().ExportTraceServiceRequest()
    try:
        message.ParseFromString(content)
    except Exception as error:  # noqa: BLE001  (the error type depends on the implementation)
        raise ValueError(f"the request is not an ExportTraceServiceRequest ({type(error).__name__})") from None
    document = importlib.import_module("google.protobuf.json_format").MessageToDict(message)
    for span in unpack_spans({"resourceSpans": [], **document}):
        # Protocol Buffers as JSON have bytes in base64; OTLP as JSON has these in hexadecimal.
        span.update({name: _hexadecimal(span[name]) for name in _IDS if name in span})
    return _received(document)


def protobuf_reply(rejected: int, message: str) -> bytes:
    """The reply to a request in Protocol Buffers."""
    reply = _messages().ExportTraceServiceResponse()
    if rejected:
        reply.partial_success.rejected_spans = rejected
        reply.partial_success.error_message = message
    return bytes(reply.SerializeToString())


def _messages() -> Any:
    try:
        return importlib.import_module("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
    except ImportError:
        raise MissingExtraError("OTLP as Protocol Buffers", "otel") from None


def _hexadecimal(text: str) -> str:
    try:
        return b64decode(text, validate=True).hex()
    except (Base64Error, ValueError):
        return text


def _received(document: Mapping[str, Any]) -> Received:
    rows: list[dict[str, Any] | None] = []
    try:
        for resource in listed(document.get("resourceSpans")):
            owner = resource.get("resource")
            about = _attributes(owner.get("attributes") if isinstance(owner, Mapping) else None)
            rows += [_row(span, about) for span in unpack_spans({"resourceSpans": [resource]})]
    except RecursionError:
        raise ValueError("an attribute is nested too deeply") from None
    return Received([row for row in rows if row is not None], rows.count(None))


def _row(span: Mapping[str, Any], resource: Mapping[str, Any]) -> dict[str, Any] | None:
    """The span with plain attributes; None without valid ids or an end."""
    trace, own, end = span.get("traceId"), span.get("spanId"), span.get("endTimeUnixNano")
    if not _matches(_TRACE, trace) or not _matches(_SPAN, own) or not end:
        return None
    events = [{**event, "attributes": _attributes(event.get("attributes"))} for event in listed(span.get("events"))]
    parent = span.get("parentSpanId")
    return {
        "traceId": str(trace).lower(),
        "spanId": str(own).lower(),
        **({"parentSpanId": str(parent).lower()} if parent else {}),
        **{name: span[name] for name in _KEPT if span.get(name)},
        "attributes": _attributes(span.get("attributes")),
        **({"events": events} if events else {}),
        **({"resource": dict(resource)} if resource else {}),
    }


def _matches(pattern: re.Pattern[str], value: Any) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def _attributes(found: Any) -> dict[str, Any]:
    return untyped(found) if isinstance(found, list) else {}
