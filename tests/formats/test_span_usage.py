"""Tokens and price of nested model spans, in files of every format with spans."""

import json
from itertools import product

import pytest

from ragstone.formats import open_reader, read_dataset
from tests.each_case import each_case

ROOT = ("root", None, "CHAIN", None, None, None)
LANGFUSE = {"LLM": "GENERATION", "CHAIN": "SPAN"}


def _attributes(kind, tokens_in, tokens_out, cost):
    found = {
        "openinference.span.kind": kind,
        "llm.token_count.prompt": tokens_in,
        "llm.token_count.completion": tokens_out,
        "llm.cost.total": cost,
        "input.value": "When?",
        "output.value": "At eight.",
    }
    return {name: value for name, value in found.items() if value is not None}


def openinference(spans):
    for at, (name, parent, *usage) in enumerate(spans):
        about = {
            "traceId": "t1",
            "spanId": name,
            "parentSpanId": parent,
            "name": name,
            "startTimeUnixNano": str(at + 1),
        }
        yield {**about, "attributes": _attributes(*usage)}


def otlp(spans):
    rows = list(openinference(spans))
    for row in rows:
        kinds = {str: "stringValue", int: "intValue", float: "doubleValue"}
        row["attributes"] = [{"key": key, "value": {kinds[type(v)]: v}} for key, v in row["attributes"].items()]
    yield {"resourceSpans": [{"scopeSpans": [{"spans": rows}]}]}


def genai(spans):
    operations = {"LLM": "chat", "EMBEDDING": "embeddings", "CHAIN": "invoke_workflow", "AGENT": "invoke_agent"}
    for row, (_, _, kind, tokens_in, tokens_out, cost) in zip(openinference(spans), spans, strict=True):
        usage = {"input_tokens": tokens_in, "output_tokens": tokens_out, "cost": cost}
        named = {f"gen_ai.usage.{name}": value for name, value in usage.items() if value is not None}
        texts = {key: row["attributes"][key] for key in ("input.value", "output.value")}
        yield {**row, "attributes": {"gen_ai.operation.name": operations[kind], **named, **texts}}


def phoenix(spans):
    for at, (name, parent, *usage) in enumerate(spans):
        times = {"start_time": f"2026-11-01T10:00:{at:02}+00:00", "end_time": "2026-11-01T10:01:00+00:00"}
        about = {"name": name, "context": {"trace_id": "t1", "span_id": name}, "parent_id": parent, **times}
        yield {**about, "span_kind": usage[0], "status_code": "OK", "attributes": _attributes(*usage)}


def langfuse(spans):
    for at, (name, parent, kind, tokens_in, tokens_out, cost) in enumerate(spans):
        usage = {"input": tokens_in, "output": tokens_out}
        yield {
            "id": name,
            "traceId": "t1",
            "parentObservationId": parent,
            "type": LANGFUSE.get(kind, kind),
            "startTime": f"2026-11-01T10:00:{at:02}Z",
            "input": "When?",
            "output": "At eight.",
            "usageDetails": {key: value for key, value in usage.items() if value is not None},
            "costDetails": {} if cost is None else {"total": cost},
        }


def langsmith(spans):
    kinds = {"AGENT": "chain"}
    for at, (name, parent, kind, tokens_in, tokens_out, cost) in enumerate(spans):
        times = {"start_time": f"2026-11-01T10:00:{at:02}", "end_time": "2026-11-01T10:01:00"}
        usage = {"prompt_tokens": tokens_in, "completion_tokens": tokens_out, "total_cost": cost}
        about = {"id": name, "trace_id": "t1", "parent_run_id": parent, "run_type": kinds.get(kind, kind.lower())}
        yield {**about, **times, **usage, "inputs": {"question": "When?"}, "outputs": {"answer": "At eight."}}


FORMATS = [openinference, otlp, genai, phoenix, langfuse, langsmith]


def usage(tmp_path, rows):
    path = tmp_path / "spans.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert open_reader(str(path)).format.name in {"openinference", "phoenix", "langfuse", "langsmith"}
    (sample,) = read_dataset(str(path))
    return tuple(sample.metadata.get(name) for name in ("input_tokens", "output_tokens", "cost_usd"))


def llm(name, parent="root", tokens_in=None, tokens_out=None, cost=None):
    return (name, parent, "LLM", tokens_in, tokens_out, cost)


TREES = {
    "a client within a framework": ([llm("a", "root", 50, 10, 0.5), llm("b", "a", 50, 10, 0.5)], (50, 10, 0.5)),
    "only the framework has usage": ([llm("a", "root", 50, 10, 0.5), llm("b", "a")], (50, 10, 0.5)),
    "only the client has usage": ([llm("a"), llm("b", "a", 50, 10, 0.5)], (50, 10, 0.5)),
    "each has a part of the usage": ([llm("a", "root", cost=0.5), llm("b", "a", 50, 10)], (50, 10, 0.5)),
    "three levels": ([llm("a", "root", 5, 1), llm("b", "a", 5, 1), llm("c", "b", 5, 1)], (5, 1, None)),
    "a chain in between": (
        [llm("a", "root", 5, 1), ("x", "a", "CHAIN", 5, 1, None), llm("b", "x", 5, 1)],
        (5, 1, None),
    ),
    "parallel calls": ([llm("a", "root", 60, 6), llm("b", "a", 40, 4), llm("c", "a", 20, 2)], (60, 6, None)),
    "the framework counts the last call": (
        [llm("a", "root", 20, 2), llm("b", "a", 40, 4), llm("c", "a", 20, 2)],
        (60, 6, None),
    ),
    "a failed call without usage": ([llm("a", "root", 60, 6), llm("b", "a"), llm("c", "a", 60, 6)], (60, 6, None)),
    "one of two calls has no usage": ([llm("a", "root", 60, 6), llm("b", "a"), llm("c", "a", 20, 2)], (60, 6, None)),
    "the client reports 0": ([llm("a", "root", 60, 6), llm("b", "a", 0, 0)], (60, 6, None)),
    "two separate calls": ([llm("a", "root", 40, 4, 0.25), llm("b", "root", 20, 2, 0.5)], (60, 6, 0.75)),
    "an embedding costs, but has no tokens of a language model": (
        [
            ("e", "root", "EMBEDDING", 9, None, 0.25),
            ("f", "e", "EMBEDDING", 9, None, 0.25),
            llm("a", "root", 5, 1, 0.5),
        ],
        (5, 1, 0.75),
    ),
    "an embedding within a call": ([llm("a", "root", 5, 1, 0.5), ("e", "a", "EMBEDDING", 9, None, 0.25)], (5, 1, 0.75)),
    "parents in a circle": ([llm("a", "b", 5, 1), llm("b", "a", 5, 1)], (10, 2, None)),
}


@each_case("name, write, is_reversed", product(TREES, FORMATS, [False, True]))
def test_a_model_span_within_a_model_span_counts_once(tmp_path, write, name, is_reversed):
    spans, expected = TREES[name]
    rows = list(write([ROOT, *spans]))
    assert usage(tmp_path, rows[::-1] if is_reversed else rows) == expected


@pytest.mark.parametrize("write", [openinference, otlp, genai, phoenix, langfuse])
def test_chains_count_once_if_no_model_call_has_usage(tmp_path, write):
    spans = [("root", None, "CHAIN", 60, 6, 0.5), ("a", "root", "AGENT", 60, 6, 0.5), llm("b", "a")]
    assert usage(tmp_path, write(spans)) == (60, 6, 0.5)


SPANS = [llm("a", "root", 50, 10, 0.5), llm("b", "a", 50, 10, 0.5)]
TRACE = {
    "id": "t1",
    "timestamp": "2026-11-01T10:00:00Z",
    "sessionId": "s",
    "userId": "u",
    "input": "When?",
    "output": "8",
}


@pytest.mark.parametrize(
    ("spans", "expected"), [(SPANS, (50, 10, 0.5)), ([], (100, 20, 1.0)), ([llm("a")], (100, 20, 1.0))]
)
def test_totals_of_a_platform_count_only_without_those_of_spans(tmp_path, spans, expected):
    """Platforms add up all spans, the nested ones too."""
    total = {**TRACE, "totalCost": 1.0, "inputTokens": 100, "outputTokens": 20}
    assert usage(tmp_path, [total, *langfuse(spans)]) == expected
    assert usage(tmp_path, langsmith([("root", None, "CHAIN", 100, 20, 1.0), *spans])) == expected


def test_a_total_of_0_is_unknown(tmp_path):
    assert usage(tmp_path, langsmith([("root", None, "CHAIN", 0, 0, 0), llm("a")])) == (None, None, None)


@pytest.mark.parametrize("write", [langfuse, langsmith])
def test_calls_without_an_id_are_all_counted(tmp_path, write):
    rows = write([ROOT, llm(None, "root", 40, 4), llm(None, "root", 20, 2)])
    assert usage(tmp_path, rows) == (60, 6, None)
