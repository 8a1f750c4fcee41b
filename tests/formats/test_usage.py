"""Latency, tokens and price under the names of other tools."""

import json

import pytest

from ragstone.formats import read_dataset
from ragstone.formats.usage import with_usage


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"latency_ms": 1500}, {"latency_s": 1.5}),
        ({"latency": 1.5, "timeToFirstToken": 0.2, "totalCost": 0.01}, {"latency_s": 1.5, "first_token_s": 0.2, "cost_usd": 0.01}),
        ({"execution_duration": 2000}, {"latency_s": 2.0}),
        ({"usage": {"prompt_tokens": 10, "completion_tokens": 3}}, {"input_tokens": 10, "output_tokens": 3}),
        ({"mlflow.chat.tokenUsage": '{"input_tokens": 4, "output_tokens": 5}'}, {"input_tokens": 4, "output_tokens": 5}),
        ({"usage": {"input": 6, "output": 7}}, {"input_tokens": 6, "output_tokens": 7}),
        ({"llm.token_count.prompt": 8, "llm.token_count.completion": 9}, {"input_tokens": 8, "output_tokens": 9}),
        ({"latency_s": "1.25", "latency_ms": 9}, {"latency_s": 1.25}),
        ({"latency_s": -1}, {}),
        ({"latency_ms": "soon", "usage": "none"}, {}),
        ({"latency_ms": True}, {}),
        ({"topic": "fares"}, {}),
    ],
)  # fmt: skip
def test_names(metadata, expected):
    assert with_usage(metadata) == {**metadata, **expected}
    assert with_usage(with_usage(metadata)) == with_usage(metadata)


def test_columns_of_a_csv_are_numbers(tmp_path):
    (tmp_path / "a.csv").write_text("question,answer,latency_ms,total_cost\nq,a,250,0.5\n")
    [sample] = read_dataset(str(tmp_path / "a.csv"))
    assert sample.metadata == {"latency_ms": "250", "total_cost": "0.5", "latency_s": 0.25, "cost_usd": 0.5}


def test_deepeval():
    [sample] = read_dataset([{"input": "q", "actual_output": "a", "completion_time": 1.5, "token_cost": 0.1}])
    assert sample.metadata == {"latency_s": 1.5, "cost_usd": 0.1}


@pytest.mark.parametrize("unit", [1, 1_000_000_000])
def test_spans(tmp_path, unit):
    start = 1_700_000_000

    def span(name, begin, end, **attributes):
        times = {"start_time": (start + begin) * unit, "end_time": (start + end) * unit}
        return {"trace_id": "t", "name": name, "attributes": attributes, **times}

    root = span("root", 0, 3, **{"openinference.span.kind": "CHAIN", "input.value": "q", "output.value": "a"})
    call = span("call", 1, 3, **{"openinference.span.kind": "LLM", "llm.token_count.prompt": 7, "llm.cost.total": 0.02})
    call |= {"parent_id": "r", "events": [{"name": "First Token Stream Event", "timestamp": (start + 2) * unit}]}
    path = tmp_path / "spans.jsonl"
    path.write_text("\n".join(json.dumps(one) for one in (root, call)))
    [sample] = read_dataset(str(path))
    usage = {"latency_s": 3.0, "first_token_s": 2.0, "input_tokens": 7, "cost_usd": 0.02}
    assert {name: sample.metadata[name] for name in usage} == usage


def test_dial_logs():
    row = {
        "request": {
            "time": "2025-01-02T03:04:05Z",
            "body": json.dumps({"messages": [{"role": "user", "content": "q"}]}),
        },
        "response": {"status": "200", "time": "2025-01-02T03:04:07.500Z"},
        "trace": {"trace_id": "t"},
        "token_usage": {"prompt_tokens": 5, "completion_tokens": 2, "deployment_price": 0.001, "price": 0.003},
        "assembled_response": json.dumps({"id": "r", "choices": [{"message": {"content": "a"}}]}),
    }
    [sample] = read_dataset([row], format="dial_logs")
    usage = {"latency_s": 2.5, "input_tokens": 5, "output_tokens": 2, "cost_usd": 0.003}
    assert {name: sample.metadata[name] for name in usage} == usage
