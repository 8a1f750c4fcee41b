"""MLflow's evaluation sets."""

import json

import pytest

from ragstone.data.types import Chunk, Fact, Sample, Turn
from ragstone.errors import InputError
from ragstone.formats import read_dataset
from tests.formats.fixtures import fixture_mlflow


def read_one(**row):
    (sample,) = read_dataset([{"expectations": None, **row}])
    return sample


def test_fields(tmp_path):
    plain, chat = read_dataset(*fixture_mlflow(tmp_path))
    assert plain == Sample(
        id=plain.id,
        question="When does the ferry leave?",
        answer="At eight.",
        contexts=[Chunk("It leaves at eight.", "timetable.md"), Chunk("Adults pay ten.", "fares.md")],
        references=["At eight, in winter at nine."],
        reference_contexts=["It leaves at eight."],
        relevance={"timetable.md": 1.0, "winter.md": 1.0},
        facts=[Fact("It leaves at eight.", "statement"), Fact("In winter it leaves at nine.", "statement")],
        metadata={"guidelines": ["Be short."], "language": "en", "tags": {"release": "2"}},
    )
    assert chat == Sample(id=chat.id, question="What do adults pay?", answer="Ten.")


@pytest.mark.parametrize(
    "inputs",
    [
        "Why?",
        {"question": "Why?"},
        {"query": "Why?"},
        {"input": "Why?"},
        {"input": [{"role": "user", "content": "Why?"}]},
        {"messages": [{"role": "user", "content": "Why?"}]},
        json.dumps({"question": "Why?"}),
    ],
)
def test_question(inputs):
    sample = read_one(inputs=inputs, outputs="Because.")
    assert (sample.question, sample.answer, sample.metadata) == ("Why?", "Because.", {})


def test_question_of_a_conversation_is_the_last_one():
    messages = [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Hi"},
        {"role": "user", "content": "Why?"},
    ]
    sample = read_one(inputs={"messages": messages}, outputs="Because.")
    assert (sample.question, sample.metadata) == ("Why?", {})
    assert sample.history == [Turn("user", "Hello"), Turn("assistant", "Hi")]


def test_rows_of_a_session_are_a_conversation():
    rows = [
        {"inputs": {"question": "a"}, "outputs": "A", "metadata": {"session_id": "s"}},
        {"inputs": {"question": "b"}, "outputs": "B", "metadata": {"session_id": "t"}},
        {"inputs": {"question": "c"}, "outputs": {"response": "C"}, "metadata": {"session_id": "s"}},
    ]
    first, second, third = read_dataset(rows)
    assert (first.history, second.history) == (None, None)
    assert third.history == [Turn("user", "a"), Turn("assistant", "A")]


@pytest.mark.parametrize(
    "outputs",
    [
        "Ten.",
        {"response": "Ten."},
        {"answer": "Ten."},
        {"output": "Ten."},
        {"content": "Ten."},
        {"messages": [{"role": "assistant", "content": "Ten."}]},
        {"choices": [{"message": {"role": "assistant", "content": "Ten."}}]},
    ],
)
def test_answer(outputs):
    sample = read_one(inputs="Why?", outputs=outputs)
    assert (sample.answer, sample.metadata) == ("Ten.", {})


@pytest.mark.parametrize("key", ["retrieved_context", "contexts", "documents"])
def test_contexts(key):
    documents = (
        ["one", "two"],
        [{"doc_uri": "a", "content": "one"}],
        [{"page_content": "one", "metadata": {"doc_uri": "a"}}],
    )
    texts, mlflow, langchain = (
        read_one(inputs="Why?", outputs={"response": "x", key: chunks}).contexts for chunks in documents
    )
    assert texts == [Chunk("one"), Chunk("two")]
    assert mlflow == langchain == [Chunk("one", "a")]


def test_retrieval_without_an_answer():
    sample = read_one(inputs="Why?", outputs={"documents": [{"doc_uri": "a"}]})
    assert (sample.answer, sample.contexts) == (None, [Chunk("", "a")])


def test_what_no_field_takes_is_metadata_under_a_name_of_its_own():
    sample = read_one(
        inputs={"question": "Why?", "user": "ann", "tags": ["x"]}, outputs={"answer": "x", "user": "bot"}, tags={"y": 1}
    )
    assert sample.metadata == {"user": "ann", "outputs.user": "bot", "inputs.tags": ["x"], "tags": {"y": 1}}


def test_record_id():
    assert read_one(inputs="Why?", dataset_record_id="dr-1").id == "dr-1"


def test_malformed():
    rows = [
        {"inputs": {"topic": "fares", "user": "ann"}, "outputs": {"usage": 5}},
        {
            "inputs": "a",
            "outputs": "b",
            "expectations": {"expected_facts": 5, "expected_retrieved_context": "timetable.md"},
        },
        {"inputs": "c", "outputs": {"response": "d", "documents": [{"title": "x"}]}},
    ]
    with pytest.raises(InputError) as caught:
        read_dataset(rows)
    assert str(caught.value) == (
        "a list in memory: 5 problems\n"
        "  row 1: inputs: has no question; its keys are topic, user (name it question, query, input or messages)\n"
        "  row 1: outputs: has no answer; its keys are usage (name it response, answer, output or content)\n"
        "  row 2: expectations.expected_facts: must be a list, got a number\n"
        "  row 2: expectations.expected_retrieved_context: must be a list, got text (write [{doc_uri, content}])\n"
        "  row 3: outputs: entry 1 has no text; its keys are title (name the part that is the text: --map contexts.text=PART)"
    )
