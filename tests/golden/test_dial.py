"""Against DIAL rag-eval: the expected values of its own tests, and the metrics table of its example.

The tables in `dial/` and the numbers for them are those of aidial-rag-eval's tests; `example_parquets/metrics.parquet`
is what its own example wrote (its sidecar says aidial-rag-eval 0.0.0, 2025-04-22). DIAL's ranks count from 0,
with -1 for a fact that was not found; ours from 1, with nothing.
"""

import json

import pyarrow.parquet as pq
import pytest

import ragstone
from tests.shared_data import shared_data

NAMES = {"recall": "fact_recall", "precision": "fact_precision", "f1": "fact_f1", "mrr": "fact_mrr_mean"}


def evaluate(folder, answers):
    return ragstone.evaluate([str(folder / "ground_truth.parquet"), str(folder / answers)], "dial", format="dial")


def column(run, metric):
    return [row["value"] for row in run.scores.to_pylist() if row["metric"] == metric]


def evidence(run, name):
    return run.evidence(name)["value"].to_pylist()


def ranks(run):
    return [[-1 if rank is None else rank - 1 for rank in row] for row in evidence(run, "fact_ranks")]


@pytest.fixture(scope="module")
def tests_of_dial():
    return evaluate(shared_data("dial"), "answers.parquet")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("recall", [0.5, 1, 0, 0, 0]),
        ("precision", [0.071428, 0.076923, 0, 0, 0]),
        ("f1", [0.125, 0.142857, 0, 0, 0]),
        ("mrr", [0.125, 0.125, 0, 0, 0]),
    ],
)
def test_values_of_dials_tests(tests_of_dial, name, expected):
    assert column(tests_of_dial, NAMES[name]) == pytest.approx(expected, abs=1e-6)


def test_ranks_of_dials_tests(tests_of_dial):
    assert ranks(tests_of_dial) == [[-1, 3], [7], [-1, -1], [-1], [-1]]


@pytest.fixture(scope="module")
def example():
    folder = shared_data("dial/example_parquets")
    return evaluate(folder, "answer.parquet"), pq.read_table(folder / "metrics.parquet").to_pydict()


def test_values_of_dials_example(example):
    run, expected = example
    for name, ours in NAMES.items():
        assert column(run, ours) == pytest.approx(expected[name], abs=1e-12)


def test_means_of_dials_example(example):
    run, _ = example
    expected = json.loads(shared_data("dial/example_parquets/metrics.parquet.metadata.json").read_text())["metrics"]
    summary = run.summary()
    assert {name: summary[ours].mean for name, ours in NAMES.items()} == pytest.approx(expected, abs=1e-12)


def test_evidence_of_dials_example(example):
    run, expected = example
    assert ranks(run) == expected["facts_ranks"]
    assert evidence(run, "chunk_relevance") == expected["context_relevance"]


def test_places_of_dials_example(example):
    """DIAL marks the same characters, with the full stop that the fact has too."""
    run, expected = example
    theirs = [
        (row, chunk, fact, part["text"])
        for row, highlights in enumerate(expected["context_highlight"])
        for chunk, highlight in enumerate(highlights)
        for part in json.loads(highlight)["match"]
        for fact in part["facts"]
    ]
    ours = [
        (row, match["chunk"], match["fact"], expected["context"][row][match["chunk"]][match["start"] : match["end"]])
        for row, matches in enumerate(evidence(run, "fact_matches"))
        for match in matches
    ]
    assert ours == theirs
