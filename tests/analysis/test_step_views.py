import pytest

from ragstone.analysis.explain import count_items, describe_steps
from ragstone.analysis.sample_evidence import Case
from ragstone.registry import CATALOGUE
from ragstone.views.judged_items import item_texts
from tests.golden.test_steps import HAND, SAMPLE

EVIDENCE = {
    "facts_in_steps": [[[0], []], [], [[0], [1], []], [[1]]],
    "relevant_in_steps": [[[0], []], [], [[], [1], []], [[1]]],
    "relevant_total": 3,
    "answer_claims_in_contexts": [["entailment", *["neutral"] * 4]],
}
CASE = Case(SAMPLE, EVIDENCE)


SHARES = {spec.name for spec in CATALOGUE.metrics() if spec.name.startswith("steps.")} - {"steps.count"}


@pytest.mark.parametrize("name", sorted(SHARES & HAND.keys() - {"steps.tool_f1", "steps.tool_sequence"}))
def test_items_add_up_to_the_score(name):
    (count,) = count_items(name, CASE, {})
    assert count.value == pytest.approx(HAND[name])
    assert len(item_texts(CASE, count)) >= max(number for number, *_ in count.parts)


def test_unused_steps():
    (count,) = count_items("steps.unused", CASE, {})
    assert [(number, part) for number, part, _ in count.parts] == [(1, 0.0), (3, 1.0), (4, 1.0)]


def test_steps_for_people():
    steps, missed = describe_steps(CASE)
    assert [(step.chunks, step.new, step.facts) for step in steps] == [
        (2, 2, [1]),
        (None, 0, []),
        (3, 3, [2]),
        (1, 0, []),
    ]
    assert [step.expected for step in steps] == [True, True, True, False]
    assert missed == ["search: gamma"]


def test_without_evidence_nothing_is_said_about_facts():
    bare = Case(SAMPLE, {})
    assert {step.facts for step in describe_steps(bare)[0] if step.facts is None} == {None}
    assert count_items("steps.fact_recall", bare, {}) == []
