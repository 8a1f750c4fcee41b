"""Phoenix: spans of its API, and its dataframe as JSON lines, Parquet and CSV."""

import json

import pandas as pd
import pytest

from ragstone.data.types import Chunk
from ragstone.formats import open_reader, read_dataset
from tests.formats.fixtures import fixture_phoenix
from tests.platforms.records import AT_EIGHT, FARE, FERRY, TEN, TRACES, phoenix_annotations, phoenix_spans

CHUNKS = [Chunk(AT_EIGHT, "d1", 0.9), Chunk(TEN, "d3")]


def check(ferry, fare):
    assert (ferry.id, ferry.question, ferry.answer, ferry.contexts) == (TRACES["ferry"], FERRY, "At eight.", CHUNKS)
    assert (ferry.metadata["input_tokens"], ferry.metadata["model"]) == (100, "gpt-4o-mini")
    assert (ferry.metadata["latency_s"], ferry.metadata["root_span_id"]) == (4.0, "0000000000000001")
    assert (fare.question, fare.answer, fare.contexts) == (FARE, "Ten.", [Chunk(TEN)])
    assert [turn.text for turn in fare.history] == [FERRY, "At eight."]


def test_spans_of_the_api(tmp_path):
    path = fixture_phoenix(tmp_path)[0]
    assert open_reader(path).format.name == "phoenix"
    check(*read_dataset(path))


@pytest.fixture
def frame():
    """The table of `client.spans.get_spans_dataframe()`: one column per attribute."""
    return pd.DataFrame(
        [
            {
                "name": span["name"],
                "span_kind": span["span_kind"],
                "parent_id": span["parent_id"],
                "start_time": pd.Timestamp(span["start_time"]),
                "end_time": pd.Timestamp(span["end_time"]),
                "status_code": "OK",
                "context.span_id": span["context"]["span_id"],
                "context.trace_id": span["context"]["trace_id"],
                **{f"attributes.{key}": value for key, value in span["attributes"].items()},
            }
            for span in phoenix_spans()
        ]
    )


@pytest.mark.parametrize("kind", ["jsonl", "parquet", "csv", "json.csv", "memory"])
def test_dataframes(tmp_path, frame, kind):
    path = tmp_path / f"spans.{kind}"
    if kind == "jsonl":
        frame.to_json(path, orient="records", lines=True, date_format="iso")
    elif kind == "parquet":
        frame.to_parquet(path)
    elif kind == "csv":
        frame.to_csv(path, index=False)  # lists in Python's notation
    elif kind == "json.csv":
        column = "attributes.retrieval.documents"
        frame[column] = [json.dumps(cell) if isinstance(cell, list) else None for cell in frame[column]]
        frame.to_csv(path, index=False)
    data = frame if kind == "memory" else str(path)
    assert open_reader(data).format.name == "phoenix"
    check(*read_dataset(data))


def test_annotations_of_the_root_span_are_feedback(tmp_path):
    spans = phoenix_spans()
    for span in spans:
        own = [note for note in phoenix_annotations() if note["span_id"] == span["context"]["span_id"]]
        span["annotations"] = own
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(span) + "\n" for span in spans))
    ferry, fare = read_dataset(str(path))
    assert (ferry.metadata["feedback"], ferry.metadata["signals"]) == ({"user_feedback": 1.0}, {"like": 1})
    assert (fare.metadata["feedback"], fare.metadata["signals"]) == ({"user_feedback": 0.0}, {"dislike": 1})


def test_a_text_that_looks_like_json_stays_text(tmp_path, frame):
    frame.loc[0, "attributes.output.value"] = "[1] says eight."
    path = tmp_path / "spans.csv"
    frame.to_csv(path, index=False)
    assert read_dataset(str(path))[0].answer == "[1] says eight."
