"""Statements that a text contains word for word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.text.verbatim import contains_statement, plain_text

SENTENCES = (
    "The horn is red.",
    "Do not put it on the face, on broken skin or under a plaster.",
    "Refunds are paid within 14 days unless the ticket was used.",
    "Press and hold the button for 5 seconds.",
    "You must not exceed 2.5 ml per day!",
    "Dogs are not allowed on the upper deck.",
    "The fee is €45, and the deposit is €28.",
)
FRAMES = (
    "{}", "- {}", "* {}", "1. {}", "> {}", "**{}**", "“{}”", "  {}  ", "Product 300, Section 4: {}", "# Fees\n\n{}",
    "Help > Claims > Fees\n{}", "The light stands on the mole. {}", "{} Vessels carry salt.", "### Note\n- A tower.\n- {}",
)  # fmt: skip


@given(st.sampled_from(SENTENCES), st.sampled_from(FRAMES))
def test_a_text_that_contains_a_sentence_states_it(sentence, frame):
    text = frame.format(sentence)
    assert contains_statement(text, sentence)
    assert contains_statement(text.upper(), sentence)


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("It is not true that the horn is red.", "The horn is red."),
        ("If it rains, the horn is red.", "The horn is red."),
        ("False: the horn is red.", "The horn is red."),
        ("The following is wrong:\n- The horn is red.", "The horn is red."),
        ("Is the horn red?", "Is the horn red."),
        ("The horn is red and white.", "The horn is red."),
        ("The horn is reddish.", "The horn is red."),
        ("No. 5 says the horn is red.", "The horn is red."),
        ("The horn is red.", "The horn is not red."),
        ("Yes.", "Yes."),
        ("", ""),
        ("The horn is red.", ""),
    ],
)
def test_words_cut_out_of_a_sentence_do_not_count(text, claim):
    assert not contains_statement(text, claim)


def test_a_clause_counts():
    assert contains_statement("The fee is 45, and the deposit is 28.", "The deposit is 28.")
    assert contains_statement("The horn is red. The light is white.", "The light is white. The horn is red.")


def test_layout_marks_are_removed():
    text = "# Fees\n> **Note:** see [the list](https://a.b/c)\n- `A` > 5\n2. _B_ stays"
    assert plain_text(text) == "Fees\nNote: see the list\nA, 5\nB stays"


@given(st.text(max_size=200))
def test_any_text(text):
    assert contains_statement(text, text) in (True, False)
