"""User signals of a log."""

import json

import ragstone
from tests.truth.harvest.log_files import make_rows, write_lines, write_log


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
