"""The commands of the page print what it shows, against a Langfuse on loopback."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.platforms.conftest import start

__all__ = ["start"]
PAGE = (Path(__file__).parents[2] / "docs" / "integrations.md").read_text()
COMMANDS, SHOWN = re.findall(r"^```\n(.*?)^```$", PAGE, flags=re.DOTALL | re.MULTILINE)[:2]


@pytest.mark.slow
def test_the_commands_print_what_the_page_shows(tmp_path, start, monkeypatch):
    start("langfuse")
    monkeypatch.delenv("RAGSTONE_LOCAL_JUDGE")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    printed = []
    for line in COMMANDS.splitlines()[1:]:
        command = line.replace("--since 7d", "--since 2026-11-01").split()
        done = subprocess.run(
            [sys.executable, "-m", *command], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout.splitlines()[0] if "run" not in command else "…")
    until = re.compile(r"to 2026-\S+")
    assert until.sub("", "\n".join(printed)) == until.sub("", SHOWN.strip())
