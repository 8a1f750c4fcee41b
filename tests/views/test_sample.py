"""A sample as all outputs show it."""

from ragstone.analysis.causes import find_causes
from ragstone.data.verdict import CONTRADICTION, ENTAILMENT, Verdict
from ragstone.views.sample import sample_view, verdict_mark
from tests.analysis.making import fact_case


def badges(case):
    return [mark.words for mark in sample_view(1, case, find_causes(case)).chunks[0].badges]


def test_only_chunks_of_a_sample_with_facts_are_marked_as_needed_or_not():
    assert badges(fact_case(["The boat is red."], ["A chunk about cranes."])) == ["not relevant: no needed fact"]
    assert badges(fact_case([], ["A chunk about cranes."])) == []


def test_the_number_of_a_contradiction_is_its_probability():
    assert verdict_mark(Verdict(CONTRADICTION, 0.05, 0.85)).words == "contradicted 0.85"
    assert verdict_mark(Verdict(ENTAILMENT, 0.9, 0.05)).words == "supported 0.90"
    assert verdict_mark(CONTRADICTION).words == "contradicted"
