"""Drafts with a fault are rejected, and duplicates are recognised."""

import asyncio
from dataclasses import replace

import pytest

from ragstone.formats.documents import Passage
from ragstone.truth.synthesis.pipeline import Known, check_citations, difficulty, find_fault, name_difficulty
from ragstone.truth.synthesis.writer import Draft, Job

PASSAGE = Passage("a#1", "The Maren is 48 metres long. Her captain is Ole Vik.", "a")
DRAFT = Draft(Job("single", (PASSAGE,)), "How long is the Maren?", "48 metres", ["The Maren is 48 metres long"], [])


def fault(draft):
    return find_fault(draft, check_citations(draft))


def test_a_sound_draft_has_no_fault():
    assert fault(DRAFT) is None


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"question": "?"}, "no question"),
        ({"question": "How long is it according to the passage?"}, "source"),
        ({"answer": ""}, "no answer"),
        ({"citations": []}, "no citation"),
        ({"citations": ["The Maren is 84 metres long"]}, "invalid"),
        ({"job": Job("several", (PASSAGE,))}, "several"),
        ({"job": Job("table", (PASSAGE,))}, "table"),
        ({"job": Job("single", (PASSAGE,), "follow-up")}, "follow-up"),
        ({"question": "Is the Maren 48 metres long?"}, "gives its answer away"),
        ({"job": Job("bridge", (PASSAGE, PASSAGE))}, "fewer facts"),
        ({"job": Job("unanswerable", (PASSAGE,))}, "unanswerable"),
    ],
)
def test_each_fault_is_named(changes, word):
    assert word in fault(replace(DRAFT, **changes))


def test_difficulty_grows_with_facts_and_is_highest_without_an_answer():
    one = difficulty(DRAFT, check_citations(DRAFT))
    both = replace(DRAFT, citations=[*DRAFT.citations, "Her captain is Ole Vik"])
    assert one < difficulty(both, check_citations(both)) < 1
    assert difficulty(replace(DRAFT, job=Job("unanswerable", (PASSAGE,))), []) == 1.0
    assert [name_difficulty(value) for value in (0.1, 0.5, 0.9)] == ["easy", "medium", "hard"]


def test_questions_with_the_same_words_are_duplicates():
    known = Known()
    questions = ["How long is the Maren?", "The Maren: how long is it?", "Who commands the Pelican?"]
    assert asyncio.run(known.add_new(questions)) == [True, False, True]
    assert asyncio.run(known.add_new(questions[2:])) == [False]
