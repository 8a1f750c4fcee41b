"""Statements that a text contains word for word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.text.verbatim import contains_statement, denies_statement, plain_text, swaps_names

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


def test_a_line_that_starts_in_lower_case_is_a_sentence_of_its_own_after_a_mark_or_a_stop():
    lines = ["For addresses, see ip (7).", "(2) parent id: the id of the parent mount.", "- the horn is red."]
    text = "\n".join(lines)
    assert all(contains_statement(text, line) for line in lines)
    assert contains_statement("“(4) Do not sign the form.”", "(4) Do not sign the form.")
    assert contains_statement("a5 | 5 by 8 inches\nb5 | 6 by 9 inches\n", "a5 | 5 by 8 inches")
    assert contains_statement("Use approx.\nfive litres of oil.", "Use approx. five litres of oil.")
    assert not contains_statement("It is not true that\nthe horn is red.", "The horn is red.")


def test_layout_marks_are_removed():
    text = "# Fees\n> **Note:** see [the list](https://a.b/c)\n- `A` > 5\n2. _B_ stays"
    assert plain_text(text) == "Fees\nNote: see the list\nA > 5\nB stays"
    assert plain_text("Guide > Use > Fees\nIf X > 5") == "Guide, Use, Fees\nIf X > 5"


@given(st.text(max_size=200))
def test_any_text(text):
    assert contains_statement(text, text) in (True, False)


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("The horn is red. The light is white.", "The light is not white."),
        ("- The horn isn't red.", "The horn is red."),
        ("You cannot pay by card.", "You can pay by card."),
        ("Do not put it on the face.", "Put it on the face."),
        ("The shop never opens on Monday, and the bar is shut.", "The shop opens on Monday."),
        ("You do not need a permit.", "You need a permit."),
        ("Dogs will not bark.", "Dogs won't bark. Dogs will bark."),
    ],
)
def test_a_text_denies_the_negation_of_its_sentences(text, claim):
    assert denies_statement(text, claim)
    assert not contains_statement(text, claim)


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("The horn is red.", "The horn is red."),
        ("The horn isn't red.", "The horn is not red."),
        ("The horn is not red.", "The horn is white."),
        ("The following is wrong:\n- The horn is red.", "The horn is not red."),
        ("Is the horn red?", "The horn is not red."),
        ("It is not A but it is B.", "It is A but it is not B."),
        ("The horn is red.", ""),
    ],
)
def test_other_texts_do_not_deny(text, claim):
    assert not denies_statement(text, claim)


@pytest.mark.parametrize(
    ("text", "claim", "swapped"),
    [
        ("It rains. Anna Moor called Bert Lee.", "Anna Lee called Bert Moor.", True),
        ("- Anna called Bert on Monday.", "Bert called Anna on Monday.", True),
        ("The fee rose from 5 to 9 euros.", "The fee rose from 9 to 5 euros.", True),
        ("Anna met Bert.", "Bert met Anna.", False),
        ("Lions, Anna and Bert sleep.", "Lions, Bert and Anna sleep.", False),
        ("The harvest begins in April.", "In April the harvest begins.", False),
        ("He often goes there now.", "He now goes there often.", False),
        ("Anna called Bert.", "Anna called Bert.", False),
    ],
)
def test_two_names_in_each_others_place(text, claim, swapped):
    assert swaps_names(text, claim) is swapped


def test_an_opposite_is_a_negation():
    assert denies_statement("The museum is closed on Mondays. It opens at ten.", "The museum is open on Mondays.")
    assert denies_statement("Dogs are allowed in the hostel.", "Dogs are forbidden in the hostel.")
    assert denies_statement("Rooms come with breakfast.", "Rooms come without breakfast.")
    assert not denies_statement("The museum is not open on Mondays.", "The museum is closed on Mondays.")
    assert not denies_statement("The museum is closed on Mondays.", "The museum is open on Tuesdays.")
