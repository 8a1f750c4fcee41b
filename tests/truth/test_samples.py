"""Data sets become cases, and update the cases that are there."""

from dataclasses import replace

import pytest

from ragstone.errors import UsageError
from ragstone.formats import open_reader
from ragstone.truth.model import Case, TruthFact, cases_to_samples, read_cases, read_sourced, update_cases

ROW = {
    "id": "depth",
    "question": "How deep?",
    "references": ["12 metres"],
    "metadata": {"weight": 2.5, "day": "Monday"},
}


def read(*rows):
    return read_cases(open_reader(list(rows)))


def test_a_sample_becomes_a_case_with_its_weight():
    [case] = read(ROW).cases
    assert (case.id, case.references, case.weight, case.metadata) == ("depth", ["12 metres"], 2.5, {"day": "Monday"})


def test_samples_without_a_question_are_left_out_with_a_note():
    found = read(ROW, {"id": "mute", "answer": "x"}, {"id": "dumb", "answer": "y"})
    assert [case.id for case in found.cases] == ["depth"]
    assert "2 samples" in found.notes[0]
    assert "references" in found.fields
    with pytest.raises(UsageError, match="question"):
        read({"id": "mute", "answer": "x"})


def test_fields_that_the_data_lacks_stay():
    facts = [TruthFact("It is 12 metres deep", note="seen"), TruthFact("It is old", standing="proposed")]
    earlier = [Case("depth", "How deep is it?", ["11 metres"], facts, documents=["a.pdf"]), Case("pier", "How long?")]
    row = {**ROW, "facts": ["It is 12 metres deep", "It is wide"]}
    [depth, pier] = update_cases(earlier, read(row), drop_others=False)
    assert (depth.question, depth.references, depth.documents) == ("How deep?", ["12 metres"], ["a.pdf"])
    assert [(fact.text, fact.note) for fact in depth.facts] == [
        ("It is 12 metres deep", "seen"),
        ("It is wide", None),
        ("It is old", None),
    ]
    assert pier == earlier[1]
    assert [case.id for case in update_cases(earlier, read(ROW), drop_others=True)] == ["depth"]


def test_proposed_references_survive_data_without_any():
    earlier = [Case("depth", "How deep?", ["12 metres"], standing="proposed")]
    [kept] = update_cases(earlier, read({**ROW, "references": None, "facts": ["It is deep"]}), drop_others=False)
    assert (kept.references, kept.standing) == (["12 metres"], "proposed")
    [accepted] = update_cases(earlier, read(ROW), drop_others=False)
    assert accepted.standing == "accepted"


def test_an_answer_replaces_a_missing_reference_as_a_proposal():
    rows = [{"id": "a", "question": "How deep?", "answer": "12 metres", "contexts": ["It is 12 metres deep."]}]
    [case] = read_sourced(open_reader(rows))
    assert (case.references, case.provenance, case.standing) == (["12 metres"], "system answer", "proposed")
    assert [passage.text for passage in case.passages] == ["It is 12 metres deep."]


def test_only_accepted_ground_truth_is_exported():
    case = Case("depth", "How deep?", ["12 metres"], [TruthFact("It is deep", standing="rejected")])
    [sample] = cases_to_samples([case])
    assert (sample.references, sample.facts) == (["12 metres"], None)
    [proposed] = cases_to_samples([replace(case, standing="proposed")])
    assert proposed.references is None


def test_a_proposed_unanswerable_case_survives_an_export_and_is_accepted_by_data_that_says_so():
    earlier = [Case("depth", "How deep?", answerable=False, provenance="synthetic", standing="proposed")]
    other = {"id": "pier", "question": "How long?", "answerable": True}
    [kept, _] = update_cases(earlier, read({"id": "depth", "question": "How deep?"}, other), drop_others=False)
    assert kept == earlier[0]
    row = {"id": "depth", "question": "How deep?", "answerable": False}
    [accepted] = update_cases(earlier, read(row), drop_others=False)
    assert (accepted.answerable, accepted.standing) == (False, "accepted")
