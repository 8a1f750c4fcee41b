"""Quality in production from a run."""

import json

import pytest

from ragstone.truth.store import TruthStore
from tests.truth.harvest.log_files import make_rows, write_lines, write_log


def test_what_is_harvested_is_run_and_weighed(cli, tmp_path):
    """Cases of a log, other answers to them, and what that says about all requests of the log."""
    rows, _ = make_rows(400)
    write_log(tmp_path / "logs", "app", "2024-05-01", rows)
    root = tmp_path / "root"
    assert cli("truth", "harvest", tmp_path / "logs", "--to", "app", "-n", 80, "--accept", "-o", root).code == 0
    misread = cli("truth", "estimate", "app", "-o", root)
    assert misread.code == 2
    assert "app is a ground truth; estimate needs a run on its cases: ragstone run FILE --truth app" in misread.err
    assert "no run 'ap'" in cli("truth", "estimate", "ap", "-o", root).err
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
