"""Lists of ids to scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragstone
from ragstone.data.types import Sample
from ragstone.engine.in_memory import score_rankings
from ragstone.errors import UnknownNameError, UsageError
from tests.metrics.judging import METRICS
from tests.metrics.scoring import chunks, score


def test_scores_by_metric_in_the_order_of_the_lists():
    found = score_rankings([["a", "b"], ["c"], []], [{"b": 2}, {"x": 1}, {"a": 0}], ["MRR", "recall@1", "nDCG@10"])
    assert found == {
        "mrr": [0.5, 0.0, None],
        "recall@1": [0.0, 0.0, None],
        "ndcg@10": [pytest.approx(1 / np.log2(3)), 0.0, None],
    }


@pytest.mark.parametrize("relevance", [{"a": 0}, {"a": -1.0}, {}])
def test_nothing_relevant_gives_no_score_in_any_metric(relevance):
    """All columns of a table average the same rows."""
    found = score_rankings([["a", "b"], ["a"]], [relevance, {"a": 1}], METRICS)
    assert {name for name, column in found.items() if column[0] is not None} == set()
    assert {name for name, column in found.items() if column[1] is None} == set()


def test_relevant_ids_without_grades():
    lists = [["b", "b"], {"b"}, ("b",), {"b": 1.0}.keys(), {"b": 1}]
    assert score_rankings([["a", "b"]] * 5, lists, "mrr") == {"mrr": [0.5] * 5}
    assert score_rankings([["b"]], [["b", "b", "c"]], "recall") == {"recall": [0.5]}


def test_a_set_of_metrics():
    assert score_rankings([["a"]], [["a"]], "retrieval").keys() >= {"precision", "bpref", "err"}


def test_no_lists():
    assert score_rankings([], [], ["mrr", "ndcg@5"]) == {"mrr": [], "ndcg@5": []}


def test_arrays_and_tuples():
    assert score_rankings([np.array(["a", "b"]), ("b", "a")], [["b"], ["b"]], "mrr") == {"mrr": [0.5, 1.0]}


@pytest.mark.parametrize(
    ("retrieved", "relevance", "words"),
    [
        ([["a"]], [], "there are 1 lists of ids, but relevance for 0"),
        (["abc"], [["a"]], "retrieved must have a list of ids for each query, not a text"),
        ([["a"]], ["abc"], "relevance must have a list of ids for each query, not a text"),
        ([[1]], [["a"]], "ids must be text and grades numbers"),
        ([["a"]], [[1]], "ids must be text and grades numbers"),
        ([["a"]], [{"a": "high"}], "ids must be text and grades numbers"),
        ([["a"]], [{"a": None}], "ids must be text and grades numbers"),
        ([["a"]], [{"a": float("nan")}], "grades must be finite numbers"),
        ([["a"]], [{"a": float("inf")}], "grades must be finite numbers"),
        ([None], [["a"]], "ids must be text and grades numbers"),
    ],
)
def test_bad_input(retrieved, relevance, words):
    with pytest.raises(UsageError, match=words):
        score_rankings(retrieved, relevance, "mrr")


def test_metrics_that_ids_do_not_allow():
    with pytest.raises(UsageError, match="token_f1 cannot be computed from ids: it needs answer, which no row has"):
        score_rankings([["a"]], [["a"]], "token_f1")
    with pytest.raises(UnknownNameError, match="Did you mean"):
        score_rankings([["a"]], [["a"]], "recal@5")


@given(
    st.lists(
        st.tuples(
            st.lists(st.sampled_from("abcdef"), max_size=8),
            st.dictionaries(st.sampled_from("abcdef"), st.sampled_from([-1.0, 0.0, 0.5, 1.0, 4.0]), min_size=1),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_the_same_as_through_samples(pairs):
    samples = [Sample("", contexts=chunks(ids), relevance=grades) for ids, grades in pairs]
    through_samples = {name: [cell.value for cell in cells] for name, cells in score(samples, *METRICS).items()}
    assert score_rankings(*map(list, zip(*pairs, strict=True)), METRICS) == through_samples


def test_it_is_at_the_door():
    assert ragstone.score_rankings is score_rankings
