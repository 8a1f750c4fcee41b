"""ragstone show."""

import json

import ragstone

ROWS = [{"question": f"When does boat {n} leave?", "answer": "At nine.", "references": ["At nine."]} for n in range(3)]


def test_a_stored_run_is_printed_as_after_the_run(cli, tmp_path):
    ragstone.evaluate(ROWS, ["token_f1", "ari"], tmp_path, name="mine")
    short = cli("show", "mine", "-o", str(tmp_path))
    assert short.code == 0
    assert "token_f1" in short.out
    assert "stored in" in short.out
    full = cli("show", "latest", "--full", "-o", str(tmp_path)).out
    assert "ari" in full
    found = json.loads(cli("show", "mine", "--json", "-o", str(tmp_path)).out)
    assert [row["metric"] for row in found["summary"]] == ["token_f1", "ari"]
