"""False answers: of the right kind, in the right place, and nothing of the truth left."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.data.types import Chunk
from ragstone.stress.passage_pools import Pool
from ragstone.stress.run import WHY_NO_ERROR, kinds_of, plant_errors


def pool(answer, *passages, name="q", more=(), question="What?"):
    return Pool(name, question, [[answer, *more]], [[Chunk(text, id=f"c{n}") for n, text in enumerate(passages)]])


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        (("12 metres", "How long?"), ("300 metres", "How long?"), True),
        (("12 metres", "How long?"), ("12 people", "How long?"), False),
        (("1903", "When?"), ("1921", "In which year?"), True),
        (("Ada Finch", "Who leads?"), ("Bruno Keel", "Who dug it?"), True),
        (("Ada Finch", "Who leads?"), ("Old Town", "Where is it?"), False),
        (("Ada Finch", "Who leads?"), ("blue paint", "Who leads?"), False),
        (("May 3, 1903", "When?"), ("Sept. 12, 1950", "When?"), True),
        (("May 3, 1903", "When?"), ("1950", "When?"), False),
        (("北京", "首都在哪里？"), ("上海", "港口在哪里？"), True),
        (("北京", "首都在哪里？"), ("Beijing", "Where?"), False),
    ],
)
def test_kinds(one, other, alike):
    assert bool(set(kinds_of(*one)) & set(kinds_of(*other))) == alike


def test_the_narrowest_kind_comes_first():
    assert kinds_of("Aldoria", "Which country does it sail for?")[0] == "country, name of 1"
    pools = [
        pool("Aldoria", "It sails for Aldoria.", name="a", question="Which country is it?"),
        pool("Brennland", "It sails for Brennland.", name="b", question="What country is it?"),
        *(pool(word, f"It is {word}.", name=word, question="What is it?") for word in ("Timber", "Barley", "Glass")),
    ]
    for seed in range(10):
        assert plant_errors(pools, seed)[0].fake == "Brennland"


def test_the_answer_of_another_question_takes_its_place():
    first = pool("Ada Finch", "The captain is Ada Finch.", "ADA FINCH commands it; Ada Finchley does not.", name="a")
    second = pool("Bruno Keel", "The pilot is Bruno Keel.", name="b")
    planted = plant_errors([first, second])[0]
    assert planted.fake == "Bruno Keel"
    # In the second passage something of the right answer would stay.
    assert [chunk.text for chunk in planted.wrong] == ["The captain is Bruno Keel."]
    assert planted.wrong[0].id == "c0!"


def test_all_spellings_are_replaced():
    planted = plant_errors([pool("12 metres", "It is 12  metres, that is 12 m.", more=["12 m"])])[0]
    assert planted.fake != "12 metres"
    assert re.fullmatch(r"\d+ metres", planted.fake)
    assert "12" not in planted.wrong[0].text
    assert planted.wrong[0].text.count(planted.fake) == 2


def test_a_spelling_that_stands_there_decides_the_kind():
    planted = plant_errors(
        [pool("At least 20 minutes before departure", "Be there 20 minutes early.", more=["20 minutes"])]
    )[0]
    assert re.fullmatch(r"\d+ minutes", planted.fake)
    assert planted.wrong[0].text == f"Be there {planted.fake} early."


def test_numbers_are_made_up_where_no_other_answer_fits():
    for answer, form in [
        ("1903", r"1[89]\d\d"),
        ("21:40", r"\d\d:40"),
        ("1,840 metres", r"\d,\d{3} metres"),
        ("70", r"\d\d"),
    ]:
        planted = plant_errors([pool(answer, f"The answer is {answer} indeed.")])[0]
        assert re.fullmatch(form, planted.fake), (answer, planted.fake)
        assert planted.fake != answer
        assert planted.wrong[0].text == f"The answer is {planted.fake} indeed."


def test_chinese():
    planted = plant_errors([pool("北京", "首都是北京。", name="a"), pool("上海", "港口是上海。", name="b")])[0]
    assert planted.wrong[0].text == "首都是上海。"


@pytest.mark.parametrize(
    ("given_pool", "reason"),
    [
        (pool("blue", "It is red."), "not in its passages"),
        (pool("blue", "It is blue."), "no false answer of its kind"),
        (pool("a b c d e f g h i", "It is a b c d e f g h i."), "longer than 8 words"),
        (pool("by locking all the gates", "It was done by locking all the gates."), "its answer is a phrase"),
        (Pool("q", "What?", [["a"], ["b"]], [[Chunk("a b")]]), "several answers"),
        (Pool("q", "What?", [], [[Chunk("a b")]]), "no right answer"),
    ],
)
def test_where_no_error_can_be_planted(given_pool, reason):
    planted = plant_errors([given_pool])[0]
    assert not planted.wrong
    assert reason in planted.metadata[WHY_NO_ERROR]


def test_a_part_of_the_right_answer_is_no_false_one():
    first = pool("Tampa Florida", "In Tampa Florida.", name="a")
    for other in ("Tampa Florida Bay", "tampa florida"):
        assert not plant_errors([first, pool(other, f"In {other}.", name="b")])[0].wrong


def test_given_false_passages_stay():
    given_pool = Pool("q", "What?", [["a"]], [[Chunk("a")]], wrong=[Chunk("b")], fake="b")
    assert plant_errors([given_pool]) == [given_pool]


@given(st.integers(0, 10**9), st.integers(0, 50))
def test_a_made_up_number_is_never_the_right_one(number, seed):
    planted = plant_errors([pool(str(number), f"It is {number}.")], seed)[0]
    if planted.wrong:
        assert str(number) not in planted.wrong[0].text
        assert planted.fake.isdigit()
        assert len(planted.fake) == len(str(number)) or int(planted.fake) < 29
    else:
        assert planted.metadata[WHY_NO_ERROR]
