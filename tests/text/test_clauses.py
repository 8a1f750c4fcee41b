"""Sentences as clauses that are complete by themselves."""

import pytest

from ragstone.text.clauses import clauses, is_sentence


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The fare is 5; children pay half.", ["The fare is 5; children pay half."]),
        ("The fare is 5; the child fare is 3.", ["The fare is 5.", "The child fare is 3."]),
        ("Fit the key and turn it to the left.", ["Fit the key.", "Turn it to the left."]),
        (
            "Each change is logged and the person gets an e-mail.",
            ["Each change is logged.", "The person gets an e-mail."],
        ),
        ("The fee is 5, and if you are late, it is 8.", ["The fee is 5.", "If you are late, it is 8."]),
        ("The Hesk is a ferry and has two decks.", ["The Hesk is a ferry.", "The Hesk has two decks."]),
    ],
)
def test_complete_clauses_are_split(sentence, expected):
    assert clauses(sentence) == expected


@pytest.mark.parametrize(
    "sentence",
    [
        "If you cancel, the fee is waived, and the deposit is paid back.",
        "The fee is waived, and the deposit is paid back if you cancel.",
        "It is not true that the horn is red, and the light is white.",
        "Passengers who missed the bus and the train are refunded.",
        "The card issued by the bank and the code are needed.",
        "The distance between the tower and the gate is 5 m.",
        "A level applies to one space and is inherited.",
        "The sign says “the horn is red, and the light is white”.",
        "Run `a; it is b` first.",
        "The fare is 5 for adults and 3 for children.",
    ],
)
def test_what_belongs_together_is_not_split(sentence):
    assert clauses(sentence) == [sentence]


@pytest.mark.parametrize(
    ("text", "whole"),
    [("Turn the valve to the left", True), ("The horn is red", True), ("It costs 5 crowns", True), ("on the mole", False),
     ("the red horn", False), ("Ada Moor", False), ("test run", False), ("5 crowns", False)],
)  # fmt: skip
def test_sentences_without_a_final_stop(text, whole):
    assert is_sentence(text) is whole
