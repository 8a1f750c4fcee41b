"""User signals of a log."""

import json
from pathlib import Path

import pytest

import ragstone
from tests.formats.fixtures import dial_row, rating_row, write_part
from tests.truth.harvest.log_files import make_rows, write_lines, write_log


def put(bucket, tmp_path, key, rows, cut=0):
    content = Path(write_part(tmp_path / "part.parquet", rows)).read_bytes()
    bucket.write(key, content[: len(content) - cut])


@pytest.fixture
def logs(bucket, tmp_path):
    """Two deployments in both layouts: of `guide` two days and a half-written part, of `fares` a part nobody asks for."""
    first = [
        dial_row("r1", "When does the first ferry leave?", "At eight.", ["It leaves at eight."], chat="c1"),
        rating_row("r1", True),
        dial_row("r2", "Where is the fish market?", "At sea.", ["The market is at pier 2."], chat="c2"),
        rating_row("r2", True, time="2024-05-01T10:10:00"),
        rating_row("r2", False, time="2024-05-01T10:20:00"),
        dial_row("r3", "Who runs the crane at gate 4?", None, chat="c3"),
        dial_row("r4", "What does a child pay for a day ticket?", "Five.", time="2024-05-01T10:00:00", chat="c4"),
        dial_row("r5", "No, I wanted something else", "Sorry.", time="2024-05-01T10:01:00", chat="c4"),
    ]
    second = [
        dial_row("r6", "when does the first ferry leave", "At 8:00.", time="2024-05-02T09:00:00", chat="c6"),
        dial_row("r7", "My mail is jo@example.org, who am I?", "Jo.", time="2024-05-02T09:00:00", chat="c7"),
    ]
    put(bucket, tmp_path, "logs/guide/parsed_logs/2024/05/01/a.parquet", first)
    put(bucket, tmp_path, "logs/guide/parsed_logs/2024/05/02/a.parquet", second)
    put(bucket, tmp_path, "logs/guide/parsed_logs/2024/05/02/b.parquet", second, cut=300)
    put(bucket, tmp_path, "logs/guide/parsed_logs/2024/06/01/a.parquet", [dial_row("r8", "June?", "Yes.")])
    put(bucket, tmp_path, "logs/fares/2024-05-01/part-0.parquet", [dial_row("r9", "Fares?", "Ten.")])
    return f"{bucket.url}/logs"


@pytest.fixture
def signals(tmp_path):
    rows = [
        {"response_id": "r7", "kind": "like", "time": "2024-05-02T09:05:00", "user": "u"},
        {"response_id": "r7", "kind": "copy"},
        {"response_id": "r99", "kind": "like"},
        {"response_id": "r7", "kind": "smile"},
    ]
    return write_lines(tmp_path / "signals.jsonl", rows)


def test_signals_with_labels(cli, tmp_path):
    rows, good = make_rows(600)
    write_log(tmp_path / "logs", "app", "2024-05-01", rows)
    labels = [{"response_id": name, "label": "good" if right else "bad"} for name, right in good.items()]
    path = write_lines(tmp_path / "labels.jsonl", labels)
    weights = tmp_path / "weights.toml"
    printed = cli("truth", "signals", tmp_path / "logs", "--labels", path, "--save-weights", weights)
    assert printed.code == 0, printed.err
    assert "calibration error" in printed.out
    assert "log-loss on held-out answers" in printed.out
    said = json.loads(cli("truth", "signals", tmp_path / "logs", "--labels", path, "--weights", weights, "--json").out)
    assert said["exchanges"] == len(good)
    assert said["good"] + said["bad"] + said["unclear"] == len(good)
    assert said["calibration"]["error"] < 0.1
    assert sum(one["count"] for one in said["calibration"]["bins"]) == said["answers_with_signal"]
    plain = cli("truth", "signals", tmp_path / "logs")
    assert "calibration needs labels" in plain.out


def test_the_answers_of_a_log_can_be_rated(cli, logs, signals, tmp_path):
    path = tmp_path / "samples.jsonl"
    printed = cli("truth", "signals", logs, "--deployment", "guide", "--signals", signals, "--samples", path)
    assert f"7 samples written to {path}" in printed.out
    run = ragstone.evaluate(str(path), "like_rate", str(tmp_path / "root"))
    scores = {row["sample_id"]: row["value"] for row in run.scores.to_pylist()}
    assert scores == {"r1": 1.0, "r2": 0.0, "r4": 0.0, "r5": None, "r6": None, "r7": 1.0, "r8": None}
    assert run.summary()["like_rate"].mean == 0.5


def test_labels_of_another_log_are_told(cli, logs, tmp_path):
    path = write_lines(tmp_path / "labels.jsonl", [{"response_id": "zzz", "label": "good"}])
    printed = cli("truth", "signals", logs, "--deployment", "guide", "--labels", path)
    assert printed.code == 2
    assert "check the ids" in printed.err
    path = write_lines(tmp_path / "labels.jsonl", [{"response_id": "r1", "label": "perhaps"}])
    assert "line 1: needs an answer id" in cli("truth", "signals", logs, "--labels", path).err
