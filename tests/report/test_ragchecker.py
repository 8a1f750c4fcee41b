"""A run as RAGChecker's file: what that tool counts as 0, what is left out, and what is kept."""

import json

import pytest

import ragstone
from ragstone.errors import UsageError
from ragstone.report.ragchecker import _as_the_tool, printed_form, write_ragchecker
from ragstone.storage.places import open_place
from tests.metrics.models import Obliging

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
    """What stands in the file, and what was printed."""
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
    assert _as_the_tool((None, "failed"), [["entailment"], [["neutral"]]]) is None


def test_old_metrics_are_replaced(tmp_path):
    old = {**FULL, "metrics": {"precision": 0.9}, "system": "b"}
    document, _ = write(tmp_path, [old], "ragchecker.precision")
    assert document["results"][0]["metrics"] == {"precision": 0.5}
    assert document["results"][0]["system"] == "b"
    assert document["metrics"] == {"overall": {"precision": 50.0}, "retriever": {}, "generator": {}}


def test_a_run_without_such_metrics_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"has no RAGChecker metrics: evaluate with -m ragchecker"):
        write(tmp_path, [FULL], "token_f1")
