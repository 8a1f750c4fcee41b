"""The page on coding assistants, and llms.txt: commands run, a real client talks to the server, every page is listed."""

import json
import re
import runpy
import shlex
import subprocess
import sys
from importlib.util import find_spec

import pytest
from tests.docs.test_docs import ANSWERS, ROOT, blocks

from ragstone.assistants.skill import FOLDERS, NAMES

PAGE = ROOT / "docs" / "coding-agents.md"
LLMS = (ROOT / "docs" / "llms.txt").read_text()


def test_the_commands_run(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "answers.jsonl").write_text(ANSWERS)
    lines = [line for block in blocks(PAGE, "bash") for line in block.splitlines()]
    assert len(lines) >= 5
    for line in lines:
        printed = cli(*shlex.split(line, comments=True)[1:])
        assert printed.code == 0, f"{line}: {printed.err}"
    assert json.loads(printed.out)["status"]
    assert (tmp_path / "AGENTS.md").exists()


def test_the_table_has_all_assistants():
    rows = dict(re.findall(r"^\| `([a-z-]+)` \| `([^`]+)`", PAGE.read_text(), flags=re.MULTILINE))
    assert {name: rows[name] for name in FOLDERS} == {name: f"{folder}/ragstone" for name, folder in FOLDERS.items()}
    assert {*NAMES} <= {*rows}


@pytest.mark.slow
@pytest.mark.skipif(find_spec("mcp") is None, reason="the SDK is not installed: pip install 'ragstone[mcp]'")
def test_the_client_of_the_page_gets_an_answer(tmp_path):
    [client] = blocks(PAGE, "python")
    done = subprocess.run([sys.executable, "-c", client], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "<data " in done.stdout


def test_llms_txt_lists_every_page_with_a_sentence():
    docs = ROOT / "docs"
    listed = dict(re.findall(r"^- \[.*?\]\(([^)]+)\): (.{20,})$", LLMS, flags=re.MULTILINE))
    assert {*listed} == {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
    assert len(LLMS) < 20_000


def test_all_pages_in_one_text():
    everything = runpy.run_path(str(ROOT / "docs" / "llms_text.py"))["all_pages"]()
    assert everything.count("\n<!-- ") + 1 >= len(re.findall(r"^- \[", LLMS, flags=re.MULTILINE))
    assert (ROOT / "docs/guides/gate.md").read_text().strip() in everything
