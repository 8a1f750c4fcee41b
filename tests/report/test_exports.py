"""A run as DIAL's own table.

A run as RAGChecker's file: what that tool counts as 0, what is left out, and what is kept.
"""

import json

import pyarrow.parquet as pq
import pytest

import ragstone
from ragstone.errors import UsageError
from ragstone.report.exports import (
    _ragchecker_value,
    dial_table,
    match_row,
    printed_form,
    write_dial_table,
    write_ragchecker,
)
from ragstone.storage.places import open_place
from tests.metrics.models import Obliging
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


FULL = {
    "query_id": "full",
    "query": "When does the ferry leave?",
    "gt_answer": "At eight, in winter at nine.",
    "response": "At eight from pier two.",
    "retrieved_context": [{"doc_id": "d1", "text": "It leaves at eight."}, {"doc_id": "d2", "text": "Ten euros."}],
    "response_claims": [["ferry", "leaves at", "eight"], ["ferry", "leaves from", "pier two"]],
    "gt_answer_claims": ["The ferry leaves at eight.", "In winter it leaves at nine."],
    "answer2response": ["Entailment", "Neutral"],
    "response2answer": ["Entailment", "Contradiction"],
    "retrieved2response": [["Entailment", "Neutral"], ["Neutral", "Neutral"]],
    "retrieved2answer": [["Entailment", "Neutral"], ["Neutral", "Neutral"]],
}
SILENT = {**FULL, "query_id": "silent", "response_claims": [], "answer2response": [], "retrieved2response": []}
NO_CHUNKS = {
    **FULL,
    "query_id": "no chunks",
    "retrieved_context": [],
    "retrieved2response": [[], []],
    "retrieved2answer": [[], []],
}
NO_TRUTH = {**FULL, "query_id": "no truth", "gt_answer_claims": [], "response2answer": [], "retrieved2answer": []}
UNUSED = {**FULL, "query_id": "unused", "retrieved2answer": [["Neutral"] * 2] * 2}
UNCHECKED = {key: value for key, value in FULL.items() if "2" not in key} | {"query_id": "unchecked"}


def write(tmp_path, rows, metrics="ragchecker", **models):
    """The content of the file and the printed groups."""
    (tmp_path / "in.json").write_text(json.dumps({"results": rows}))
    run = ragstone.evaluate(str(tmp_path / "in.json"), metrics, **models)
    groups = write_ragchecker(run, open_place(tmp_path / "out.json"))
    return json.loads((tmp_path / "out.json").read_text()), groups


def row_metrics(tmp_path, row):
    document, _ = write(tmp_path, [FULL, row])
    return document["results"][1]["metrics"]


def test_a_full_row_by_hand(tmp_path):
    document, groups = write(tmp_path, [FULL])
    (result,) = document["results"]
    assert result.pop("metrics") == {
        "precision": 0.5,
        "recall": 0.5,
        "f1": 0.5,
        "claim_recall": 0.5,
        "context_precision": 0.5,
        "context_utilization": 1.0,
        "noise_sensitivity_in_relevant": 0.0,
        "noise_sensitivity_in_irrelevant": 0.0,
        "hallucination": 0.5,
        "self_knowledge": 0.0,
        "faithfulness": 0.5,
    }
    assert result == FULL
    assert document["metrics"] == groups
    assert groups["retriever"] == {"claim_recall": 50.0, "context_precision": 50.0}


def test_printed_and_written_keys(tmp_path):
    document, groups = write(tmp_path, [FULL])
    assert list(document["metrics"]) == ["overall", "retriever", "generator"]
    assert list(printed_form(groups)) == ["overall_metrics", "retriever_metrics", "generator_metrics"]
    assert printed_form(groups)["overall_metrics"] == groups["overall"]


@pytest.mark.parametrize(
    ("row", "zeros"),
    [
        (
            SILENT,
            "precision f1 noise_sensitivity_in_relevant noise_sensitivity_in_irrelevant hallucination self_knowledge faithfulness",
        ),
        # With no chunk that tool calls nothing made up, where we say that half of the answer is.
        (
            NO_CHUNKS,
            "claim_recall context_precision context_utilization noise_sensitivity_in_relevant "
            "noise_sensitivity_in_irrelevant hallucination self_knowledge faithfulness",
        ),
        (
            NO_TRUTH,
            "recall f1 claim_recall context_precision context_utilization noise_sensitivity_in_relevant "
            "noise_sensitivity_in_irrelevant self_knowledge",
        ),
        (
            UNUSED,
            "claim_recall context_precision context_utilization noise_sensitivity_in_relevant "
            "noise_sensitivity_in_irrelevant self_knowledge",
        ),
    ],
    ids=lambda value: value["query_id"] if isinstance(value, dict) else "",
)
def test_an_empty_denominator_counts_0_there(tmp_path, row, zeros):
    metrics = row_metrics(tmp_path, row)
    assert len(metrics) == 11
    assert {name for name, value in metrics.items() if value == 0} == set(zeros.split())


def test_zeros_count_in_the_means_there_and_not_in_ours(tmp_path):
    document, groups = write(tmp_path, [FULL, SILENT, {**SILENT, "query_id": "silent too"}])
    assert groups["overall"]["precision"] == 16.7
    assert ragstone.evaluate(str(tmp_path / "in.json"), "ragchecker").summary()["ragchecker.precision"].mean == 0.5
    assert [result["metrics"]["precision"] for result in document["results"]] == [0.5, 0.0, 0.0]


def test_what_nobody_checked_is_left_out(tmp_path):
    document, groups = write(tmp_path, [FULL, UNCHECKED])
    assert document["results"][1]["metrics"] == {}
    assert groups["overall"]["precision"] == 50.0


def test_what_a_judge_found_is_written_beside_what_was_given(tmp_path):
    """Of the second row only the claims are given, of the third nothing."""
    bare = {key: value for key, value in UNCHECKED.items() if "claims" not in key} | {"query_id": "bare"}
    document, groups = write(tmp_path, [FULL, UNCHECKED, bare], judge=Obliging(), cache=False)
    full, unchecked, found = document["results"]
    assert full["answer2response"] == FULL["answer2response"]
    assert unchecked["response_claims"] == FULL["response_claims"]
    # The model supports the last of the claims that it is asked about.
    assert unchecked["answer2response"] == ["Neutral", "Entailment"]
    assert found["response_claims"] == ["At eight from pier two."]
    assert [len(result["metrics"]) for result in document["results"]] == [11, 11, 11]
    again, same = write(tmp_path, document["results"])
    assert again == document
    assert same == groups


def test_a_failed_cell_is_no_zero():
    assert _ragchecker_value((None, "failed"), [["entailment"], [["neutral"]]]) is None


def test_old_metrics_are_replaced(tmp_path):
    old = {**FULL, "metrics": {"precision": 0.9}, "system": "b"}
    document, _ = write(tmp_path, [old], "ragchecker.precision")
    assert document["results"][0]["metrics"] == {"precision": 0.5}
    assert document["results"][0]["system"] == "b"
    assert document["metrics"] == {"overall": {"precision": 50.0}, "retriever": {}, "generator": {}}


def test_a_run_without_such_metrics_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"has no RAGChecker metrics: evaluate with -m ragchecker"):
        write(tmp_path, [FULL], "token_f1")
