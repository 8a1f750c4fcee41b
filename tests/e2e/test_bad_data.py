"""Whatever file is handed to us: a message that names it, a code, no traceback, and nothing left behind."""

import os
from pathlib import Path

import pytest

from tests.e2e.hostile import FILES, write

# Damage that shows only while rows are read, in a file that announced itself properly.
UNREADABLE = {"damaged_middle.parquet", "damaged.arrow"}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("command", ["run", "validate", "convert"])
def test_files_that_are_no_data(cli, home, name, command):
    write(home, name)
    before = sorted(os.listdir())
    options = {"run": ["-o", "out"], "validate": [], "convert": ["-o", "out.jsonl"]}[command]
    printed = cli(command, name, *options)
    assert printed.code == (1 if name in UNREADABLE else 2)
    assert printed.err.split("error: ", 1)[1].strip()
    assert name in printed.err
    for word in ("Traceback", "internal error", "Exception", "NoneType"):
        assert word not in printed.err
    assert printed.out == ""
    assert sorted(os.listdir()) == before
    assert max(map(len, printed.err.splitlines())) < 500


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("nowhere.jsonl", "there is no file 'nowhere.jsonl'"),
        ("nowhere/at/all.jsonl", "there is no file"),
        ("answers.jsonl/below", "there is no file"),
        ("", ""),
        ("empty-folder", "empty-folder"),
        ("/dev/null", "/dev/null"),
        ("s3://", "has no bucket"),
        ("nonsense://x/y", "nonsense"),
    ],
)
def test_places_where_there_is_no_data(cli, home, data, words):
    Path("empty-folder").mkdir()
    printed = cli("run", data, "-o", "out")
    assert printed.code == 2
    assert words in printed.err
    assert "internal error" not in printed.err
    assert not Path("out").exists()


def test_an_existing_root_is_left_as_it_was(cli, home):
    """Even an empty one: it may be a mounted volume with rights of its own."""
    Path("out").mkdir()
    write(home, "number_as_contexts.jsonl")
    assert cli("run", "number_as_contexts.jsonl", "-o", "out").code == 2
    assert os.listdir("out") == []


def test_many_problems_are_counted_and_some_are_shown(cli, home):
    Path("bad.jsonl").write_text('{"question": "q", "contexts": 5}\n' * 500)
    printed = cli("run", "bad.jsonl", "-o", "out")
    assert "bad.jsonl: 500 problems" in printed.err
    assert len(printed.err.splitlines()) < 40
    assert not Path("out").exists()
