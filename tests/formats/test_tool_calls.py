import json
import time

import pytest

from ragstone.formats.loose_contexts import union_of_steps
from ragstone.formats.tool_calls import chunks_of, exchange_of, query_of, read_messages, steps_of


def steps(*messages):
    return steps_of(read_messages(list(messages)))


def texts(found):
    return [[chunk["text"] for chunk in step["contexts"] or ()] for step in found]


def test_the_union_keeps_the_first_of_equal_chunks_in_the_order_in_which_they_were_found():
    one, again = {"text": "a", "id": "1", "score": 0.9}, {"text": "a", "id": "1", "score": 0.1}
    other_text, other_id = {"text": "b", "id": "1"}, {"text": "a", "id": "2"}
    bare = {"text": "a"}
    found = union_of_steps([{"contexts": [one]}, {"tool": "add"}, {"contexts": [again, other_text, bare, other_id]}])
    assert found == [one, other_text, bare, other_id]


def test_no_search_has_no_union_and_an_empty_search_an_empty_one():
    assert union_of_steps([{"tool": "add"}, {"tool": "add", "contexts": None}]) is None
    assert union_of_steps([{"contexts": []}]) == []


@pytest.mark.parametrize(
    ("output", "chunks"),
    [
        ("plain text", [("plain text", None)]),
        ("", []),
        (None, []),
        (42, [("42", None)]),
        ('["a", "b"]', [("a", None), ("b", None)]),
        ([{"page_content": "a", "metadata": {"id": 7}}], [("a", 7)]),
        ({"results": [{"content": "a", "id": "x"}, {"snippet": "b"}]}, [("a", "x"), ("b", None)]),
        ({"documents": [{"document": {"text": "a", "id": "i"}}]}, [("a", "i")]),
        ({"answer": 1}, [('{"answer": 1}', None)]),
        ({"documents": []}, []),
        ([{"id": "only"}], [("", "only")]),
        ([{"lc": 1, "kwargs": {"page_content": "a"}}], [("a", None)]),
        ("[not json", [("[not json", None)]),
    ],
)
def test_chunks_in_what_a_tool_returned(output, chunks):
    assert [(chunk["text"], chunk["id"]) for chunk in chunks_of(output)] == chunks


@pytest.mark.parametrize(
    ("arguments", "query"),
    [
        ({"query": "q", "k": 3}, "q"),
        ('{"question": "q"}', "q"),
        ({"town": "Ulm"}, "Ulm"),
        ({"a": 1, "b": 2}, '{"a": 1, "b": 2}'),
        ({}, None),
        (None, None),
        ("free text", "free text"),
        ({"query": ["a", "b"]}, '{"query": ["a", "b"]}'),
    ],
)
def test_the_query_among_the_arguments(arguments, query):
    assert query_of(arguments) == query


def test_parallel_calls_get_their_own_results():
    found = steps(
        {
            "role": "assistant",
            "tool_calls": [{"id": "1", "name": "s", "args": "x"}, {"id": "2", "name": "s", "args": "y"}],
        },
        {"role": "tool", "tool_call_id": "2", "content": "for y"},
        {"role": "tool", "tool_call_id": "1", "content": "for x"},
    )
    assert [step["query"] for step in found] == ["x", "y"]
    assert texts(found) == [["for x"], ["for y"]]


def test_anthropic_responses_api_and_legacy_functions():
    anthropic = steps(
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "s", "input": {"query": "q"}}]},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "r"}]}],
        },
    )
    responses = steps(
        {"type": "function_call", "call_id": "t", "name": "s", "arguments": '{"query": "q"}'},
        {"type": "function_call_output", "call_id": "t", "output": "r"},
    )
    legacy = steps(
        {"role": "assistant", "function_call": {"name": "s", "arguments": '{"query": "q"}'}},
        {"role": "function", "name": "s", "content": "r"},
    )
    for found in (anthropic, responses, legacy):
        assert [(step["tool"], step["query"]) for step in found] == [("s", "q")]
        assert texts(found) == [["r"]]


def test_serialised_langchain_messages():
    found = exchange_of(
        read_messages(
            [
                {"lc": 1, "type": "constructor", "id": ["x", "HumanMessage"], "kwargs": {"content": "q"}},
                {
                    "type": "ai",
                    "data": {"content": "", "tool_calls": [{"name": "s", "args": {"query": "z"}, "id": "1"}]},
                },
                {"lc": 1, "id": ["x", "ToolMessage"], "kwargs": {"content": "r", "tool_call_id": "1"}},
                {"type": "AIMessageChunk", "content": "a"},
            ]
        )
    )
    assert (found["question"], found["answer"], texts(found["steps"])) == ("q", "a", [["r"]])


@pytest.mark.parametrize(
    "hostile",
    [
        None,
        "text",
        [None, 1, "x"],
        [{}],
        [{"role": "tool"}],
        [{"role": "assistant", "tool_calls": [None, {}, {"function": None}, {"id": []}]}],
        [{"role": "assistant", "tool_calls": "x", "content": [None, 3]}],
        [{"role": "tool", "tool_call_id": "never called", "content": {"documents": [None, [], {"id": {}}]}}] * 3,
    ],
)
def test_hostile_messages_do_not_fail(hostile):
    for step in exchange_of(read_messages(hostile))["steps"]:
        assert step["tool"]


def test_a_thousand_calls_are_quick():
    calls = [{"id": str(n), "name": "s", "args": {"query": f"q{n}"}} for n in range(2000)]
    results = [{"role": "tool", "tool_call_id": str(n), "content": f"r{n}"} for n in reversed(range(2000))]
    started = time.process_time()
    found = steps({"role": "assistant", "tool_calls": calls}, *results)
    assert texts(found)[7] == ["r7"]
    assert time.process_time() - started < 3


def test_deep_json_is_text():
    deep = "[" * 100_000
    assert [chunk["text"] for chunk in chunks_of(deep)] == [deep]
    assert query_of(json.dumps({"a": {"b": 1}, "c": 1})) == '{"a": {"b": 1}, "c": 1}'
