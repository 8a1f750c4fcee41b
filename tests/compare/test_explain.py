"""All results for one sample."""

import pyarrow as pa
import pytest

import ragstone
from ragstone.compare.explain import count_items, explain_sample, find_row
from ragstone.compare.sample_evidence import Case
from ragstone.data.types import Sample
from ragstone.errors import UnknownNameError, UsageError

ROWS = [
    {
        "id": "a",
        "question": "q",
        "answer": "it is red",
        "references": ["red"],
        "facts": ["red"],
        "contexts": ["is red"],
    },
    {"id": "b", "question": "q", "answer": "blue", "references": ["red"], "facts": ["red", "big"], "contexts": ["red"]},
]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return ragstone.evaluate(ROWS, ["fact_recall", "token_f1", "recall"], tmp_path_factory.mktemp("store"))


def test_a_row_by_id_or_number():
    ids = pa.chunked_array([["a", "b", "1"]])
    assert (find_row(ids, "b"), find_row(ids, "2"), find_row(ids, "1")) == (1, 1, 2)
    with pytest.raises(UnknownNameError, match="3, from a to 1"):
        find_row(ids, "9")


def test_a_score_with_its_items(run):
    found = explain_sample(run, "b", "fact_recall")
    [counted] = found.working.counts
    assert (counted.kind, counted.above, counted.below, counted.value) == ("fact", (1,), (1, 2), 0.5)
    assert [cell.metric for cell in found.cells] == ["fact_recall"]
    assert found.working.cell.value == 0.5


def test_all_scores_of_a_sample(run):
    found = explain_sample(run, "1")
    assert {cell.metric for cell in found.cells} == {"fact_recall", "token_f1"}
    assert (found.row, found.rows, found.working) == (0, 2, None)


def test_a_metric_that_was_not_computed(run):
    with pytest.raises(UsageError, match="recall was not computed"):
        explain_sample(run, "a", "recall")
    with pytest.raises(UnknownNameError, match="token_f1"):
        explain_sample(run, "a", "token_f2")


def test_missing_evidence_counts_nothing():
    assert count_items("ragchecker.f1", Case(Sample(id="a")), {}) == []
    assert count_items("token_f1", Case(Sample(id="a")), {}) == []
