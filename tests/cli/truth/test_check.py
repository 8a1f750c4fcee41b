"""Check citations."""

import json

ROW = {
    "id": "a",
    "question": "How deep?",
    "answer": "12 m",
    "contexts": ["It is 12 metres deep."],
    "facts": ["12 metres deep", "made of gold"],
}


def test_citations_are_counted_flagged_and_dropped(cli, home):
    (home / "truth.jsonl").write_text(json.dumps(ROW) + "\n")
    printed = cli("truth", "check", "truth.jsonl", "--json")
    assert printed.code == 0, printed.err
    total = json.loads(printed.out)["total"]
    assert (total["checked"], total["held"]) == (2, 1)
    assert "truth import truth.jsonl NAME" in cli("truth", "check", "truth.jsonl").out


def test_only_a_stored_ground_truth_is_repaired(cli, home):
    (home / "truth.jsonl").write_text(json.dumps(ROW) + "\n")
    assert cli("truth", "check", "truth.jsonl", "--drop", "--flag").code == 2
    printed = cli("truth", "check", "truth.jsonl", "--drop")
    assert (printed.code, "import" in printed.err) == (2, True)
