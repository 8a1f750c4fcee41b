"""The page on simulated users: its file is read, and its output is that of the shipped example."""

import shutil
from importlib import resources
from pathlib import Path

from click.testing import CliRunner
from tests.docs.test_docs import blocks

from ragstone.cli.app import app
from ragstone.truth.simulated_users import read_users

PAGE = Path(__file__).parents[2] / "docs" / "simulate.md"


def test_the_example_runs_and_prints_this(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with resources.as_file(resources.files("ragstone.examples") / "harbour") as folder:
        shutil.copytree(folder / "documents", tmp_path / "documents")
        for name in ("users.toml", "toy_rag.py"):
            shutil.copy(folder / name, tmp_path)
    done = CliRunner().invoke(app, ["simulate", "users.toml", "--system", "toy_rag.py:answer", "--no-cache", "-q"])
    shown = PAGE.read_text().split("```")[1].splitlines()
    assert done.output.splitlines() == [line for line in shown if line and not line.startswith("$")]


def test_the_file_is_read(tmp_path):
    (tmp_path / "users.toml").write_text(blocks(PAGE, "toml")[0])
    driver, visitor = read_users(str(tmp_path / "users.toml"))
    assert driver.goal[1].fact == ("30 minutes", "half an hour")
    assert visitor.goal[0].question == "Can you tell me the price of a locker?"
