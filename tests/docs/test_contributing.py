"""The metric that CONTRIBUTING shows, and its test."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "CONTRIBUTING.md"


def test_the_metric_and_its_test(catalogue):
    metric, test = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(metric, "echo.py", "exec"), {"__name__": "ragstone_user_echo"})
    assert "answer_repeats_question" in catalogue._metrics
    names = {}
    exec(compile(test, "test_echo.py", "exec"), names)
    names["test_answer_repeats_question"]()
