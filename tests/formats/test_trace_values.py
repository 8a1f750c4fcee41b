"""Parts of traces of any form."""

import json

import pytest

from ragstone.formats.trace_values import contexts_in, documents_in, feedback_values, history_in, make_span

ROW = {"trace_id": "t", "span_id": "s", "start_time": "2026-11-01T10:00:00+00:00"}
DOCUMENT = {"page_content": "Eight.", "metadata": {"source": "a.md"}}


@pytest.mark.parametrize(
    ("output", "texts"),
    [
        ([DOCUMENT], ["Eight."]),
        ({"documents": [DOCUMENT]}, ["Eight."]),
        ([{"kwargs": DOCUMENT, "lc": 1}], ["Eight."]),
        ([{"text": "Eight.", "id": 1}], ["Eight."]),
        ([{"role": "assistant", "content": "Eight."}], None),
        ([{"type": "text", "text": "Eight."}], None),
        ([], None),
        ("Eight.", None),
        ({"answer": "Eight.", "documents": [DOCUMENT]}, None),
    ],
)
def test_documents_are_told_from_messages_and_answers(output, texts):
    found = documents_in(output)
    assert (None if found is None else [chunk["text"] for chunk in found]) == texts


def test_a_span_without_a_kind_that_returns_documents_is_a_search():
    span = make_span(ROW, {}, kind="CHAIN", input="When?", output=json.dumps([DOCUMENT]))
    assert (span.kind, span.documents[0]["text"], span.documents[0]["source"]) == ("RETRIEVER", "Eight.", "a.md")


def test_a_search_that_found_nothing_has_no_chunks_but_is_a_search():
    span = make_span(ROW, {}, kind="RETRIEVER", input="When?", output=[])
    assert span.documents == []


def test_too_deep_values_are_left_out():
    deep = value = {}
    for _ in range(5000):
        value["input"] = {}
        value = value["input"]
    span = make_span(ROW, {}, kind="CHAIN", input=deep, output="Eight.")
    assert (span.trace, span.question) == ("t", None)
    assert history_in({"messages": [{"role": "user", "content": deep}]}) is None


def test_contexts_and_history_of_a_root():
    assert contexts_in({"answer": "x", "context": [DOCUMENT]})[0]["text"] == "Eight."
    assert contexts_in({"answer": "x", "context": "one text"}) is None
    assert contexts_in("x") is None
    turns = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]
    assert [turn["text"] for turn in history_in({"input": "q", "chat_history": turns})] == ["Hello", "Hi"]
    assert [turn["text"] for turn in history_in([*turns, {"role": "user", "content": "q"}])] == ["Hello", "Hi"]
    assert history_in("q") is None


@pytest.mark.parametrize(
    ("name", "value", "signals"),
    [
        ("user-feedback", 1, {"like": 1}),
        ("User Feedback", "up", {"like": 1}),
        ("thumbs_up", False, {"dislike": 1}),
        ("user_score", -1, {"dislike": 1}),
        ("user_score", 0.5, None),
        ("faithfulness", 1, None),
    ],
)
def test_only_ratings_of_users_are_signals(name, value, signals):
    found = feedback_values([(name, value, None)])
    assert found["feedback"] == {name: value}
    assert found.get("signals") == signals
