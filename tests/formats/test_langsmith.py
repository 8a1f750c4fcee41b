"""LangSmith runs as lines, as a tree and as a table."""

import json

import pandas as pd

from ragstone.data.types import Chunk
from ragstone.formats import open_reader, read_dataset
from tests.formats.fixtures import fixture_langsmith
from tests.platforms.records import AT_EIGHT, FARE, FERRY, PROJECT, TEN, langsmith_runs, run_id

CHUNKS = [Chunk(AT_EIGHT, "d1", None, "timetable.md"), Chunk(TEN, "d3", None, "fares.md")]


def test_runs_are_samples(tmp_path):
    path = fixture_langsmith(tmp_path)[0]
    assert open_reader(path).format.name == "langsmith"
    ferry, fare = read_dataset(path)
    assert (ferry.id, ferry.question, ferry.answer, ferry.contexts) == (run_id("ferry"), FERRY, "At eight.", CHUNKS)
    about = ferry.metadata
    assert (about["latency_s"], about["first_token_s"]) == (4.0, 2.0)
    assert (about["input_tokens"], about["output_tokens"], about["cost_usd"]) == (100, 7, 0.002)
    assert (about["model"], about["session_id"], about["time"]) == ("gpt-4o-mini", "s1", "2026-11-01T10:00:00+00:00")
    assert (about["feedback"], about["signals"]) == ({"user_score": 1}, {"like": 1})
    assert about["langsmith_project"] == PROJECT
    assert (fare.question, fare.answer) == (FARE, "Ten.")
    assert fare.contexts == CHUNKS[1:]
    assert [turn.text for turn in fare.history] == [FERRY, "At eight."]
    assert fare.metadata["signals"] == {"dislike": 1}


def test_root_runs_alone(tmp_path):
    path = tmp_path / "roots.json"
    path.write_text(json.dumps([run for run in langsmith_runs() if run["parent_run_id"] is None]))
    ferry, fare = read_dataset(str(path))
    assert (ferry.question, ferry.contexts) == (FERRY, None)
    assert fare.contexts == CHUNKS[1:]


def test_child_runs_inside_a_run(tmp_path):
    root, *children, _ = langsmith_runs()
    path = tmp_path / "tree.jsonl"
    path.write_text(json.dumps({**root, "child_runs": children}) + "\n")
    (ferry,) = read_dataset(str(path))
    assert (ferry.contexts, ferry.metadata["input_tokens"]) == (CHUNKS, 100)


def test_a_table_with_json_in_cells(tmp_path):
    """A bulk export: Parquet with JSON text."""
    rows = [{k: json.dumps(v) if isinstance(v, dict | list) else v for k, v in run.items()} for run in langsmith_runs()]
    path = tmp_path / "runs.parquet"
    pd.DataFrame(rows).to_parquet(path)
    assert open_reader(str(path)).format.name == "langsmith"
    ferry, fare = read_dataset(str(path))
    assert (ferry.contexts, fare.contexts) == (CHUNKS, CHUNKS[1:])


def test_runs_of_the_second_version_of_the_api(tmp_path):
    """No parent_run_id, and project_id for session_id."""
    runs = []
    for run in langsmith_runs():
        run["project_id"] = run.pop("session_id")
        run["thread_id"] = "s1"
        del run["parent_run_id"]
        runs.append(run)
    path = tmp_path / "runs.jsonl"
    path.write_text("".join(json.dumps(run) + "\n" for run in runs))
    ferry, fare = read_dataset(str(path))
    assert (ferry.contexts, ferry.metadata["langsmith_project"]) == (CHUNKS, PROJECT)
    assert ferry.metadata["session_id"] == fare.metadata["session_id"] == "s1"
