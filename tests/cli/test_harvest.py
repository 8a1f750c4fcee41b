"""Logs on a server that speaks S3 to ground truth, as a user types it; every count is asserted."""

import json
from pathlib import Path

import pytest

import ragstone
from ragstone.truth.versions import TruthStore
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


def test_from_logs_on_a_server_to_versions_on_a_server(cli, bucket, logs, signals):
    printed = cli(
        *("truth", "harvest", logs, "--signals", signals, "--deployment", "guide", "--since", "2024-05-01"),
        *("--until", "2024-05-31", "--to", "guide", "-n", 50, "--mask", "--accept", "-o", bucket.url, "--json"),
    )
    assert printed.code == 0, printed.err
    said = json.loads(printed.out)
    counts = said["counts"]
    assert counts["rows"] == 10
    assert counts["parts"] == 3
    assert counts["left_out"] == {"rows without an answer": 1, "parts that are half-written or damaged": 1}
    assert counts["exchanges"] == 6
    assert counts["remarks"] == 1
    assert counts["repeated_questions"] == 1
    assert counts["signals"] == {"like": 4, "dislike": 1, "copy": 1}
    assert counts["signals_in_conversations"] == {"regenerate": 0, "thanks": 0, "complaint": 1}
    assert counts["signals_left_out"] == {
        "signals of an unknown kind: smile": 1,
        "ratings that the same user changed later": 1,
    }
    assert counts["signals_of_unknown_answers"] == 1
    assert (counts["good"], counts["bad"], counts["unclear"]) == (2, 2, 2)
    assert (counts["drawn"], counts["duplicates_among_drawn"], counts["review"]) == (5, 1, 2)
    assert counts["cases"] == {"good": 2, "bad": 2}
    assert counts["masked"] == {"e-mail": 1}
    assert [info["rows"] for info in said["saved"]] == [4, 2]
    cases = {case.id: case for case in TruthStore(bucket.url).read("guide").cases}
    assert cases["r1"].references == ["At eight."]
    assert cases["r1"].weight == 2.0  # it was asked twice
    assert cases["r7"].question == "My mail is [e-mail 1], who am I?"
    review = {case.id: case for case in TruthStore(bucket.url).read("guide-review").cases}
    assert review["r2"].metadata["why"] == ["the user disliked it"]
    assert review["r4"].metadata["why"] == ["the next message complains"]


def test_what_a_person_reads(cli, logs, signals, tmp_path):
    printed = cli(
        *("truth", "harvest", logs, "--signals", signals, "--deployment", "guide", "--until", "2024-05-31"),
        *("--to", "guide", "-o", tmp_path / "root"),
    )
    assert printed.code == 0, printed.err
    assert (
        "10 rows in 3 parts read, 6 exchanges, 5 drawn, 1 of them duplicates: 2 good, 2 bad, 0 unclear" in printed.out
    )
    assert "parts that are half-written or damaged" in printed.out
    assert "guide@1: 4 cases" in printed.out
    assert "guide-review@1: 2 cases" in printed.out
    assert "good answers are proposed as references" in printed.out
    shown = cli("truth", "show", "guide-review", "-o", tmp_path / "root")
    assert "Where is the fish market?" in shown.out
    again = cli(
        *("truth", "harvest", logs, "--signals", signals, "--deployment", "guide", "--until", "2024-05-31"),
        *("--to", "guide", "-o", tmp_path / "root"),
    )
    assert "nothing new: guide has had all of them before" in again.out
    assert len(TruthStore(str(tmp_path / "root")).versions("guide")) == 1


def test_signals_with_labels(cli, tmp_path):
    rows, good = make_rows(600)
    write_log(tmp_path / "logs", "app", "2024-05-01", rows)
    labels = [{"response_id": name, "label": "good" if right else "bad"} for name, right in good.items()]
    path = write_lines(tmp_path / "labels.jsonl", labels)
    weights = tmp_path / "weights.toml"
    printed = cli("truth", "signals", tmp_path / "logs", "--labels", path, "--save-weights", weights)
    assert printed.code == 0, printed.err
    assert "calibration error" in printed.out
    assert "log-loss on answers not learned from" in printed.out
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


def test_what_is_harvested_is_run_and_weighed(cli, tmp_path):
    """Cases of a log, other answers to them, and what that says about all requests of the log."""
    rows, _ = make_rows(400)
    write_log(tmp_path / "logs", "app", "2024-05-01", rows)
    root = tmp_path / "root"
    assert cli("truth", "harvest", tmp_path / "logs", "--to", "app", "-n", 80, "--accept", "-o", root).code == 0
    answers = [
        {"id": case.id, "question": case.question, "answer": "I do not know." if "zone" in case.question else "Yes."}
        for case in TruthStore(str(root)).read("app").cases
    ]
    path = write_lines(tmp_path / "answers.jsonl", answers)
    assert cli("run", path, "--truth", "app", "-m", "refusal,like_rate", "-o", root, "--name", "new").code == 0
    said = json.loads(cli("truth", "estimate", "new", "-o", root, "--json").out)
    assert said["requests"] == pytest.approx(400)
    # The users' signals were about the answers of the log, and say nothing about these.
    [refusal] = said["estimates"]
    declined = sum("zone" in row["question"] for row in rows if row["question"])
    assert refusal["low"] < declined / 400 < refusal["high"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--since", "May"), "--since May: write a day as in 2024-05-01"),
        (("--since", "2024-06-01", "--until", "2024-05-01"), "turn them round"),
        (("--deployment", "gide"), "gide. Check --deployment"),
        (("--since", "2025-01-01"), "holds no exchange that was asked for"),
        (("--weights", "nowhere.toml"), "nowhere.toml"),
    ],
)
def test_mistakes_are_told(cli, logs, tmp_path, arguments, message):
    printed = cli("truth", "harvest", logs, "--to", "x", "-o", tmp_path, *arguments)
    assert printed.code in (1, 2)
    assert message in printed.err
    assert not (tmp_path / "truth").exists()


def test_labels_of_another_log_are_told(cli, logs, tmp_path):
    path = write_lines(tmp_path / "labels.jsonl", [{"response_id": "zzz", "label": "good"}])
    printed = cli("truth", "signals", logs, "--deployment", "guide", "--labels", path)
    assert printed.code == 2
    assert "check the ids" in printed.err
    path = write_lines(tmp_path / "labels.jsonl", [{"response_id": "r1", "label": "perhaps"}])
    assert "line 1: needs the id of an answer" in cli("truth", "signals", logs, "--labels", path).err
