"""ATIF trajectories: one sample per user message, with steps, history and cost."""

import json

import pytest

from ragstone.errors import InputError
from ragstone.formats import open_reader, read_dataset
from tests.formats.fixtures import fixture_atif, trajectories


def test_each_user_message_is_a_sample_with_steps_and_cost(tmp_path):
    [path] = fixture_atif(tmp_path)
    assert open_reader(path).format.name == "atif"
    first, second, _ = read_dataset(path)
    assert (first.id, first.question, first.answer) == ("run-1#1", "When does the ferry leave?", "At eight.")
    [step] = first.steps
    assert (step.tool, step.query) == ("search", "ferry timetable")
    assert [chunk.text for chunk in step.contexts] == ["The ferry leaves at eight."]
    assert first.history is None
    assert first.metadata == {
        "agent": "harbour-agent",
        "agent_version": "1.0",
        "model": "m-1",
        "conversation": "run-1",
        "turn": 1,
        "input_tokens": 300,
        "output_tokens": 30,
        "cost_usd": pytest.approx(0.003),
        "latency_s": 4,
    }
    assert (second.id, second.question, second.answer) == ("run-1#2", "And back?", "At nine.")
    assert [(turn.role, turn.text) for turn in second.history] == [
        ("user", "When does the ferry leave?"),
        ("assistant", "Let me look."),
        ("assistant", "At eight."),
    ]
    assert "input_tokens" not in second.metadata


def test_one_file_per_trajectory_and_totals(tmp_path):
    files = []
    for document in trajectories():
        files.append(str(tmp_path / f"{document['session_id']}.json"))
        (tmp_path / f"{document['session_id']}.json").write_text(json.dumps(document, indent=2))
    assert [row.id for row in read_dataset(files[0])] == ["run-1#1", "run-1#2"]
    rows = list(read_dataset(files))
    assert [row.id for row in rows] == ["run-1#1", "run-1#2", "run-2"]
    # Parts of a message: the text counts, the image does not. Totals of the trajectory are those of its only answer.
    task = rows[2]
    assert (task.question, task.answer, task.metadata["output_tokens"]) == ("Which ship is this?", "The Maren.", 7)


@pytest.mark.parametrize(
    "steps", [[], None, "text", [{"source": "agent", "message": "Hello"}], [3, {"source": "user", "message": ""}]]
)
def test_a_trajectory_without_a_user_is_a_problem(tmp_path, steps):
    path = tmp_path / "trajectory.json"
    path.write_text(
        json.dumps({"schema_version": "ATIF-v1.6", "session_id": "x", "agent": {"name": "a"}, "steps": steps})
    )
    with pytest.raises(InputError, match="has no message of a user"):
        list(read_dataset(str(path), "atif"))
