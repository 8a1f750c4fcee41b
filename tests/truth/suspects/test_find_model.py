"""Short answers are compared by the words and numbers that carry meaning."""

import pytest

from ragstone.truth.suspects.find import gist_of

ASKED = "How deep is the harbour?"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("14 metres", "The harbour is 14 metres deep.", True),
        ("fourteen metres", "14 metres", True),
        ("14 metres", "15 metres", False),
        ("14 metres", "It is not 14 metres deep.", False),
        ("Yes.", "Yes, it is deep.", True),
        ("Yes.", "No.", False),
        ("the mole", "on the northern mole", True),
        ("the mole", "the tower", False),
    ],
)
def test_answers_that_mean_the_same_agree(one, other, same):
    assert gist_of(one, ASKED).agrees(gist_of(other, ASKED)) is same
    assert gist_of(other, ASKED).agrees(gist_of(one, ASKED)) is same


def test_the_words_of_the_question_do_not_count():
    gist = gist_of("The harbour is 14 metres deep", ASKED)
    assert gist.numbers == {"14"}
    assert not gist.words & {"harbour", "deep"}
    assert gist.share_in(gist_of("14 metres", ASKED)) == 1.0
    assert gist_of("", ASKED).share_in(gist) == 0.0
