"""Type checkers accept the example program and refuse its marked mistakes."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ragstone

EXAMPLE = Path(__file__).parent / "public_api.py"
SRC = Path(ragstone.__file__).parents[1]
pytestmark = pytest.mark.slow


def test_mypy_accepts_it(tmp_path):
    """`make check` does the same; a mark that nothing needs is an error."""
    command = [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", "--cache-dir", tmp_path, EXAMPLE]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, timeout=600, env={"MYPYPATH": str(SRC), "PATH": ""}
    )
    assert "public_api.py" not in done.stdout, done.stdout


def test_pyright_accepts_it(tmp_path):
    checker = shutil.which("pyright") or shutil.which("basedpyright")
    if checker is None:
        pytest.skip("no pyright: pip install basedpyright, which brings its own node")
    shutil.copy(EXAMPLE, tmp_path)
    settings = {
        "include": [EXAMPLE.name],
        "extraPaths": [str(SRC), *(path for path in sys.path if "site-packages" in path)],
        "pythonVersion": "3.11",
        "typeCheckingMode": "strict",
        "reportUnnecessaryTypeIgnoreComment": True,
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    done = subprocess.run([checker], capture_output=True, text=True, cwd=tmp_path, timeout=600)
    assert done.returncode == 0, done.stdout
