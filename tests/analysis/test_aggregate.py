"""A run as plain numbers."""

import json

import ragstone
from ragstone.analysis.aggregate import SCHEMA, VERSION, aggregate
from ragstone.analysis.diagnosis import diagnose

ROWS = [{"id": "secret-id", "question": "secret q", "answer": "secret a", "references": ["a"], "facts": ["x"]}]


def test_means_counts_and_no_private_text(tmp_path):
    run = ragstone.evaluate(ROWS, ["token_f1", "recall"], tmp_path / "private", params={"k": 3})
    found = aggregate(run)
    assert (found["schema"], found["version"], found["diagnosis"]) == (SCHEMA, VERSION, None)
    [metric] = found["metrics"]
    assert (metric["metric"], metric["n_ok"], metric["bounds"]) == ("token_f1", 1, [0.0, 1.0])
    assert metric["signature"].startswith("token_f1|")
    assert list(found["not_computed"]) == ["recall"]
    assert found["run"]["params"] == {"k": 3}
    text = json.dumps(found)
    assert "secret" not in text
    assert "private" not in text


def test_a_diagnosis_is_counted(tmp_path):
    run = ragstone.evaluate([{**ROWS[0], "contexts": ["y"]}], ["fact_recall"], tmp_path)
    found = aggregate(run, diagnose(run))["diagnosis"]
    assert (found["samples"], found["failing"]) == (1, 1)
    assert found["causes"][0]["cause"] == "missing chunk"
