import dataclasses
import json

import pytest

from ragstone.data.types import Chunk, Step
from ragstone.formats import open_reader, read_dataset
from ragstone.formats.spans import parse_span
from ragstone.formats.traces import steps_of_spans


def call(name, kind="RETRIEVER", parent=None, documents=None, output=None, query=None, start=0.0, end=0.0):
    made = parse_span({"trace_id": "t", "span_id": name, "parent_id": parent, "name": name, "span_kind": kind})
    times = {"start": start, "end": end}
    return dataclasses.replace(made, query=query, documents=documents, output=output, **times)


def span(kind, name, start, parent="root", **attributes):
    named = {key.replace("__", "."): value for key, value in attributes.items()}
    return {
        "traceId": named.pop("trace", "t1"),
        "spanId": name,
        "parentSpanId": parent,
        "name": name,
        "startTimeUnixNano": str(1_700_000_000_000_000_000 + start * 500_000_000),
        "endTimeUnixNano": str(1_700_000_000_000_000_000 + (start + 1) * 500_000_000),
        "attributes": {"openinference.span.kind": kind, **named},
    }


def found(*texts):
    return {f"retrieval.documents.{n}.document.content": text for n, text in enumerate(texts)}


def read(tmp_path, *spans):
    path = tmp_path / "spans.json"
    path.write_text(json.dumps(spans))
    return list(read_dataset(str(path)))


ROOT = span("AGENT", "root", 0, None, input__value="q", output__value="a")


def test_several_retrievers_become_steps_in_time_order_and_contexts_stay(tmp_path):
    second = span("RETRIEVER", "two", 3, input__value="second", **found("b", "a"))
    first = span("RETRIEVER", "one", 1, input__value="first", **found("a"))
    (sample,) = read(tmp_path, ROOT, second, first)
    assert sample.steps == [
        Step("one", "first", [Chunk("a")], 0.5),
        Step("two", "second", [Chunk("b"), Chunk("a")], 0.5),
    ]
    assert [chunk.text for chunk in sample.contexts] == ["a", "b", "a"]


def test_one_search_per_trace_is_not_agentic(tmp_path):
    (sample,) = read(tmp_path, ROOT, span("RETRIEVER", "one", 1, **found("a")))
    assert sample.steps is None


def test_if_one_trace_is_agentic_all_have_steps(tmp_path):
    other = {**ROOT, "traceId": "t2"}
    agent, plain, single = read(
        tmp_path,
        ROOT,
        span("TOOL", "lookup", 1, tool__name="search", input__value='{"query": "x"}', output__value='["a", "b"]'),
        other,
        {**ROOT, "traceId": "t3"},
        span("RETRIEVER", "one", 1, trace="t3", **found("c")),
    )
    assert agent.steps == [Step("search", "x", [Chunk("a"), Chunk("b")], 0.5)]
    assert [chunk.text for chunk in agent.contexts] == ["a", "b"]
    # It called nothing, so it retrieved nothing.
    assert (plain.steps, plain.contexts) == ([], [])
    assert [step.tool for step in single.steps] == ["one"]


def test_only_traces_without_any_chunk_are_noted(tmp_path):
    path = tmp_path / "spans.json"
    tool = span("TOOL", "lookup", 1, output__value="text")
    path.write_text(json.dumps([ROOT, tool, {**ROOT, "traceId": "bare"}]))
    reader = open_reader(str(path))
    list(reader.batches())
    assert len(reader.report.notes) == 1
    assert "bare" in reader.report.notes[0]


def test_a_tool_takes_the_documents_of_the_retriever_within_it():
    chain = call("chain", "CHAIN", "tool")
    inner = call("store", parent="chain", documents=[{"text": "a"}], query="inner")
    (step,) = steps_of_spans([call("tool", "TOOL", output=[{"text": "joined"}]), chain, inner])
    assert (step["tool"], step["query"], step["contexts"]) == ("tool", "inner", [{"text": "a"}])


def test_an_ensemble_of_retrievers_is_one_step():
    outer = call("ensemble", documents=[{"text": "merged"}])
    parts = [call("dense", parent="ensemble", documents=[]), call("sparse", parent="ensemble", documents=[])]
    (step,) = steps_of_spans([outer, *parts])
    assert step["contexts"] == [{"text": "merged"}]


@pytest.mark.parametrize(
    "calls",
    [
        [call("a", parent="a")],
        [call("a", parent="b"), call("b", parent="a")],
        [call("a", parent="b"), call("b", "TOOL", parent="c"), call("c", parent="a")],
    ],
    ids=["itself", "pair", "three"],
)
def test_spans_in_a_circle_are_steps_of_their_own(calls):
    assert [step["tool"] for step in steps_of_spans(calls)] == [one.id for one in calls]


def test_spans_below_a_circle_are_not_lost():
    steps = steps_of_spans([call("a", parent="b"), call("b", parent="a"), call("c", parent="a", documents=[])])
    assert [step["tool"] for step in steps] == ["a", "b", "c"]


def test_repeated_ids_and_unknown_parents():
    twins = [call("a", documents=[]), call("a", documents=[]), call("b", parent="gone", documents=[])]
    assert len(steps_of_spans(twins)) == 3


def test_no_spans():
    assert steps_of_spans([]) == []


def test_a_thousand_nested_spans():
    calls = [call(str(n), parent=str(n - 1) if n else None, documents=[]) for n in range(1000)]
    assert len(steps_of_spans(calls)) == 1


@pytest.mark.parametrize(
    ("start", "end", "seconds"),
    [
        (1_700_000_000.0, 1_700_000_001.5, 1.5),
        (1_700_000_000_000.0, 1_700_000_000_250.0, 0.25),
        (1.7e18, 1.7e18 + 2e9, 2.0),
        (0.0, 5.0, None),
        (9.0, 5.0, None),
    ],
)
def test_durations_in_every_unit(start, end, seconds):
    (step,) = steps_of_spans([call("a", start=start, end=end)])
    assert step["seconds"] == seconds
