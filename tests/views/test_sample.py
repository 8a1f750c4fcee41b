"""A sample as all outputs show it."""

from ragstone.analysis.causes import find_causes
from ragstone.views.sample import sample_view
from tests.analysis.making import fact_case


def badges(case):
    return [mark.words for mark in sample_view(1, case, find_causes(case)).chunks[0].badges]


def test_only_chunks_of_a_sample_with_facts_are_marked_as_needed_or_not():
    assert badges(fact_case(["The boat is red."], ["A chunk about cranes."])) == ["not relevant: no needed fact"]
    assert badges(fact_case([], ["A chunk about cranes."])) == []
