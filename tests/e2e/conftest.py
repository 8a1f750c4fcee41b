"""The command line as a user types it: in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
COMMAND = [sys.executable, "-m", "ragstone"]
ROWS = [
    {
        "id": "a",
        "question": "When does the last boat leave?",
        "answer": "At 21:40.",
        "contexts": ["The last boat leaves at 21:40.", "Dogs travel free."],
        "references": ["21:40"],
        "facts": ["leaves at 21:40"],
    },
    {"id": "b", "question": "Do cats pay?", "answer": "No.", "contexts": ["Dogs travel free."], "references": ["Yes"]},
]


@pytest.fixture(scope="session")
def core_install(tmp_path_factory):
    """A path before all others that hides pandas: a core install has none, and loading it takes a second or two."""
    folder = tmp_path_factory.mktemp("core")
    (folder / "pandas.py").write_text("raise ImportError('this is a core install')\n")
    return folder


@pytest.fixture
def environment(core_install):
    paths = [str(core_install), str(SOURCE), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONWARNINGS": "error"}


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder to work in, with a small file of answers."""
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def shell(environment, home):
    """Run a command to its end."""

    def run(*arguments, timeout=60, **options):
        env = {**environment, **options.pop("env", {})}
        options.setdefault("stdin", None if "input" in options else subprocess.DEVNULL)
        if options["stdin"] is None:
            del options["stdin"]
        options.setdefault("text", True)
        return subprocess.run(
            [*COMMAND, *map(str, arguments)], cwd=home, env=env, capture_output=True, timeout=timeout, **options
        )

    return run
