"""Causes, findings and the main cause of a sample."""

from ragstone.analysis.cause_names import (
    CAUSES,
    HALLUCINATED,
    IGNORED,
    LOST,
    MISSING,
    OWN,
    REFUSED,
    WRONG,
    Finding,
    Outcome,
    main_cause,
)
from ragstone.analysis.diagnosis import count_causes


def finding(cause, kind="reference claim", number=1):
    return Finding(cause, kind, number, "text", (1, 2), "why")


def test_the_most_frequent_cause_wins_and_ties_go_to_the_earliest():
    assert main_cause([finding(IGNORED), finding(IGNORED), finding(MISSING)]) is IGNORED
    assert main_cause([finding(IGNORED), finding(LOST)]) is LOST
    assert main_cause([]) is None


def test_a_refusal_always_wins():
    assert main_cause([finding(MISSING), finding(MISSING), finding(REFUSED)]) is REFUSED


def test_an_answer_claim_and_the_reference_claim_it_contradicts_count_once():
    findings = [finding(HALLUCINATED), finding(HALLUCINATED, "answer claim"), finding(IGNORED), finding(IGNORED)]
    assert main_cause(findings) is IGNORED


def test_information_is_not_a_failure():
    outcome = Outcome("a", (finding(OWN, "answer claim"), finding(MISSING)))
    assert [one.cause for one in outcome.failures] == [MISSING]
    assert outcome.cause is MISSING
    assert not OWN.fails


def test_a_row_that_people_labelled_says_so_and_not_that_it_seems_wrong():
    labelled, judged = Outcome("a", status="wrong", labelled_by=("Ana",)), Outcome("b", status="wrong")
    meanings = [[one.cause.meaning for one in count_causes(rows)] for rows in ([labelled], [labelled, judged])]
    assert meanings == [["a person labelled it wrong"], [WRONG.meaning]]


def test_without_texts_keeps_causes_and_kinds():
    small = Outcome("a", (finding(MISSING),)).without_texts()
    assert (small.findings[0].cause, small.findings[0].kind, small.findings[0].text) == (MISSING, "reference claim", "")


def test_causes_by_name():
    assert all(CAUSES[name].name == name for name in CAUSES)
    assert finding(LOST).as_dict()["part"] == "retriever"
