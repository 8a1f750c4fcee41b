"""All results for one sample."""

import pyarrow as pa
import pytest

import ragstone
from ragstone.analysis.explain import count_items, explain_sample, find_row
from ragstone.analysis.sample_evidence import Case
from ragstone.data.share import Share
from ragstone.data.types import Sample
from ragstone.errors import UnknownNameError, UsageError
from ragstone.registry import metric

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
    with pytest.raises(UnknownNameError, match="rows 1 to 3, with ids from a to 1"):
        find_row(ids, "9")
    made = pa.chunked_array([["q-ab443ba159", "q-79710ee440"]])
    with pytest.raises(UnknownNameError, match=r"unknown sample '9'\. The run has rows 1 to 2\.$"):
        find_row(made, "9")


def test_the_name_of_a_conversation_suggests_its_turns():
    ids = pa.chunked_array([[f"c-{conversation}#{turn}" for conversation in (109, 101) for turn in (1, 2)]])
    with pytest.raises(UnknownNameError, match=r"Did you mean c-101#1 or c-101#2\?"):
        find_row(ids, "c-101")


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


def test_relevant_chunks_are_marked(tmp_path):
    row = {
        "id": "a",
        "question": "q",
        "contexts": [{"id": name, "text": name} for name in "xyz"],
        "relevance": {"y": 2, "z": 1, "w": 1},
    }
    run = ragstone.evaluate([row], ["recall@2", "ndcg", "precision@5"], tmp_path)
    [counted] = explain_sample(run, "a", "recall@2").working.counts
    assert (counted.kind, counted.above, counted.sums) == ("chunk", (2,), (1.0, 3.0))
    text = str(run.explain("a", "recall@2"))
    assert "1 of 3 relevant chunks = 0.333" in text
    assert "· chunk 1" in text
    assert "✓ chunk 2" in text
    [counted] = explain_sample(run, "a", "precision@5").working.counts
    assert (counted.above, counted.value) == ((2, 3), 0.4)


def test_a_metric_of_the_user_is_explained_by_its_return_value(catalogue, tmp_path):
    @metric("own_polite_sentences", judges="answer", against="answer")
    def own_polite_sentences(answer: str) -> float:
        """Share of the sentences that say please."""
        sentences = answer.split(". ")
        return Share.of("sentence", ["please" in text for text in sentences], texts=sentences)

    run = ragstone.evaluate([{"id": "1", "answer": "Sit, please. Go away"}], ["own_polite_sentences"], tmp_path)
    text = str(run.explain("1", "own_polite_sentences"))
    assert "1 of 2 sentences = 0.500" in text
    assert "✓ sentence 1: Sit, please" in text
    assert "· sentence 2: Go away" in text


def test_other_metrics_of_the_user_have_no_items(catalogue, tmp_path):
    @metric("own_length", bounds=(0, None), judges="answer", against="answer")
    def own_length(answer: str) -> float:
        """Number of letters."""
        return len(answer)

    run = ragstone.evaluate([{"id": "1", "answer": "four"}], ["own_length"], tmp_path)
    assert explain_sample(run, "1", "own_length").working.counts == ()
