"""The page on sweeps: its file and its system run as they are printed."""

import json
import subprocess
import sys
from pathlib import Path

from tests.docs.test_docs import blocks

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "sweep.md"


def test_the_example_runs(tmp_path):
    (tmp_path / "sweep.toml").write_text(blocks(PAGE, "toml")[0])
    (tmp_path / "rag.py").write_text(blocks(PAGE, "python")[0])
    rows = [{"id": f"q{n}", "question": f"When does boat {n} leave?", "references": ["At 21:40."]} for n in range(4)]
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = [sys.executable, "-W", "error", "-m", "ragstone", "sweep", "sweep.toml", "-o", "store", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)
    assert results["standings"][0]["parameters"]["style"] == "short"
    assert {one["status"] for one in results["standings"]} == {"finished"}
