"""One wording for failing samples and their causes."""

from collections import Counter

import pytest

from ragstone.analysis.cause_names import CAUSES, Finding, Outcome
from ragstone.analysis.cause_texts import cause_label, causes_text, failing_text, status_text
from ragstone.analysis.diagnosis import CauseCount, Diagnosis, give_advice


def count(name, main, wrong=None):
    return CauseCount(CAUSES[name], main, main, main, (), 0.3, main if wrong is None else wrong)


def make(*causes, samples=14, unexamined=0, local=True):
    wrong, look = sum(one.wrong for one in causes), sum(one.main - one.wrong for one in causes)
    found = (Finding(CAUSES["ignored"], "reference claim", 1, "x"),)
    outcomes = [Outcome("s", found, wrong=0.9, status="wrong")] * wrong + [Outcome("s", found, status="look")] * look
    outcomes += [Outcome("t", status="fine")] * (samples - wrong - look)
    return Diagnosis(
        limits="unknown", sure=False, parts={}, readings=(), causes=causes, advice=(), outcomes=tuple(outcomes),
        samples=samples, looked_at=samples, undecided=Counter({"why": unexamined} if unexamined else {}), tally=Counter(),
        by_local_judge=local,
    )  # fmt: skip


def test_causes_of_rows_that_need_a_look_are_called_possible():
    found = make(count("hallucinated", 3, wrong=0), count("no answer", 1), count("ignored", 1, wrong=0), unexamined=2)
    assert failing_text(found) == "1 of 14 samples seems wrong, 4 need a look (2 not examined)"
    assert causes_text(found) == "1 no answer; possibly 3 hallucinated, 1 ignored"
    assert causes_text(make(count("ignored", 2, wrong=0))) == "possibly 2 ignored"
    assert causes_text(make(count("misread", 4, wrong=2))) == "2 misread; possibly 2 misread"


def test_a_sample_that_was_not_examined_is_named_if_others_were():
    unknown, failed, good = Outcome("u", undecided="why"), make(count("ignored", 1)).outcomes[0], Outcome("g")
    found = make(count("ignored", 1), samples=3, unexamined=1)
    assert [cause_label(found, one) for one in (unknown, failed, good)] == ["not examined", "ignored", ""]
    assert cause_label(found, failed).wrong == 0.9
    assert cause_label(make(samples=1, unexamined=1), unknown) == "", "no judge and no facts: it is not one of some"


def test_probable_and_certain_causes_are_named():
    assert causes_text(make(count("ignored", 2), count("misread", 1), local=False)) == "2 ignored, 1 misread"
    assert failing_text(make(count("ignored", 2), samples=3)) == "2 of 3 samples seem wrong"


@pytest.mark.parametrize(
    ("probability", "status", "words"),
    [
        (0.92, "wrong", "wrong (92 %)"),
        (0.05, "fine", "fine (wrong: 5 %)"),
        (0.45, "look", "look (wrong: 45 %)"),
        (None, "no judgement", "no judgement"),
    ],
)
def test_the_status_of_a_row_in_words(probability, status, words):
    assert status_text(Outcome("s", wrong=probability, status=status)) == words


def test_advice_for_facts_comes_before_advice_for_possible_causes():
    causes = [count("hallucinated", 3, wrong=0), count("no answer", 1)]
    first, second = give_advice([], causes, local=True)
    assert (first.because, first.sure) == ((causes[1],), True)
    assert (second.because, second.sure) == ((causes[0],), False)
