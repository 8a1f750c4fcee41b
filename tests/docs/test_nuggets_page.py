"""The pages on nuggets and on checklists: their examples run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.docs.test_docs import blocks
from tests.metrics.models import Obliging

import ragstone
from ragstone.metrics.grades import register_aspects
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


@pytest.mark.parametrize("page", ["grading", "retrieval"])
def test_the_commands_on_the_shipped_example_run(cli, tmp_path, monkeypatch, page):
    """Without a model: by labels and facts, or as a quote."""
    monkeypatch.chdir(ROOT)
    lines = "\n".join(blocks(ROOT / "docs" / f"{page}.md", "bash")).splitlines()
    commands = [line.split()[1:] for line in lines if "src/ragstone/examples" in line]
    assert commands
    for command in commands:
        done = cli(*command, "-o", str(tmp_path))
        assert done.code == 0, done.err


def test_the_shipped_tree_is_a_metric(tmp_path, catalogue):
    """The judge gives the answer after which most questions follow, or the first one: three calls that lead to 1."""
    folder = ROOT / "src" / "ragstone" / "examples" / "harbour"
    (name,) = register_aspects(folder / "decisions.toml")
    run = ragstone.evaluate(folder / "worse.jsonl", [name], tmp_path, judge=Obliging(), cache=False)
    assert run.summary()[name].mean == 1
    assert {len(path) for path in run.evidence("help_desk_checks")["value"].to_pylist()} == {4}


def test_the_file_of_tests_is_right(tmp_path):
    file = tmp_path / "ours.toml"
    text, tree = (text for text in blocks(ROOT / "docs" / "grading.md", "toml") if "[politeness]" not in text)
    file.write_text(tree)
    assert read_checklists(file)["refund"].lengths == {"on_topic": 2, "deadline": 1}
    file.write_text(text)
    assert list(read_aspects(file)) == ["cites_rule"]
    assert list(read_checklists(file)) == ["help_desk"]
