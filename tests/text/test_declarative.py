"""Questions with short answers as statements."""

from __future__ import annotations

import pytest

from ragstone.text.declarative import replace_pronoun, state, states_something

STATED = [
    ("What does one extra day with the tent cost?", "£290.", "One extra day with the tent costs £290."),
    ("How many cars can the ferry carry?", "36", "The ferry can carry 36 cars."),
    ("How many parking spaces are there?", "Four, in the yard.", "There are four parking spaces, in the yard."),
    ("When are new members admitted?", "In June and December.", "New members are admitted in June and December."),
    (
        "When can the solar telescope be used?",
        "Only in the daytime.",
        "The solar telescope can be used only in the daytime.",
    ),
    ("Which glazes are not food safe?", "Copper red.", "Copper red are not food safe."),
    ("Who leads the training?", "Dr Brand", "Dr Brand leads the training."),
    ("At what time does the last boat leave in summer?", "21:10", "The last boat leaves in summer at 21:10."),
    ("Do I have to book a wheel?", "Yes, by e-mail.", "You have to book a wheel by e-mail."),
    ("Can the term of an urn be renewed?", "No", "The term of an urn can not be renewed."),
    ("We need chairs. Is there a discount?", "Yes, 10 %", "There is a discount: 10 %."),
    ("Warum ist der Himmel blau?", "Streuung", None),
    ("What happens if it rains?", "Nothing", None),
    ("", "Nothing", None),
]


@pytest.mark.parametrize(("question", "answer", "stated"), STATED)
def test_statements(question, answer, stated) -> None:
    assert state(question, answer) == stated


def test_pronouns_are_replaced_by_the_subject_of_the_question() -> None:
    question = "How big is the main telescope and who built it?"
    assert replace_pronoun("It was built in Jena.", question) == "The main telescope was built in Jena."
    assert replace_pronoun("They were built in Jena.", question) == "They were built in Jena."
    assert replace_pronoun("It spoils the eyes.", "What happens at night?") == "It spoils the eyes."


def test_what_says_something_alone() -> None:
    assert all(map(states_something, ["The driver waits 20 minutes.", "It spoils the view.", "Wipe it with a sponge."]))
    assert not any(
        map(
            states_something,
            ["300 crowns a year.", "On a short lead.", "Copper red and crater white.", "Only in the daytime."],
        )
    )
