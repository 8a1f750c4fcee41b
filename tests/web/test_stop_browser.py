"""A real run of the command line, watched and stopped in a browser, and resumed."""

import json
import os
import signal
import subprocess
import sys

import pytest

from ragstone.storage.runs import open_run
from tests.axe import barriers
from tests.web.test_browser import Tab

pytestmark = pytest.mark.slow

ROWS = 2_000
METRICS = """
import os
import time

from ragstone import metric


@metric("slow", bounds=(0, 1))
def slow(answer: str) -> float:
    time.sleep(float(os.environ.get("WAIT", 0)))
    return float(len(answer) % 2)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals of POSIX")
def test_a_run_is_stopped_and_resumed(browser, serve, tmp_path):
    rows = [{"id": f"q{number}", "question": f"Question {number}?", "answer": "a" * number} for number in range(ROWS)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "own.py").write_text(METRICS)
    command = [
        sys.executable,
        "-m",
        "ragstone",
        "run",
        "rows.jsonl",
        "-m",
        "slow",
        "--metrics-file",
        "own.py",
        "-o",
        "store",
        "--quiet",
    ]
    # A shell may have told its children to ignore Ctrl-C.
    started = subprocess.Popen(
        command,
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        env={**os.environ, "WAIT": "0.02"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )
    (tmp_path / "store").mkdir(exist_ok=True)
    tab = Tab(browser, serve(tmp_path / "store"), 390)
    try:
        page = tab.open("/runs")
        page.locator("#unfinished a").first.click(timeout=60_000)
        page.get_by_role("button", name="Stop this run").wait_for()
        assert "after the first part" in page.locator("#figures").inner_text()
        assert barriers(page) == []
        page.get_by_role("button", name="Stop this run").click()
        page.get_by_text("No process is working on this run").wait_for(timeout=30_000)
        assert started.wait(timeout=10) == 130
        assert page.locator("#figures").is_visible()
    finally:
        started.kill()
        started.wait()
        started.stderr.close()
    tab.close()
    done = subprocess.run(
        [*command, "--resume"], cwd=tmp_path, check=False, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    [run] = [open_run(str(place)) for place in (tmp_path / "store" / "runs").iterdir()]
    assert run.info.rows == ROWS
