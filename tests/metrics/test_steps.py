import pytest

from ragstone.data.types import Chunk, Fact, Sample, Step
from ragstone.errors import Skip
from ragstone.metrics.steps import unused
from tests.metrics.scoring import cell

ONE, TWO, THREE = Chunk("one", "1"), Chunk("two", "2"), Chunk("three", "3")
YES, NO = "entailment", "neutral"


def test_a_search_is_unused_if_no_claim_rests_on_its_chunks():
    steps = [Step("s", "a", [ONE]), Step("add"), Step("s", "b", [TWO]), Step("s", "c", [])]
    assert unused(steps, [ONE, TWO], [[YES, NO], [NO, NO]]) == pytest.approx(2 / 3)


def test_a_chunk_that_was_not_passed_on_is_unused():
    assert unused([Step("s", "a", [THREE])], [ONE], [[YES]]) == 1.0


def test_probabilities_count_with_their_expected_value():
    assert unused([Step("s", "a", [ONE])], [ONE], [["unsure 0.5200 0.0300 0.6000"]]) == pytest.approx(0.4)


def test_without_claims_or_searches_it_is_skipped():
    with pytest.raises(Skip, match="no claims"):
        unused([Step("s", "a", [ONE])], [ONE], [])
    with pytest.raises(Skip, match="no step retrieves"):
        unused([Step("add")], [ONE], [[YES]])


def test_given_verdicts_are_enough_for_unused_steps():
    import ragstone

    row = {
        "id": "a",
        "answer": "One.",
        "steps": [{"tool": "s", "contexts": ["one"]}, {"tool": "s", "contexts": ["two"]}],
        "answer_claims": ["One."],
        "answer_claims_in_contexts": [["entailment", "neutral"]],
    }
    run = ragstone.evaluate([row], ["steps.unused"])
    assert run.scores["value"].to_pylist() == [0.5]


def test_relevance_by_text_if_chunks_have_no_ids():
    steps = [Step("s", "a", [Chunk("The ferry leaves at nine."), Chunk("x")]), Step("s", "b", [Chunk("y")])]
    sample = Sample("s", steps=steps, contexts=[], reference_contexts=["the ferry leaves at nine", "never found"])
    assert cell(sample, "steps.recall").value == pytest.approx((1 / 2 + 0) / 2)
    assert cell(sample, "steps.precision").value == pytest.approx((1 / 2 + 0) / 2)


def test_chunks_without_ids_and_texts_are_skipped():
    sample = Sample("s", steps=[Step("s", "a", [Chunk("x")])], contexts=[], relevance={"a": 1.0})
    assert cell(sample, "steps.recall").reason == "a chunk of a step has no id"


def test_facts_in_chunks_that_were_not_passed_on_are_found():
    sample = Sample("s", steps=[Step("s", "a", [Chunk("It is nine.")])], contexts=[Chunk("else")], facts=[Fact("nine")])
    assert cell(sample, "steps.fact_recall").value == 1.0
    assert cell(sample, "fact_recall").value == 0.0


def test_a_run_without_steps_computes_none_of_them():
    import ragstone

    run = ragstone.evaluate([{"question": "q", "answer": "a", "references": ["a"]}], ["exact_match", "steps"])
    assert [metric.metric for metric in run.info.metrics] == ["exact_match"]
    assert all("steps" in str(reason) for name, reason in run.info.skipped.items() if name.startswith("steps."))
