"""Ask a system all questions."""

import json


def test_a_quote_asks_nothing_and_a_wrong_ending_is_refused(cli, home):
    (home / "rag.py").write_text("def answer(question):\n    return 'It is blue.'\n")
    quoted = json.loads(cli("truth", "collect", "answers.jsonl", "--system", "rag.py:answer", "--quote", "--json").out)
    assert quoted["questions"] > 0
    assert not (home / "answers.jsonl.partial").exists()
    printed = cli("truth", "collect", "answers.jsonl", "--system", "rag.py:answer", "-o", "answers.txt")
    assert (printed.code, ".jsonl" in printed.err) == (2, True)
