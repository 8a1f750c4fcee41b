"""Texts in passages that a small model can read."""

import itertools
import time

import pytest

from ragstone.text.overlap import content_words, covered
from ragstone.text.passages import WINDOW, Passages

SENTENCES = [f"Vessel number {n} carries {n % 7} crates of salt to the harbour of Orlsay. " for n in range(400)]


def size(text):
    return len(text.split())


def test_a_short_text_is_one_passage_and_an_empty_one_none():
    assert Passages("The light is red. It is new.").nearest("anything") == ["The light is red. It is new."]
    assert Passages("").nearest("anything") == []
    assert Passages(" … ").all() == []


def test_windows_cover_the_text_share_their_ends_and_fit():
    text = "".join(SENTENCES[:60])
    windows = Passages(text).all()
    assert all(size(window) <= WINDOW for window in windows)
    assert all(any(sentence.strip() in window for window in windows) for sentence in SENTENCES[:60])
    for one, other in itertools.pairwise(windows):
        assert any(sentence.strip() in one and sentence.strip() in other for sentence in SENTENCES)


def test_of_a_long_text_only_what_is_near_is_read():
    passages = Passages("".join(SENTENCES)).nearest("Vessel number 377 carries crates.")
    assert 1 < len(passages) <= 3
    assert "number 377 " in passages[0]
    assert all(size(passage) <= WINDOW for passage in passages)
    assert Passages("".join(SENTENCES)).nearest("鲸鱼") == []


def test_around():
    text = "The light is red. The horn is loud. " + "Nothing else is here. " * 40
    assert Passages(text).around("The loud horn is near the red light.", 400) == text.strip(), "a short text as a whole"
    found = Passages(text).around("The loud horn is near the red light.", 20)
    assert found.startswith("The light is red. The horn is loud.")
    assert len(found.split()) <= 20
    assert Passages(text).around("鲸鱼", 9) == "The light is red. The horn is loud.", "the beginning if nothing is near"


def test_a_text_without_stops_is_cut_by_words():
    windows = Passages("word " * 1000).all()
    assert sum(map(size, windows)) >= 1000
    assert all(size(window) <= WINDOW for window in windows)
    assert all(len(window) <= WINDOW for window in Passages("灯" * 1000).all()), "characters count as words there"


@pytest.mark.slow
def test_a_hundred_thousand_words_are_bearable():
    text = "".join(SENTENCES) * 20 + "The keeper of the light was called Ada Moor. " + "".join(SENTENCES)
    assert size(text) > 100_000
    began = time.process_time()
    passages = Passages(text)
    found = passages.nearest("Ada Moor was the keeper.")
    assert "Ada Moor" in found[0]
    for n in range(50):
        passages.nearest(f"Vessel number {n} carries salt.")
    assert time.process_time() - began < 20


def test_words_that_carry_meaning():
    assert content_words("The three boats") == {"3", "boats"} == content_words("3 boats!")
    assert content_words("It is the") == {"it", "is", "the"}, "where none carries meaning all count"
    assert covered("The red boat", "a boat, red") == 1.0
    assert covered("red boat boat", "boat") == 2 / 3
    assert covered("", "boat") == 0.0


def test_the_nearest_sentence_and_the_share_of_words_in_it():
    text = "The harbour is old. The ferry leaves from pier 7 at night. Dogs are welcome."
    span, share = Passages(text).nearest_span("The night ferry leaves at ten.")
    assert text[span.start : span.end] == "The ferry leaves from pier 7 at night."
    assert 0.5 <= share < 1
    assert Passages(text).nearest_span("Cats sleep.") is None
    assert Passages("").nearest_span("Cats sleep.") is None


RATES = "\n".join(
    [
        "Daily allowance, full day / arrival day:",
        "| Country | Full day | Arrival day |",
        "|---|---|---|",
        *(f"| Land{at} | {at} | {at + 1} |" for at in range(30)),
        "| Norway | 75 | 50 |",
        "Trips of less than 8 hours give no allowance.",
    ]
)


def test_the_head_of_a_table_is_not_evidence_if_a_row_is():
    claim = "The full day allowance is 75 in Norway on a full arrival day."
    span, _ = Passages(RATES).nearest_span(claim, evidence=True)
    assert RATES[span.start : span.end] == "| Norway | 75 | 50 |"
    bare = RATES.replace("|---|---|---|\n", "")
    span, _ = Passages(bare).nearest_span("A full day in this country is 75.", evidence=True)
    assert bare[span.start : span.end] == "| Norway | 75 | 50 |", "a table without a line under its head"
    head = "| Country | Full day |\n|---|---|\n| 1 | 2 |"
    span, _ = Passages(head).nearest_span("country", evidence=True)
    assert head[span.start : span.end].startswith("| Country")
    assert Passages("").nearest_span("country", evidence=True) is None
