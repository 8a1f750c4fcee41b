"""The metric that CONTRIBUTING shows, its test, and the commands that run tests."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "CONTRIBUTING.md"


def test_the_metric_and_its_test(catalogue):
    metric, test = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(metric, "echo.py", "exec"), {"__name__": "ragstone_user_echo"})
    assert "answer_repeats_question" in catalogue._metrics
    names = {}
    exec(compile(test, "test_echo.py", "exec"), names)
    names["test_answer_repeats_question"]()


@pytest.mark.slow
def test_its_commands_select_tests_of_every_file():
    """Those of the new metric's own file are above; facts and ragas stand for the new page and format."""
    root, text = PAGE.parent, PAGE.read_text(encoding="utf-8")
    commands = re.findall(r"\.venv/bin/pytest (-n0 tests/[^`#\n]+)", text)
    assert len(commands) == 4
    for command in commands:
        options = shlex.split(
            re.sub("(pages/test_)?NAME", lambda name: "pages/test_facts" if name[1] else "ragas", command)
        )
        options = [option for option in options if option != "tests/metrics/test_echo.py"]
        files = [option for option in options if option.endswith(".py")]
        assert files, command
        collect = [sys.executable, "-m", "pytest", "--collect-only", "-qq", *options]
        done = subprocess.run(collect, capture_output=True, text=True, cwd=root)
        assert done.returncode == 0, done.stdout + done.stderr
        for file in files:
            assert re.search(rf"^{re.escape(file)}(::|: [1-9])", done.stdout, re.MULTILINE), (
                f"{command}: no test of {file}"
            )
