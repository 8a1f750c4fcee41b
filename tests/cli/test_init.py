"""A settings file, a tiny example and a CI file."""

import re
import shlex
import tomllib
from pathlib import Path

import pytest

WRITTEN = ["ragstone.toml", "answers.example.jsonl", ".github/workflows/ragstone.yml"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RAGSTONE_ROOT", raising=False)
    return tmp_path


def test_the_example_runs_at_once_with_the_printed_commands(cli, folder):
    printed = cli("init")
    assert printed.code == 0
    assert all((folder / name).is_file() for name in WRITTEN)
    commands = re.findall(r"^  ragstone (.+?)   ", printed.out, re.MULTILINE)
    run, gate = (shlex.split(command) for command in commands[:2])
    assert (run[0], gate[0]) == ("run", "gate")
    assert cli(*run).code == 0
    assert cli(*gate).code == 0


def test_the_commands_of_the_ci_file_pass(cli, folder):
    cli("init")
    steps = re.findall(r"run: ragstone (.+)", (folder / WRITTEN[2]).read_text())
    assert [step.split()[0] for step in steps] == ["run", "gate"]
    assert [
        cli(*shlex.split(step), *(["-m", "token_recall"] if step.startswith("run") else [])).code for step in steps
    ] == [0, 0]


def test_nothing_is_overwritten(cli, folder):
    (folder / "ragstone.toml").write_text("# mine\n")
    (folder / "answers.example.jsonl").symlink_to("elsewhere")
    printed = cli("init")
    assert printed.code == 0
    assert printed.out.count("kept, it exists") == 2
    assert (folder / "ragstone.toml").read_text() == "# mine\n"
    assert not (folder / "elsewhere").exists()
    assert cli("init").out.count("kept, it exists") == 3


def test_dry_run_writes_nothing(cli, folder):
    printed = cli("init", "--dry-run")
    assert printed.code == 0
    assert printed.out.count("would be written") == 3
    assert list(folder.iterdir()) == []


def test_every_key_in_a_comment_is_known(cli, folder):
    """The file with all its examples switched on is valid."""
    cli("init")
    path = Path("ragstone.toml")
    examples = re.sub(r"^# (?=\[\w+\]$|[\w-]+ = )", "", path.read_text(), flags=re.MULTILINE)
    assert {"out", "judge", "budget", "run", "map", "gate"} <= tomllib.loads(examples).keys()
    path.write_text(examples)
    assert cli("metrics", "recall").code == 0
