"""Conversations, steps, citations and importance as users write them, right and wrong."""

import pytest

from ragstone.data.types import Chunk, Citation, Fact, Step, Turn
from ragstone.engine.evaluate import evaluate
from ragstone.errors import InputError
from ragstone.formats.reader import open_reader, read_dataset, write_dataset


def read(**fields):
    return read_dataset([{"id": "1", "question": "And for children?", **fields}])[0]


def test_a_row_with_all_of_them():
    sample = read(
        history=[
            {"role": "User", "text": "What is the fare?"},
            {"role": "assistant", "text": "8 €.", "contexts": ["Fares: 8 €."]},
        ],
        rewritten_question="What is the fare for children?",
        steps=[
            {
                "tool": "search",
                "query": "fare children",
                "contexts": [{"id": "f1", "text": "Children: 4 €."}],
                "seconds": "0.5",
            }
        ],
        expected_steps=["search"],
        citations=[{"chunk": 1, "start": 0, "end": 4}, {"chunk": "f1", "text": "4 €"}],
        facts=[{"text": "Children: 4 €", "importance": "vital"}],
    )
    assert sample.history == [Turn("user", "What is the fare?"), Turn("assistant", "8 €.", [Chunk("Fares: 8 €.")])]
    assert sample.rewritten_question == "What is the fare for children?"
    assert sample.steps == [Step("search", "fare children", [Chunk("Children: 4 €.", "f1")], 0.5)]
    assert sample.expected_steps == [Step("search")]
    assert sample.citations == [Citation("1", 0, 4), Citation("f1", text="4 €")]
    assert sample.facts == [Fact("Children: 4 €", importance="vital")]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"history": [{"role": "judge", "text": "x"}]}, "has the role 'judge'"),
        ({"history": ["What is the fare?"]}, "must be {role, text, contexts}"),
        (
            {"history": [{"role": "user", "text": "x", "contexts": [7]}]},
            "must be a text or {text, id, score, source, page, image, table}",
        ),
        ({"steps": [{"query": "fare"}]}, "must be the name of a tool"),
        ({"steps": [{"tool": "search", "seconds": "soon"}]}, "must be a number"),
        ({"citations": [{"start": 0, "end": 3}]}, "must be {chunk, start, end, text}"),
        ({"citations": [{"chunk": 1, "start": 3}]}, "goes from 3 to None"),
        ({"citations": [{"chunk": 1, "start": 5, "end": 3}]}, "goes from 5 to 3"),
        ({"citations": [{"chunk": 1, "start": -1, "end": 3}]}, "must be a position from 0"),
        ({"facts": [{"text": "x", "importance": "huge"}]}, "has the importance 'huge'"),
    ],
)
def test_what_does_not_fit_is_named(fields, words):
    with pytest.raises(InputError, match="entry 1") as error:
        read(**fields)
    assert words in str(error.value)


def test_an_agent_that_made_no_step_retrieved_nothing():
    assert read(steps=[]).contexts == []
    assert read(steps=["calculator"]).contexts is None
    assert read(steps=[], contexts=["A chunk."]).contexts == [Chunk("A chunk.")]


def test_messages_may_have_the_key_of_openai():
    assert read(history=[{"role": "user", "content": "What is the fare?"}]).history == [
        Turn("user", "What is the fare?")
    ]


GRADED = {
    "question": "When?",
    "answer": "At nine.",
    "references": ["At nine."],
    "contexts": ["One sentence. Another one."],
    "generated_questions": ["When does it open?"],
    "noncommittal": True,
    "needed_sentences": [0],
    "chunk_usefulness": [True],
}


@pytest.mark.parametrize("kind", ["rows", "jsonl", "csv", "parquet"])
def test_given_verdicts_of_ragas_need_no_judge(kind, tmp_path):
    path = tmp_path / f"given.{kind}"
    if kind != "rows":
        write_dataset(open_reader([GRADED]).batches(), str(path))
    run = evaluate([GRADED] if kind == "rows" else str(path), ["ragas.context_relevance", "ragas.context_precision"])
    assert run.scores["value"].to_pylist() == [0.5, 1.0]
    table = open_reader([GRADED] if kind == "rows" else str(path))
    assert next(table.batches())["noncommittal"].to_pylist() == [True]


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("chunk_usefulness", [True, False], "has 2 entries for the 1 of contexts"),
        ("noncommittal", "perhaps", "must be true or false"),
        ("needed_sentences", [-1], "must be a position from 0"),
    ],
)
def test_given_verdicts_of_ragas_are_checked(name, value, problem):
    with pytest.raises(InputError, match=f"{name}: .*{problem}"):
        read_dataset([{**GRADED, name: value}])
