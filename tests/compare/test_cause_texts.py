"""One wording for failing samples and their causes."""

from collections import Counter

import pytest

from ragstone.compare.cause_names import CAUSES, Finding, Outcome, how_sure
from ragstone.compare.cause_texts import cause_label, causes_text, failing_text, percent, sure_text
from ragstone.compare.diagnosis import CauseCount, Diagnosis, give_advice


def count(name, main, probability=None):
    return CauseCount(CAUSES[name], main, main, main, (), probability)


def make(*causes, samples=14, unexamined=0, local=True):
    failing = sum(one.main for one in causes)
    found = Finding(CAUSES["ignored"], "reference claim", 1, "x")
    outcomes = [Outcome("s", (found,))] * failing + [Outcome("t")] * (samples - failing)
    return Diagnosis(
        limits="unknown", sure=False, parts={}, readings=(), causes=causes, advice=(), outcomes=tuple(outcomes),
        samples=samples, looked_at=samples, undecided=Counter({"why": unexamined} if unexamined else {}), tally=Counter(),
        by_local_judge=local,
    )  # fmt: skip


def test_improbable_causes_are_called_possible():
    """A share of samples and a probability cannot be mistaken for one another."""
    found = make(count("hallucinated", 3, 0.23), count("no answer", 1), count("ignored", 1, 0.31), unexamined=2)
    assert failing_text(found) == "5 of 14 samples seem to fail (2 not examined)"
    assert causes_text(found) == (
        "1 no answer; possible causes, none is probable (the judge is 23 – 31 % sure of each): 3 hallucinated, 1 ignored"
    )
    assert causes_text(make(count("ignored", 2, 0.3))) == "a possible cause (the judge is 30 % sure): 2 ignored"


def test_a_sample_that_was_not_examined_is_named_if_others_were():
    unknown, failed, good = Outcome("u", undecided="why"), make(count("ignored", 1)).outcomes[0], Outcome("g")
    found = make(count("ignored", 1), samples=3, unexamined=1)
    assert [cause_label(found, one) for one in (unknown, failed, good)] == ["not examined", "ignored", ""]
    assert cause_label(make(samples=1, unexamined=1), unknown) == "", "no judge and no facts: it is not one of some"


def test_probable_and_certain_causes_are_named():
    assert causes_text(make(count("ignored", 2, 0.72))) == "2 ignored (the judge is 72 % sure)"
    assert causes_text(make(count("ignored", 2), count("misread", 1), local=False)) == "2 ignored, 1 misread"
    assert failing_text(make(count("ignored", 1), samples=1, local=False)) == "1 of 1 sample fails"


@pytest.mark.parametrize(
    ("probability", "words"), [(0.254, "the judge is 25 % sure: check it"), (0.5, "the judge is 50 % sure")]
)
def test_a_probability_in_words(probability, words):
    assert how_sure(probability) == words
    assert sure_text(count("ignored", 1, probability)).lower() == f"{words}."
    assert (percent(probability), percent(None)) == (f"{100 * probability:.0f} %", "–")
    assert sure_text(count("ignored", 1)) == ""


def test_advice_for_facts_comes_before_advice_for_improbable_causes():
    causes = [count("hallucinated", 3, 0.23), count("no answer", 1)]
    first, second = give_advice([], causes, local=True)
    assert (first.because, first.sure) == ((causes[1],), True)
    assert (second.because, second.sure) == ((causes[0],), False)
