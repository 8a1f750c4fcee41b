"""Logs, signals and a small ground truth that several commands of `ragstone truth` are tried on."""

import json
from pathlib import Path

import pytest

from ragstone.truth.store import TruthStore
from tests.formats.fixtures import dial_row, rating_row, write_part
from tests.truth.harvest.log_files import write_lines

ROWS = [
    {
        "id": "depth",
        "question": "How deep is the harbour?",
        "references": ["12 metres"],
        "facts": ["The basin is 12 metres deep"],
        "documents": ["guide.pdf"],
        "metadata": {"weight": 2.5, "topic": "port"},
    },
    {"id": "pier", "question": "How long is the pier?", "references": ["300 metres"], "facts": ["300 metres long"]},
]


def put(bucket, tmp_path, key, rows, cut=0):
    content = Path(write_part(tmp_path / "part.parquet", rows)).read_bytes()
    bucket.write(key, content[: len(content) - cut])


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


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


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write(tmp_path / "truth.jsonl", ROWS)


@pytest.fixture
def store(tmp_path):
    return TruthStore(str(tmp_path / "ragstone-store"))
