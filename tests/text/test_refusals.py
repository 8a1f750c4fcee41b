"""Refusals in eleven languages, near misses and unusual texts; and answers that report errors in their sources."""

import json
import time
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.metrics.rgb import find_error_notice
from ragstone.text import refusal_phrases as phrases_module
from ragstone.text.refusal_phrases import add_refusal_phrases, phrases_signature, refusal_patterns, refusal_phrases
from ragstone.text.refusals import find_refusal
from tests.each_case import each_case
from tests.text import natural_refusals as natural
from tests.text.refusal_cases import ANSWERS, REFUSALS, developed_on, held_out

SAY_SO = [
    "There are factual errors in the provided documents. The answer is Tampa.",
    "所提供的文档存在事实性错误。正确答案是70。",
    "The document is incorrect: the game was in Tampa.",
    "The passages contain wrong information about the year.",
    "That date is a mistake in the text; it was 1903.",
    "The information provided is not correct.",
    "Contrary to what the provided documents say, it was 1903.",
    "资料中的年份有误，应为1903年。",
    "This is factually incorrect.",
]
DO_NOT = [
    "It was in Tampa, Florida.",
    "There are no factual errors in the provided documents. It was in Tampa.",
    "I found no errors in the documents.",
    "The documents do not contain factual errors.",
    "文档中没有事实性错误。",
    "I cannot answer the question because of insufficient information in the documents.",
    "The wrong turn led them to the harbour.",
    "He was mistaken for his brother.",
    "",
]


@each_case("answer", SAY_SO)
def test_it_says_so(answer):
    found = find_error_notice(answer)
    assert found
    assert found in answer


@each_case("answer", DO_NOT)
def test_it_does_not(answer):
    assert find_error_notice(answer) is None


def test_there_are_cases_of_every_language():
    assert refusal_phrases().keys() == REFUSALS.keys() == ANSWERS.keys()
    assert len(held_out(REFUSALS)) >= 30
    assert len(held_out(ANSWERS)) >= 30


@each_case("language, text", developed_on(REFUSALS) + held_out(REFUSALS))
def test_refusals(language, text):
    assert find_refusal(text)


@each_case("language, text", developed_on(ANSWERS) + held_out(ANSWERS))
def test_answers(language, text):
    assert find_refusal(text) is None


@each_case("text", [*chain(*natural.REFUSALS.values()), *natural.LATER_REFUSALS])
def test_refusals_in_natural_words(text):
    assert find_refusal(text)


@each_case("text", [*chain(*natural.ANSWERS.values()), *natural.LATER_ANSWERS])
def test_answers_that_look_like_refusals(text):
    assert find_refusal(text) is None


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        # A caveat, then an answer; an answer, then a caveat.
        ("The documents do not mention dogs.", True),
        ("The documents do not mention dogs. Cats travel free.", False),
        ("Cats travel free, but the documents do not mention dogs.", False),
        ("The documents do not mention dogs, and cats travel free.", False),
        # A description of the documents is not an answer.
        ("The documents only describe the fares. They do not mention dogs.", True),
        ("They do not include dogs.", False),
        # Apologies, advice, questions, citations and lists add nothing.
        ("Sorry, I don't know! Please call the office at the quay. Do you need the number?", True),
        ("I have no information about fares, dogs, or cats [1][2].", True),
        ("I found no information on: fares, dogs and cats.", True),
        # After "I cannot answer", remarks are ignored unless they have a figure or "but".
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


def test_source_nouns_of_ten_domains():
    """Recall and precision on rows about leaflets, policies, recipes and so on; docs/metrics.md states the figures."""
    lines = Path(__file__).with_name("refusal_rows.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    refusals = [row for row in rows if row["refusal"]]
    assert len(refusals) == len(rows) - len(refusals) == 300
    assert len({row["domain"] for row in rows}) == 10
    assert {row["language"] for row in rows} == refusal_phrases().keys()
    found = [row for row in rows if find_refusal(row["text"])]
    right = sum(row["refusal"] for row in found)
    assert right / len(refusals) >= 0.98
    assert right / len(found) >= 0.98


def test_phrases_of_the_user(monkeypatch):
    text = "That is ABOVE my pay grade, sorry."
    assert find_refusal(text) is None
    monkeypatch.setattr(phrases_module, "_added", [])
    add_refusal_phrases(["above my pay gráde", " "])
    assert find_refusal(text)
    assert find_refusal("That is above my pay grade. The fare is 9 crowns.") is None
    signature = phrases_signature()
    monkeypatch.undo()
    refusal_patterns.cache_clear()
    assert phrases_signature() != signature
    assert find_refusal(text) is None
