"""A citation holds only where the passage says the same, and then with the passage's own words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from ragstone.text.sentences import sentences
from ragstone.truth.validation import check_citation
from tests.truth.adversarial import (
    CHANGES_MEANING,
    FERRY,
    GERMAN,
    HARMLESS,
    HYPHENS,
    MEDICINE,
    NOTED,
    REPORT,
    TABLE,
    Attempt,
)


def _name(attempt: Attempt) -> str:
    return f"{attempt.what}: {attempt.citation[:40]}"


@pytest.mark.parametrize("attempt", CHANGES_MEANING, ids=_name)
def test_no_citation_that_changes_the_meaning_passes(attempt: Attempt) -> None:
    found = check_citation(attempt.citation, [attempt.passage])
    assert not found.holds, found.text
    assert found.why
    assert (found.passage, found.start, found.end) == (None, None, None)


@pytest.mark.parametrize("attempt", HARMLESS, ids=_name)
def test_what_is_only_spelled_otherwise_is_given_its_true_words(attempt: Attempt) -> None:
    found = check_citation(attempt.citation, ["Another text.", attempt.passage])
    assert found.holds, found.why
    assert found.passage == 1
    assert found.text == attempt.passage[found.start : found.end]
    assert found.verdict == ("stands" if found.text == attempt.citation.strip() else "repaired")


def test_the_set_is_large_enough_to_mean_something() -> None:
    assert len(CHANGES_MEANING) + len(HARMLESS) >= 180
    assert min(Counter(attempt.what for attempt in CHANGES_MEANING).values()) >= 2
    languages = [attempt for attempt in (*CHANGES_MEANING, *HARMLESS) if not attempt.citation.isascii()]
    assert len(languages) >= 30


def test_the_true_span_is_found_to_the_character() -> None:
    found = check_citation("the information desk is open daily", [HYPHENS])
    assert found.text == "The infor-\nmation desk is open daily"
    found = check_citation("(no ferries run on 24 december)", [FERRY])
    assert (found.text, found.verdict) == ("No ferries run on 24 December", "repaired")
    found = check_citation("The Alps stretch for 1,200 km", [NOTED])
    assert found.text == "The Alps[1] stretch for 1,200 km"
    found = check_citation("Verrin 21:40 4.50", [TABLE])
    assert found.text == "Verrin | 21:40 | 4.50"


@pytest.mark.parametrize(
    ("citation", "verdict", "words"),
    [
        ("", "invalid", "no words"),
        ("…", "invalid", "no words"),
        ("children under 16 travel free", "invalid", "a number is changed: 6, 16"),
        ("Dogs are not allowed on deck but not in the saloon", "invalid", "a negation is changed: not"),
        ("children under the age of 6 travel free", "absent", "worded otherwise"),
        ("cost Tickets 4.50 crowns for adults", "invalid", "another order"),
        ("Tickets cost 4.50 crowns for adults and dogs are allowed on deck", "invalid", "joins words"),
        ("ferries run on 24 December", "invalid", "cut off from 'no'"),
        ("Bicycles need no ticket on weekdays", "absent", "do not stand"),
    ],
)
def test_what_does_not_stand_says_why(citation: str, verdict: str, words: str) -> None:
    found = check_citation(citation, [FERRY])
    assert (found.verdict, words in str(found.why)) == (verdict, True), found


def test_a_place_that_says_the_same_counts_whatever_other_places_say() -> None:
    passages = ["It cost 3.5 million.", "5 million people came."]
    found = check_citation("5 million", passages)
    assert (found.verdict, found.passage) == ("stands", 1)


def test_a_fact_may_be_a_part_of_a_sentence() -> None:
    for citation in ("21:40", "pier 3", "children under 6 travel free", "$19 million", "4 March 2018"):
        assert check_citation(citation, [FERRY, REPORT]).verdict == "stands", citation


def test_without_passages_nothing_stands() -> None:
    assert check_citation("pier 3", []).verdict == "absent"
    assert check_citation("pier 3", [""]).verdict == "absent"


def test_no_small_change_within_a_sentence_passes() -> None:
    """Every word left out, every two neighbours swapped, every digit raised by one: what is left is not in the text."""
    tried = 0
    for text in (FERRY, REPORT, MEDICINE, GERMAN):
        for start, end in sentences(text):
            for changed in _small_changes(text[start:end]):
                found = check_citation(changed, [text])
                assert not found.holds, (changed, found.text)
                tried += 1
    assert tried > 300


def _small_changes(sentence: str) -> Iterator[str]:
    words = sentence.split()
    for place in range(1, len(words) - 1):
        yield " ".join([*words[:place], *words[place + 1 :]])
        if words[place] != words[place + 1]:
            yield " ".join([*words[:place], words[place + 1], words[place], *words[place + 2 :]])
    for place, letter in enumerate(sentence):
        if letter.isdigit():
            yield f"{sentence[:place]}{(int(letter) + 1) % 10}{sentence[place + 1 :]}"
