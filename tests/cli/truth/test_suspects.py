"""Cases whose ground truth is likely wrong."""

import json

from ragstone.truth.model import Case
from ragstone.truth.store import TruthStore

ROWS = [
    {"id": "a", "question": "How deep?", "references": ["12 m"]},
    {"id": "b", "question": "How deep?", "references": ["90 miles"]},
]


def test_equal_questions_with_different_answers(cli, home):
    (home / "truth.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    cli("truth", "import", "truth.jsonl", "harbour", "-o", "my store")
    found = json.loads(cli("truth", "suspects", "harbour", "-o", "my store", "--json").out)["suspects"]
    assert {one["case"] for one in found} & {"a", "b"}
    printed = cli("truth", "suspects", "harbour", "-o", "my store").out
    assert "ragstone truth rescore RUN --truth harbour -o 'my store'" in printed


def test_proposed_answers_are_counted_as_not_checked(cli, home):
    cases = [Case("a", "How deep?", ["12 m"], standing="proposed"), Case("b", "How long?", ["90 m"])]
    TruthStore(str(home / "store")).save("harbour", cases, author="Ada")
    printed = cli("truth", "suspects", "harbour", "-o", "store").out
    assert "harbour@1: 0 of 2 cases are suspect" in printed
    assert "not checked: 1 case with a proposed answer" in printed
    assert "ragstone view store" in printed
