"""The pages on nuggets and on checklists: their examples run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.docs.test_docs import blocks

from ragstone.tools.aspects import read_aspects
from ragstone.tools.checklists import read_checklists

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "nuggets.md"


@pytest.mark.slow
def test_the_python_example_runs(tmp_path):
    (code,) = blocks(PAGE, "python")
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_commands_run(tmp_path, monkeypatch):
    """With the local judge that is shipped."""
    pytest.importorskip("onnxruntime")
    monkeypatch.delenv("RAGSTONE_LOCAL_JUDGE", raising=False)
    (block,) = blocks(PAGE, "bash")
    for line in block.splitlines():
        if line.startswith("ragstone "):
            command = [sys.executable, "-m", *line.split(), "-o", str(tmp_path)]
            done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=dict(os.environ))
            assert done.returncode == 0, f"{line}: {done.stderr}"


def test_the_file_of_tests_is_right(tmp_path):
    file = tmp_path / "ours.toml"
    text = next(text for text in blocks(ROOT / "docs" / "grading.md", "toml") if "checklist" in text)
    file.write_text(text)
    assert list(read_aspects(file)) == ["cites_rule"]
    assert list(read_checklists(file)) == ["help_desk"]
