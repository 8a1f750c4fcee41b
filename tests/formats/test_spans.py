"""One span from the ways in which exports write it."""

import pytest

from ragstone.formats.spans import parse_span, unpack_spans, untyped

FLAT = {
    "openinference.span.kind": "RETRIEVER",
    "input.value": "When?",
    "retrieval.documents.0.document.content": "At eight.",
    "retrieval.documents.0.document.id": "d1",
    "retrieval.documents.0.document.metadata": '{"source": "plan.pdf"}',
    "retrieval.documents.1.document.content": "At nine.",
}
NESTED = {
    "openinference": {"span": {"kind": "RETRIEVER"}},
    "input": {"value": "When?"},
    "retrieval": {
        "documents": [
            {"document": {"content": "At eight.", "id": "d1", "metadata": {"source": "plan.pdf"}}},
            {"document": {"content": "At nine."}},
        ]
    },
}
ABOUT = {"trace_id": "t", "span_id": "s", "parent_id": "p", "name": "search", "start_time": 1, "end_time": 3}


@pytest.mark.parametrize(
    "row",
    [
        {**ABOUT, "attributes": FLAT},
        {**ABOUT, "attributes": NESTED},
        {**ABOUT, **{f"attributes.{name}": value for name, value in FLAT.items()}},
        {**ABOUT, "attributes": [{"key": name, "value": {"stringValue": value}} for name, value in FLAT.items()]},
    ],
)
def test_attributes_are_read_in_all_four_forms(row):
    span = parse_span(row)
    assert (span.trace, span.id, span.parent, span.is_root) == ("t", "s", "p", False)
    assert (span.kind, span.question, span.answer) == ("RETRIEVER", "When?", None)
    assert [chunk["text"] for chunk in span.documents] == ["At eight.", "At nine."]
    assert (span.documents[0]["id"], span.documents[0]["source"]) == ("d1", "plan.pdf")
    assert (span.start, span.end) == (1.0, 3.0)


def test_a_tool_has_its_query_and_its_output_as_chunks():
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "search",
        "gen_ai.tool.call.arguments": '{"query": "ferry", "k": 3}',
        "gen_ai.tool.call.result": '[{"text": "At eight.", "id": 7}]',
    }
    span = parse_span({**ABOUT, "attributes": attributes})
    assert (span.kind, span.tool, span.query) == ("TOOL", "search", "ferry")
    assert span.output == [{"text": "At eight.", "id": 7, "score": None, "source": None}]


@pytest.mark.parametrize("trace", [None, "", "0000", 7])
def test_a_span_without_a_trace_is_none(trace):
    assert parse_span({**ABOUT, "trace_id": trace}) is None


def test_usage_and_times_in_the_units_of_the_export():
    row = {
        "traceId": "t",
        "startTimeUnixNano": "1544712660000000000",
        "endTimeUnixNano": "soon",
        "attributes": {"gen_ai.usage.input_tokens": "12", "llm.token_count.completion": 3.0, "llm.cost.total": "0.5"},
    }
    span = parse_span(row)
    assert (span.start, span.end, span.is_root) == (1544712660e9, 0.0, True)
    assert (span.input_tokens, span.output_tokens, span.cost_usd) == (12, 3, 0.5)


def test_spans_of_an_export_and_values_of_all_types():
    export = {"resourceSpans": [{"scopeSpans": {"spans": [ABOUT, 3]}}, {"scopeSpans": None}]}
    assert list(unpack_spans(export)) == [ABOUT]
    assert list(unpack_spans(ABOUT)) == [ABOUT]
    values = {"arrayValue": {"values": [{"intValue": "1"}, {"boolValue": True}]}}
    pairs = [{"key": "a", "value": values}, {"key": "b", "value": {"kvlistValue": {"values": []}}}, {"key": 3}]
    assert untyped(pairs) == {"a": [1, True], "b": {}}
