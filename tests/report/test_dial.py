"""A run as DIAL's own table."""

import json

import pyarrow.parquet as pq
import pytest

import ragstone
from ragstone.errors import UsageError
from ragstone.report.dial import dial_table, match_row, write_dial_table
from ragstone.storage.places import open_place
from tests.shared_data import shared_data

ROWS = [
    {
        "question": "q",
        "documents": ["d"],
        "facts": ["B c.", "a b", "zzz"],
        "contexts": ["x", "a B c. d"],
        "references": ["r"],
        "answer": "w",
    },
    {"question": "p", "contexts": ["x"], "answer": "w"},
]


def test_ranks_relevance_and_highlights():
    row = dial_table(ragstone.evaluate(ROWS, "dial")).to_pylist()[0]
    assert row["facts_ranks"] == [1, 1, -1]
    assert row["context_relevance"] == [0, 2]
    assert [json.loads(text)["match"] for text in row["context_highlight"]] == [
        [{"text": "x", "facts": []}],
        [
            {"text": "a ", "facts": [1]},
            {"text": "B", "facts": [0, 1]},
            {"text": " c.", "facts": [0]},
            {"text": " d", "facts": []},
        ],
    ]
    assert (row["recall"], row["precision"], row["mrr"]) == pytest.approx((2 / 3, 1 / 2, 1 / 3))


def test_a_row_without_facts_has_no_values():
    row = dial_table(ragstone.evaluate(ROWS, "dial")).to_pylist()[1]
    assert (row["recall"], row["facts_ranks"], row["context"]) == (None, None, ["x"])


def test_sidecar_has_the_means(tmp_path):
    run = ragstone.evaluate(ROWS, "dial")
    table = write_dial_table(run, open_place(tmp_path))
    said = json.loads((tmp_path / "metrics.parquet.metadata.json").read_text())
    assert said["metrics"]["recall"] == pytest.approx(2 / 3)
    assert said["statistics"] == {"Evaluation data size": 2}
    assert pq.read_table(table.path).num_rows == 2


def test_a_run_without_the_metrics_is_refused():
    with pytest.raises(UsageError, match="-m dial"):
        dial_table(ragstone.evaluate(ROWS, "k_precision"))


def test_the_example_of_dial_comes_out_as_dial_wrote_it():
    folder = shared_data("dial") / "example_parquets"
    run = ragstone.evaluate([folder / "ground_truth.parquet", folder / "answer.parquet"], "dial", format="dial")
    ours = {row["question"]: row for row in dial_table(run).to_pylist()}
    for theirs in pq.read_table(folder / "metrics.parquet").to_pylist():
        row = ours[theirs["question"]]
        for name in ("recall", "precision", "mrr", "f1"):
            assert row[name] == pytest.approx(theirs[name], abs=1e-12)
        for name in ("facts_ranks", "context_relevance", "facts", "context", "answer", "ground_truth_answer"):
            assert row[name] == theirs[name]
        assert [*map(json.loads, row["context_highlight"])] == [*map(json.loads, theirs["context_highlight"])]


def test_one_row_alone():
    facts, context = ["b c"], ["a b c"]
    found = match_row(facts, context, ragstone.match_facts(facts, context))
    assert found["facts_ranks"] == [0]
    assert found["context_relevance"] == [1]
