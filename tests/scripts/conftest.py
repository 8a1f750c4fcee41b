"""Runs a script of the repository over a small tree that a test writes."""

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

SCRIPTS = Path(__file__).parent.parent.parent / "scripts"


class Done(NamedTuple):
    code: int
    out: str

    def line(self, start):
        """The first line of the output that contains a text."""
        return next(line for line in self.out.splitlines() if start in line)


@pytest.fixture
def tree(tmp_path):
    """Writes files below a temporary repository."""

    def write(files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path

    return write


@pytest.fixture
def script(tmp_path):
    """Runs a script over the temporary repository."""

    def run(name, *arguments):
        command = [sys.executable, SCRIPTS / f"{name}.py", "--root", tmp_path, *arguments]
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
        assert not done.stderr, done.stderr
        return Done(done.returncode, done.stdout)

    return run
