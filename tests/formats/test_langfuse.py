"""Langfuse exports of every kind give the same samples."""

import csv
import json

from ragstone.data.types import Chunk
from ragstone.formats import open_reader, read_dataset
from tests.formats.fixtures import fixture_langfuse
from tests.platforms.records import (
    AT_EIGHT,
    FARE,
    FERRY,
    TEN,
    TRACES,
    day,
    langfuse_observations,
    langfuse_score,
    langfuse_scores,
    langfuse_traces,
)

CHUNKS = [Chunk(AT_EIGHT, "d1", None, "timetable.md"), Chunk(TEN, "d3", None, "fares.md")]


def save(tmp_path, rows, name="log.jsonl"):
    path = tmp_path / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_observations_and_scores_are_samples(tmp_path):
    path = fixture_langfuse(tmp_path)[0]
    assert open_reader(path).format.name == "langfuse"
    ferry, fare = read_dataset(path)
    assert (ferry.id, ferry.question, ferry.answer) == (TRACES["ferry"], FERRY, "At eight.")
    assert ferry.contexts == CHUNKS
    about = ferry.metadata
    assert (about["latency_s"], about["first_token_s"]) == (4.0, 2.0)
    assert (about["input_tokens"], about["output_tokens"], about["cost_usd"]) == (100, 7, 0.002)
    assert (about["model"], about["session_id"], about["user_id"]) == ("gpt-4o-mini", "s1", "u1")
    assert about["time"] == "2026-11-01T10:00:00+00:00"
    assert about["feedback"] == {"user-feedback": 1}
    assert about["feedback_comments"] == {"user-feedback": "thanks"}
    assert about["signals"] == {"like": 1}
    assert (fare.question, fare.answer, fare.contexts) == (FARE, "Ten.", [Chunk(TEN)])
    assert [turn.text for turn in fare.history] == [FERRY, "At eight."]


def test_scores_that_ragstone_wrote_are_not_feedback(tmp_path):
    fare = read_dataset(fixture_langfuse(tmp_path)[0])[1]
    assert fare.metadata["feedback"] == {"user-feedback": False, "topic": "fares"}
    assert fare.metadata["signals"] == {"dislike": 1}


def test_traces_with_their_own_rows(tmp_path):
    """Servers before version 4: traces, observations and scores in pages of their own."""
    old = [{**row, "isRootObservation": None, "userId": None, "sessionId": None} for row in langfuse_observations()]
    scores = [
        {**{k: v for k, v in row.items() if k != "subject"}, "traceId": row["subject"]["id"]}
        for row in langfuse_scores()
    ]
    ferry, fare = read_dataset(save(tmp_path, [*old, *langfuse_traces(), *scores]))
    assert (ferry.question, ferry.answer, ferry.contexts) == (FERRY, "At eight.", CHUNKS)
    assert (ferry.metadata["latency_s"], ferry.metadata["cost_usd"]) == (4.0, 0.002)
    assert (ferry.metadata["tenant"], ferry.metadata["tags"], ferry.metadata["trace_name"]) == ("x", ["web"], "chat")
    assert ferry.metadata["signals"] == {"like": 1}
    assert fare.history is not None


def test_a_trace_with_observations_inside(tmp_path):
    """GET /api/public/traces/{id}, and the download of one trace in the user interface."""
    trace = {
        **langfuse_traces()[0],
        "observations": [row for row in langfuse_observations() if row["traceId"] == TRACES["ferry"]],
        "scores": [langfuse_score(TRACES["ferry"], "user-feedback", 1)],
    }
    (sample,) = read_dataset(save(tmp_path, [trace], "trace.json"))
    assert (sample.question, sample.contexts, sample.metadata["signals"]) == (FERRY, CHUNKS, {"like": 1})
    download = {"observations": trace["observations"], "scores": trace["scores"]}
    (sample,) = read_dataset(save(tmp_path, [download], "download.json"))
    assert (sample.question, sample.contexts, sample.metadata["signals"]) == (FERRY, CHUNKS, {"like": 1})


def test_an_exported_table_of_traces(tmp_path):
    """The CSV of the user interface: JSON in cells, one column per score."""
    path = tmp_path / "traces.csv"
    columns = ["id", "timestamp", "name", "userId", "sessionId", "tags", "input", "output", "metadata", "user-feedback"]
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        output = json.dumps({"answer": "At eight.", "contexts": [{"text": AT_EIGHT, "id": "d1"}]})
        messages = [
            {"role": "user", "content": "Hello"},
            {"role": "assistant", "content": "Hi"},
            {"role": "user", "content": FERRY},
        ]
        writer.writerow(
            ["t1", day(10), "chat", "u1", "s1", '["web"]', json.dumps({"messages": messages}), output, "", "[1]"]
        )
        writer.writerow(["t2", day(11), "chat", "", "", "[]", FARE, "Ten.", '{"tenant": "x"}', ""])
    assert open_reader(str(path)).format.name == "langfuse"
    first, second = read_dataset(str(path))
    assert (first.question, first.answer, first.contexts) == (FERRY, "At eight.", [Chunk(AT_EIGHT, "d1")])
    assert [turn.text for turn in first.history] == ["Hello", "Hi"]
    assert first.metadata["feedback"] == {"user-feedback": 1}
    assert (second.question, second.answer, second.metadata["tenant"]) == (FARE, "Ten.", "x")


def test_rows_of_the_blob_storage_have_other_names(tmp_path):
    def snake(row):
        return {"".join(f"_{c.lower()}" if c.isupper() else c for c in key): value for key, value in row.items()}

    ferry, _ = read_dataset(save(tmp_path, [snake(row) for row in langfuse_observations()]))
    assert (ferry.question, ferry.contexts, ferry.metadata["input_tokens"]) == (FERRY, CHUNKS, 100)


def test_a_row_that_comes_twice_counts_once(tmp_path):
    ferry, _ = read_dataset(save(tmp_path, [*langfuse_observations(), *langfuse_observations()]))
    assert ferry.contexts == CHUNKS
    assert ferry.steps is None


def test_an_unknown_row_is_a_problem_with_its_line(tmp_path):
    reader = open_reader(save(tmp_path, [*langfuse_observations(), {"foo": 1}]), "langfuse")
    import pytest

    from ragstone.errors import InputError

    with pytest.raises(InputError, match="line 6: is not a trace, an observation or a score"):
        list(reader.batches())
