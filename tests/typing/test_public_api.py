"""Type checkers report the marked mistakes of the example program, and nothing else in it."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ragstone

EXAMPLE = Path(__file__).parent / "public_api.py"
SRC = Path(ragstone.__file__).parents[1]
MARK = re.compile(r"  # type: ignore\[[\w-]+\]$", re.MULTILINE)
pytestmark = pytest.mark.slow


@pytest.fixture
def example(tmp_path):
    """The program without its marks, so that every mistake must be reported; and the lines of the mistakes."""
    text = EXAMPLE.read_text()
    mistakes = [number for number, line in enumerate(text.splitlines(), 1) if MARK.search(line)]
    assert len(mistakes) == 8
    (tmp_path / EXAMPLE.name).write_text(MARK.sub("", text))
    return tmp_path, mistakes


def reported(output):
    """The lines of the program that a checker complains about."""
    return sorted({int(line) for line in re.findall(rf"{EXAMPLE.name}:(\d+)(?::\d+)?(?: -|:) error", output)})


def test_mypy(example):
    folder, mistakes = example
    command = [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", EXAMPLE.name]
    environment = {**os.environ, "MYPYPATH": str(SRC)}
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=600, env=environment)
    assert done.returncode == 1, done.stdout + done.stderr
    assert reported(done.stdout) == mistakes, done.stdout


def test_pyright(example):
    folder, mistakes = example
    here = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    checker = shutil.which("pyright", path=here) or shutil.which("basedpyright", path=here)
    if checker is None:
        pytest.skip("no pyright: pip install basedpyright, which brings its own node")
    settings = {
        "include": [EXAMPLE.name],
        "extraPaths": [str(SRC), *(path for path in sys.path if "site-packages" in path)],
        "pythonVersion": "3.11",
        "typeCheckingMode": "strict",
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    done = subprocess.run([checker], capture_output=True, text=True, cwd=folder, timeout=600)
    assert done.returncode == 1, done.stdout + done.stderr
    assert reported(done.stdout) == mistakes, done.stdout
