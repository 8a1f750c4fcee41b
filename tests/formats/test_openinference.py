import json

import pyarrow as pa
import pytest

from ragstone.data.types import Chunk
from ragstone.errors import InputError
from ragstone.formats import open_reader, read_dataset
from ragstone.formats.messages import find_text
from tests.formats.fixtures import fixture_openinference


def span(kind="CHAIN", *, start=0, parent=None, trace="t1", name="step", **attributes):
    named = {key.replace("__", "."): value for key, value in attributes.items()}
    return {
        "traceId": trace,
        "parentSpanId": parent,
        "name": name,
        "startTimeUnixNano": str(start),
        "attributes": {"openinference.span.kind": kind, **named},
    }


def documents(*texts):
    return {f"retrieval.documents.{i}.document.content": text for i, text in enumerate(texts)}


def save(tmp_path, content, name="spans.json"):
    path = tmp_path / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return str(path)


def read_one(tmp_path, *spans):
    (sample,) = read_dataset(save(tmp_path, list(spans)))
    return sample


def notes_of(data):
    reader = open_reader(data)
    list(reader.batches())
    return reader.report.notes


def typed(value):
    """A value as OTLP writes it."""
    if isinstance(value, str):
        return {"stringValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [typed(item) for item in value]}}
    return {"kvlistValue": {"values": [{"key": key, "value": typed(item)} for key, item in value.items()]}}


def otlp(*spans):
    pairs = [
        {**one, "attributes": [{"key": key, "value": typed(value)} for key, value in one["attributes"].items()]}
        for one in spans
    ]
    return {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"scope": {}, "spans": pairs}]}]}


def test_a_sample_a_trace(tmp_path):
    first, second = read_dataset(*fixture_openinference(tmp_path))
    assert (first.id, first.question, first.answer) == ("t1", "When does the ferry leave?", "At eight.")
    assert first.contexts == [Chunk("It leaves at eight.", "d1", 0.9, "timetable.md"), Chunk("Adults pay ten.", "d3")]
    assert first.metadata == {
        "time": "2024-05-01T10:00:00+00:00",
        "session_id": "s1",
        "span_names": ["answer", "retrieve"],
        "root_span_id": "t1-answer",
    }
    assert (second.question, second.answer, second.contexts) == (
        "What do adults pay?",
        "Ten.",
        [Chunk("Adults pay ten.", "d3")],
    )


def test_nothing_to_note_about_good_traces(tmp_path):
    assert notes_of(*fixture_openinference(tmp_path)) == []


EXCHANGE = [
    span(input__value="q", output__value="a", start=1),
    span("RETRIEVER", start=2, parent="x", **documents("one", "two")),
    span("LLM", start=3, parent="x", llm__model_name="m", llm__token_count__prompt=7, llm__token_count__completion=2),
]


@pytest.mark.parametrize(
    "content",
    [
        EXCHANGE,
        otlp(*EXCHANGE),
        json.dumps(otlp(*EXCHANGE), indent=1),
        "\n".join(json.dumps(one) for one in EXCHANGE),
        "\n".join(json.dumps(otlp(one)) for one in EXCHANGE),
        {"data": EXCHANGE, "next_cursor": None},
    ],
    ids=["list", "otlp", "otlp pretty", "lines", "otlp lines", "phoenix"],
)
def test_containers(tmp_path, content):
    (sample,) = read_dataset(save(tmp_path, content))
    assert (sample.question, sample.answer) == ("q", "a")
    assert [chunk.text for chunk in sample.contexts] == ["one", "two"]
    expected = {"model": "m", "input_tokens": 7, "output_tokens": 2, "span_names": ["step", "step", "step"]}
    assert sample.metadata == expected


def test_table_of_spans():
    rows = [
        {
            "context.trace_id": "t1",
            "parent_id": parent,
            "span_kind": kind,
            "attributes.input.value": question,
            "attributes.output.value": answer,
            "attributes.retrieval.documents": found,
        }
        for parent, kind, question, answer, found in [
            (None, "CHAIN", "q", "a", None),
            ("x", "RETRIEVER", "q", "[...]", [{"document.content": "one", "document.score": 0.5}]),
        ]
    ]
    (sample,) = read_dataset(pa.Table.from_pylist(rows))
    assert (sample.question, sample.answer, sample.contexts) == ("q", "a", [Chunk("one", score=0.5)])


def test_otlp_values_of_all_types(tmp_path):
    found = [{"document": {"content": "one", "id": 7, "score": 0.25, "metadata": {"source": "a.md"}}}]
    root = span("RETRIEVER", input__value="q", retrieval__documents=found)
    (sample,) = read_dataset(save(tmp_path, otlp(root)))
    assert sample.contexts == [Chunk("one", "7", 0.25, "a.md")]


def test_reranker_has_the_last_word(tmp_path):
    reranked = {"reranker.output_documents.0.document.content": "best"}
    sample = read_one(
        tmp_path,
        span("RERANKER", start=3, parent="x", **reranked),
        span("RERANKER", start=4, parent="x"),
        span("RETRIEVER", start=2, parent="x", **documents("good", "best")),
        span(input__value="q", start=1),
    )
    assert [chunk.text for chunk in sample.contexts] == ["best"]


def test_retrievers_in_time_order(tmp_path):
    sample = read_one(
        tmp_path,
        span("RETRIEVER", start=20, parent="x", **documents("second")),
        span("RETRIEVER", start=3, parent="x", **documents("first")),
    )
    assert [chunk.text for chunk in sample.contexts] == ["first", "second"]


def test_root_without_texts_leaves_them_to_the_first_chain(tmp_path):
    sample = read_one(
        tmp_path,
        span("AGENT", start=2, parent="x", input__value="q", output__value="a"),
        span("CHAIN", start=3, parent="x", input__value="later", output__value="later"),
        span("", start=1, name="POST /chat"),
    )
    assert (sample.question, sample.answer) == ("q", "a")


def test_model_calls_are_the_last_resort(tmp_path):
    message = {"llm.output_messages.0.message.role": "assistant"}
    sample = read_one(
        tmp_path,
        span("LLM", start=1, parent="x", input__value="q", output__value="rewritten"),
        span(
            "LLM",
            start=2,
            parent="x",
            input__value="stuffed",
            **message,
            **{"llm.output_messages.0.message.content": "a"},
        ),
    )
    assert (sample.question, sample.answer) == ("q", "a")


@pytest.mark.parametrize("as_text", [True, False])
def test_genai_attributes(tmp_path, as_text):
    asked = [
        {"role": "system", "parts": [{"type": "text", "content": "Be kind."}]},
        {"role": "user", "parts": [{"type": "text", "content": "q"}]},
    ]
    said = [{"role": "assistant", "parts": [{"type": "reasoning", "content": "hm"}, {"type": "text", "content": "a"}]}]
    found = [{"id": "d1", "score": 0.9}, {"id": "d2", "score": 0.8, "content": "two"}]
    spell = json.dumps if as_text else lambda value: value
    call = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": spell(asked),
        "gen_ai.output.messages": spell(said),
    }
    call |= {"gen_ai.usage.input_tokens": 5, "gen_ai.response.model": "m", "gen_ai.conversation.id": "c"}
    lookup = {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.documents": spell(found)}
    sample = read_one(tmp_path, span("", **call), span("", parent="x", **lookup))
    assert (sample.question, sample.answer) == ("q", "a")
    assert sample.contexts == [Chunk("", "d1", 0.9), Chunk("two", "d2", 0.8)]
    assert sample.metadata == {"session_id": "c", "model": "m", "input_tokens": 5, "span_names": ["step", "step"]}


@pytest.mark.parametrize(
    ("value", "role", "text"),
    [
        (
            {
                "messages": [
                    {"role": "user", "content": "old"},
                    {"role": "assistant", "content": "x"},
                    {"role": "user", "content": "q"},
                ]
            },
            "user",
            "q",
        ),
        ({"messages": [{"type": "human", "content": "q"}, {"type": "ai", "content": "a"}]}, "assistant", "a"),
        (
            {"choices": [{"message": {"role": "assistant", "content": "a"}}, {"message": {"content": "b"}}]},
            "assistant",
            "a",
        ),
        (
            [{"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]}],
            "user",
            "one\ntwo",
        ),
        ({"input": {"question": "q"}, "k": 3}, "user", "q"),
        ({"output": "a"}, "assistant", "a"),
        ({"messages": [{"role": "system", "content": "s"}]}, "user", None),
        ({"k": 3}, "user", None),
        (3, "user", None),
    ],
)
def test_texts_within_json(value, role, text):
    assert find_text(value, role) == text


def test_json_without_a_known_text_stays_as_it_is(tmp_path):
    assert read_one(tmp_path, span(input__value='{"k": 3}', **documents("one"))).question == '{"k": 3}'


def test_text_that_looks_like_json_stays_as_it_is(tmp_path):
    assert read_one(tmp_path, span(input__value="[draft] q", output__value='"a"')).answer == '"a"'


def test_explicitly_empty_retrieval_is_no_absent_one(tmp_path):
    assert read_one(tmp_path, span("RETRIEVER", input__value="q", retrieval__documents=[])).contexts == []


def test_traces_without_retrieval_are_noted(tmp_path):
    spans = [
        span(input__value="q"),
        span("", trace="t2", name="GET /health"),
        span(trace="t3", input__value="q", parent="x"),
        span("RETRIEVER", trace="t3", **documents("one")),
    ]
    path = save(tmp_path, spans)
    assert [sample.id for sample in read_dataset(path)] == ["t1", "t3"]
    assert notes_of(path) == [
        "traces with no documents of a retriever: 1, for example 't1'; they are kept, without contexts",
        "traces with no question, answer or documents: 1, for example 't2'; they are left out",
    ]


def test_spans_without_trace_are_problems(tmp_path):
    stray = span(input__value="q", trace=None)
    lines = [json.dumps(EXCHANGE[0]), json.dumps(stray), json.dumps(otlp(EXCHANGE[1], stray)), "{"]
    with pytest.raises(InputError) as caught:
        read_dataset(save(tmp_path, "\n".join(lines)))
    hint = "(a span has a trace_id, traceId or context.trace_id)"
    *problems, last = [str(problem) for problem in caught.value.problems]
    assert problems == [
        f"line 2: trace_id: has no trace id {hint}",
        f"line 3, span 2: trace_id: has no trace id {hint}",
    ]
    assert last.startswith("line 4: is not JSON")


def test_traces_of_a_session_are_a_conversation(tmp_path):
    def turn(trace, start, asked, said):
        texts = {"input.value": asked, "output.value": said, "session.id": "s"}
        return span(trace=trace, start=start, **texts)

    spans = [turn("t2", 20, "c", "d"), turn("t1", 10, "a", "b"), span(trace="t3", start=5, **{"input.value": "x"})]
    first, second, other = read_dataset(save(tmp_path, spans))
    assert [(sample.id, sample.question) for sample in (first, second, other)] == [
        ("t1", "a"),
        ("t2", "c"),
        ("t3", "x"),
    ]
    assert (first.history, other.history) == (None, None)
    assert [(turn.role, turn.text) for turn in second.history] == [("user", "a"), ("assistant", "b")]
