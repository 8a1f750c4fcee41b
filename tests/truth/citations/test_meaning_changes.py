"""Texts with the same words can differ in meaning."""

import pytest

from ragstone.truth.citations.spelled_text import Spelled, compare_gaps, compare_words, find_cut


@pytest.mark.parametrize(
    ("cited", "passage", "problem"),
    [
        ("from 3 to 5", "from 3 to 5", None),
        ("costs $5", "costs €5", "a sign or a unit"),
        ("3.5 tons", "3:5 tons", "a number"),
        ("No, ferries run", "No ferries run", "a negation"),
        ("They left. Bo stayed", "They left Bo stayed", "one sentence is made two"),
        ("They left Bo stayed", "They left. Bo stayed", "two sentences are merged"),
        ("a | b c | d", "a | b\nc | d", "two rows"),
    ],
)
def test_gaps_between_the_same_words(cited, passage, problem):
    ours, theirs = Spelled(cited), Spelled(passage)
    assert [word.text for word in ours.words] == [word.text for word in theirs.words]
    problems = [compare_gaps(ours, number, theirs, number) for number in range(1, len(ours.words))]
    assert any(problem in str(found) for found in problems) if problem else not any(problems)


@pytest.mark.parametrize(
    ("cited", "passage", "problem"),
    [
        ("5 mW", "5 MW", "a unit"),
        ("10² m", "102 m", "a raised digit"),
        ("the Turkey", "the turkey", "a name"),
        ("the Pier", "the pier", None),
    ],
)
def test_words_that_fold_to_the_same_text(cited, passage, problem):
    ours, theirs = Spelled(cited), Spelled(passage)
    problems = [compare_words(ours, number, theirs, number) for number in range(len(ours.words))]
    assert any(problem in str(found) for found in problems) if problem else not any(problems)


@pytest.mark.parametrize(
    ("cited", "passage", "first", "problem"),
    [
        ("5 million", "It cost 3.5 million", 3, "begins within a number"),
        ("it cost 5", "It cost 5 million", 0, "ends within a number"),
        ("ferries run daily", "No ferries run daily", 1, "'no'"),
        ("ferries run daily", "The ferries run daily", 1, None),
    ],
)
def test_cuts(cited, passage, first, problem):
    ours, theirs = Spelled(cited), Spelled(passage)
    found = find_cut(ours, theirs, first, first + len(ours.words) - 1)
    assert problem in str(found) if problem else found is None
