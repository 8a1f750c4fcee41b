"""Metrics called again with stored evidence."""

from ragstone.data.types import Chunk, Sample
from ragstone.engine.metric_items import items_of
from ragstone.registry import resolve_metrics

SAMPLE = Sample("1", question="q", answer="x b", references=["b c"], contexts=[Chunk("b", "x")])


def test_transient_evidence_is_made_and_stored_evidence_is_used():
    metrics = resolve_metrics(["token_f1", "ragchecker.faithfulness"])
    found = items_of(metrics, SAMPLE, {"answer_claims_in_contexts": [["entailment"], ["neutral"]]})
    assert [(items.kind, items.sums) for items in found["token_f1"]] == [
        ("answer word", (1.0, 2.0)),
        ("reference word", (1.0, 2.0)),
    ]
    assert found["ragchecker.faithfulness"][0].above == (1,)


def test_a_metric_without_its_evidence_is_left_out():
    assert items_of(resolve_metrics(["ragchecker.faithfulness"]), SAMPLE, {}) == {}


def test_unknown_evidence_and_skipped_rows_count_nothing():
    metrics = resolve_metrics(["ragchecker.faithfulness", "recall"])
    found = items_of(metrics, SAMPLE, {"answer_claims_in_contexts": [], "evidence_of_a_file_that_is_not_here": [1]})
    assert found == {"ragchecker.faithfulness": ()}
