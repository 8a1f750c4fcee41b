"""Check data without evaluating it."""

import json


def test_the_limit_is_respected(cli, home):
    assert json.loads(cli("validate", "answers.jsonl", "-n", 1, "--json").out)["profile"]["rows"] == 1


def test_long_lists_of_metrics_are_wrapped(cli, home):
    lines = cli("validate", "answers.jsonl", "--full").out.splitlines()
    assert max(map(len, (line for line in lines if line.startswith("  ")))) <= 110


def test_it_says_what_one_more_column_would_add(cli, home):
    (home / "bare.jsonl").write_text(
        '{"user_input": "When?", "response": "At nine.", "retrieved_contexts": ["At nine."]}\n'
    )
    printed = cli("validate", "bare.jsonl").out
    assert "format ragas" in printed
    assert "best next column: references (right answers) would add" in printed
    assert len(printed.splitlines()) < 12
    full = cli("validate", "bare.jsonl", "--full").out
    assert "one more column:\n  a column references (right answers) would add" in full
    more = json.loads(cli("validate", "bare.jsonl", "--json").out)["more"]
    assert more[0]["field"] == "references"
    assert "token_f1" in more[0]["metrics"]
