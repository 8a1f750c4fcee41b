"""Check data without evaluating it."""

import json


def test_the_limit_is_respected(cli, home):
    assert json.loads(cli("validate", "answers.jsonl", "-n", 1, "--json").out)["profile"]["rows"] == 1


def test_long_lists_of_metrics_are_wrapped(cli, home):
    lines = cli("validate", "answers.jsonl").out.splitlines()
    assert max(map(len, (line for line in lines if line.startswith("  ")))) <= 110
