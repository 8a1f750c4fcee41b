"""Options of the commands that read logs."""

from pathlib import Path

import pytest

from tests.formats.fixtures import dial_row, rating_row, write_part


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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--since", "May"), "--since May"),
        (("--since", "2024-06-01", "--until", "2024-05-01"), "swap them"),
        (("--deployment", "gide"), "gide. Check --deployment"),
        (("--since", "2025-01-01"), "no exchange that matches"),
        (("--weights", "nowhere.toml"), "nowhere.toml"),
    ],
)
def test_mistakes_are_told(cli, logs, tmp_path, arguments, message):
    printed = cli("truth", "harvest", logs, "--to", "x", "-o", tmp_path, *arguments)
    assert printed.code in (1, 2)
    assert message in printed.err
    assert not (tmp_path / "truth").exists()
