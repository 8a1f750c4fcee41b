"""Refusals by their phrases: cases in eleven languages, what is and what is no refusal, and odd texts."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.text.refusal_phrases import LANGUAGES
from ragstone.text.refusals import find_refusal
from tests.text.refusal_cases import ANSWERS, REFUSALS, developed_on, held_out


def test_there_are_cases_of_every_language():
    assert LANGUAGES.keys() == REFUSALS.keys() == ANSWERS.keys()
    assert len(held_out(REFUSALS)) >= 30
    assert len(held_out(ANSWERS)) >= 30


@pytest.mark.parametrize(("language", "text"), developed_on(REFUSALS) + held_out(REFUSALS))
def test_refusals(language, text):
    assert find_refusal(text)


@pytest.mark.parametrize(("language", "text"), developed_on(ANSWERS) + held_out(ANSWERS))
def test_answers(language, text):
    assert find_refusal(text) is None


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        # A caveat, then an answer; an answer, then a caveat.
        ("The documents do not mention dogs.", True),
        ("The documents do not mention dogs. Cats travel free.", False),
        ("Cats travel free, but the documents do not mention dogs.", False),
        ("The documents do not mention dogs, and cats travel free.", False),
        # What documents are about is no answer.
        ("The documents only describe the fares. They do not mention dogs.", True),
        ("They do not include dogs.", False),
        # Apologies, advice, questions, citations and lists add nothing.
        ("Sorry, I don't know! Please call the office at the quay. Do you need the number?", True),
        ("I have no information about fares, dogs, or cats [1][2].", True),
        ("I found no information on: fares, dogs and cats.", True),
        # Who says that the question is not answered may add a word, but no figure and nothing after "but".
        ("I cannot answer this question. A clerk will call you back.", True),
        ("I cannot answer this question. The fare is 9 crowns.", False),
        ("I cannot answer this question. However, cats travel free.", False),
        ("I'm not sure. I think it was Marta Ellingrove.", False),
        # "Cannot", "no" and "not" are ordinary words.
        ("You cannot take the car deck stairs at sea.", False),
        ("There is no lift, no bar and no shop.", False),
    ],
)
def test_what_is_a_refusal(text, refusal):
    assert bool(find_refusal(text)) == refusal


def test_the_words_of_rgb():
    """What its prompts ask a model to say; its script looks for two of these words anywhere in the answer."""
    said = "I can not answer the question because of the insufficient information in documents."
    assert find_refusal(said) == said
    assert find_refusal("文档信息不足，因此我无法基于提供的文档回答该问题。") == "文档信息不足，"
    assert find_refusal("The boat has insufficient information signs on deck.") is None


@pytest.mark.parametrize("change", [str.upper, str.lower, lambda text: f"**{text}**", lambda text: f"  “{text}”\n"])
def test_case_and_dress_do_not_matter(change):
    assert find_refusal(change("I don’t know the answer."))
    assert not find_refusal(change("The boat leaves at nine."))


@given(st.text())
def test_any_text(text):
    found = find_refusal(text)
    assert found is None or found.strip()


@pytest.mark.parametrize("text", ["", " ", "...", "?", "\x00", "😀", "\u0301", "[1]"])
def test_nothing_is_no_refusal(text):
    assert find_refusal(text) is None


@pytest.mark.parametrize(
    "text",
    ["x" * 1_000_000, "not a word " * 90_000, "I cannot answer. " * 60_000, "文档没有" * 120, "the documents " * 35],
)
def test_long_texts_take_no_time(text):
    start = time.process_time()
    find_refusal(text)
    assert time.process_time() - start < 10


def test_patterns_survive_folding():
    """Patterns are folded as texts are, so a class in upper case would turn into its opposite."""
    for name, phrases in LANGUAGES.items():
        for pattern in (*phrases.declines, *phrases.leads, *phrases.harmless, *phrases.echoes, phrases.cues):
            assert not re.search(r"\\[A-Z]", pattern), (name, pattern)
