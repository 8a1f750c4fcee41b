"""The commands and files of docs/ci.md work."""

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from importlib import resources

import pytest
import yaml
from tests.ci.runner import ACTION
from tests.ci.test_gitlab import JOB
from tests.docs.test_docs import ROOT, blocks

from ragstone.analysis.gate_conditions import read_checks

PAGE = ROOT / "docs/ci.md"
HARBOUR = resources.files("ragstone.examples") / "harbour"


@pytest.mark.slow
def test_the_printed_gate_is_real(tmp_path):
    shutil.copy(str(HARBOUR / "better.jsonl"), tmp_path / "main.jsonl")
    shutil.copy(str(HARBOUR / "worse.jsonl"), tmp_path / "pull.jsonl")
    shown = blocks(PAGE, "")[0]
    commands = [line.removeprefix("$ ") for line in shown.splitlines() if line.startswith("$ ")]
    for command in commands:
        words = [sys.executable, "-m", *shlex.split(command)]
        done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 3
    expected = shown.split(commands[-1] + "\n", 1)[1].split("\n…")[0]
    # Ids differ, and so does the repository: there is none here.
    varying = r"run [\d-]+[0-9a-f]+, made [\d-]+ [\d:]+ UTC"
    # The terminal wraps the line of the baseline.
    printed, expected = (re.sub(varying, "run ID", " ".join(text.split())) for text in (done.stdout, expected))
    assert expected in printed


def test_the_settings():
    table = tomllib.loads(blocks(PAGE, "toml")[0])["gate"]
    assert (table.pop("baseline"), table.pop("inconclusive")) == ("main", "pass")
    assert len(read_checks(table, "page")) == 3


def test_the_files_name_what_there_is():
    workflow, pipeline = map(yaml.safe_load, blocks(PAGE, "yaml"))
    [step] = [step for step in workflow["jobs"]["evaluate"]["steps"] if "ragstone@" in step.get("uses", "")]
    assert step["with"].keys() <= ACTION["inputs"].keys()
    assert pipeline["evaluate"]["extends"] == ".ragstone"
    assert pipeline["evaluate"]["variables"].keys() <= JOB["variables"].keys()
    # Every input that the page names in its text exists.
    named = re.findall(r"`([a-z]+-arguments|inconclusive|baseline|judge|truth|key|store)\b", PAGE.read_text())
    assert set(named) <= ACTION["inputs"].keys()
