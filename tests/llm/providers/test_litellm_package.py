"""The real package litellm, against a server on this machine."""

import importlib.util
import json
import os
import subprocess
import sys

import pytest

from tests.http.loopback import Loopback, completion

ROWS = 60
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("litellm") is None, reason="litellm is not installed: pip install 'ragstone[litellm]'"
    ),
]
SCRIPT = """
import json, sys
import ragstone

rows = [
    {"id": f"r{n}", "question": f"Question {n}?", "answer": f"Answer {n}.", "references": [f"Answer {n}."]} for n in range(ROWS)
]
judging = {"judge": "hosted_vllm/some-model", "base_url": sys.argv[2], "cache": False}
run = ragstone.evaluate(rows, ["answer_match"], sys.argv[1], concurrency=16, **judging)
print(json.dumps([[row.metric, row.n_ok, row.n_failed, row.reason] for row in run.summary()]))
"""


def test_sixty_rows_at_concurrency_sixteen(tmp_path):
    server = Loopback()
    server.handler = lambda asked: completion('{"matches": [1]}')
    server.delay_s = 0.05
    with server.running():
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT.replace("ROWS", str(ROWS)), str(tmp_path), server.url],
            check=False,
            capture_output=True,
            text=True,
            timeout=300,
            env={**os.environ, "HOSTED_VLLM_API_KEY": "none"},
        )
    assert done.returncode == 0, done.stderr
    [[metric, scored, failed, reason]] = json.loads(done.stdout.splitlines()[-1])
    assert (metric, scored, failed, reason) == ("answer_match", ROWS, 0, None)
    assert server.most_in_flight > 4
