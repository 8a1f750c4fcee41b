"""Cases whose ground truth is likely wrong."""

import json

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
