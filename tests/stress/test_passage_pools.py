"""Where passages for and against come from, in RGB's rows and in any others."""

import numpy as np
import pytest

from ragstone.data.types import Chunk, Fact, Sample
from ragstone.formats import read_dataset
from ragstone.stress.passage_pools import clean_negatives, find_negatives, read_pools, stands_in
from tests.formats.fixtures import fixture_rgb
from tests.stress.generators import SHIPS, samples


def texts(chunks):
    return [chunk.text for chunk in chunks]


def test_rgbs_rows(tmp_path):
    one, two, three = read_pools(read_dataset(fixture_rgb(tmp_path)[0]))
    assert one.answers == [["At eight", "8:00"]]
    assert texts(one.positives) == ["It leaves at 8:00."]
    assert texts(one.negatives) == ["Adults pay ten.", "The pier is long."]
    assert [texts(group) for group in two.groups] == [
        ["Adults pay ten."],
        ["Children pay five.", "It is 5 for a child."],
    ]
    assert texts(two.positives) == ["Adults pay ten.", "Children pay five.", "It is 5 for a child."]
    assert (texts(three.wrong), three.fake) == (["Die Mole ist 800 m lang."], "800 m")
    assert two.references == ["ten, five"]


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ({"facts": [Fact("leaves at nine")]}, [["The boat leaves at nine."]]),
        ({"reference_contexts": ["The boat leaves at nine."]}, [["The boat leaves at nine."]]),
        ({"relevance": {"b": 2.0, "a": 0.0}}, [["It is 9 o'clock."]]),
        ({}, [["The boat leaves at nine.", "It is nine."]]),
        ({"facts": [Fact("leaves at nine"), Fact("9 o clock")]}, [["The boat leaves at nine."], ["It is 9 o'clock."]]),
        ({"facts": [Fact("leaves at nine"), Fact("the boat")]}, [["The boat leaves at nine."]]),
        ({"references": ["ten"]}, []),
    ],
)
def test_what_holds_the_answer(known, expected):
    chunks = [
        Chunk("The boat leaves at nine.", "a"),
        Chunk("It is 9 o'clock.", "b"),
        Chunk("It is nine.", "c"),
        Chunk("Dogs are free.", "d"),
    ]
    sample = Sample("q", "When?", **{"contexts": chunks, "references": ["nine"], **known})
    assert [texts(group) for group in read_pools([sample])[0].groups] == expected


def test_answers_stand_as_whole_words():
    assert stands_in("9 million", "It cost 9 Million.")
    assert not stands_in("9 million", "It cost 19 million.")
    assert stands_in("70", "共有70个议席")
    assert stands_in("C++", "Written in C++ and C.")
    assert not stands_in("", "anything")


def test_negatives_are_close_and_hold_no_answer():
    given = samples()
    pools, report = find_negatives(read_pools(given), given, 5)
    for pool, sample in zip(pools, given, strict=True):
        assert len(pool.negatives) == 5
        # The question's own passage without the answer comes first: its retriever brought it.
        assert pool.negatives[0].text == f"The {sample.id} was painted grey."
        assert not any(pool.holds_answer(chunk.text) for chunk in pool.negatives)
        assert not set(texts(pool.negatives)) & set(texts(pool.positives))
        # "How long is the …" is nearest to "The … is … metres long".
        assert "long" in pool.negatives[1].text
    assert report == {}


def test_a_passage_of_another_question_that_holds_the_answer_is_no_noise():
    given = samples()
    other = Sample(
        "also", "How long is the pier?", contexts=[Chunk("The pier is 31 metres long.")], references=["31 metres"]
    )
    pools, report = find_negatives(read_pools([*given, other]), [*given, other], 20)
    maren = pools[0]
    assert "The pier is 31 metres long." not in texts(maren.negatives)
    assert report["Maren"] == 1
    assert report["also"] == 2


def test_meaning_counts_where_there_is_an_embedder():
    given = samples(negatives=False)

    def embed(wanted):
        """Only the Pelican is near to all questions."""
        return np.array([[1.0, 0.0] if "How long" in text or "Pelican" in text else [0.0, 1.0] for text in wanted])

    by_words, _ = find_negatives(read_pools(given), given, 3)
    by_both, _ = find_negatives(read_pools(given), given, 3, embed)
    assert "Pelican" not in by_words[0].negatives[0].text
    assert "Pelican" in by_both[0].negatives[0].text


def test_given_negatives_that_hold_the_answer_are_told(tmp_path):
    row = {"id": "x", "question": "When?", "references": ["8:00"]}
    parts = {"answer": [["8:00"]], "positive": ["At 8:00."], "negative": ["Not at 8:00.", "At nine."]}
    pools, report = clean_negatives(read_pools([Sample(**row, metadata={"rgb": parts})]))
    assert texts(pools[0].negatives) == ["At nine."]
    assert report == {"x": 1}


def test_ships_are_many_enough():
    assert len(SHIPS) == 8
