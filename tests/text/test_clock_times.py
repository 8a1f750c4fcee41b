"""Equal times of day in other spellings."""

import pytest

from ragstone.text.answer_words import compare_answer
from ragstone.text.claim_numbers import check_numbers
from ragstone.text.clock_times import with_numbered_periods, with_times_of

EQUAL = [
    ("13:00", "1 pm"),
    ("13:00", "1pm"),
    ("13:00", "1 p.m."),
    ("13:00", "13.00 Uhr"),
    ("13.00 Uhr", "1 PM"),
    ("13:30", "1:30 pm"),
    ("13:30", "1.30 pm"),
    ("1:30 pm", "13:30"),
    ("12:00", "noon"),
    ("noon", "12:00"),
    ("12 pm", "midday"),
    ("0:00", "midnight"),
    ("24:00", "midnight"),
    ("midnight", "12 am"),
    ("9:00", "9 a.m."),
]
OTHER = [
    ("13:00", "1 am"),
    ("13.00 Uhr", "1 am"),
    ("13:00", "1:00 am"),
    ("1 pm", "2 pm"),
    ("13:00", "2 p.m."),
    ("12:00", "midnight"),
    ("12:00", "0:00"),
    ("noon", "midnight"),
]


@pytest.mark.parametrize(("text", "claim"), EQUAL)
def test_an_equal_time_is_spelled_as_in_the_text_and_not_refused(text, claim):
    said, written = f"The desk opens at {claim} on weekdays.", f"On weekdays, the desk opens at {text} sharp."
    assert with_times_of(said, written) == f"The desk opens at {text} on weekdays."
    assert check_numbers(said, [written]) is None


@pytest.mark.parametrize(("text", "claim"), OTHER)
def test_another_time_stays_and_is_refused(text, claim):
    said, written = f"The desk opens at {claim} on weekdays.", f"On weekdays, the desk opens at {text} sharp."
    assert with_times_of(said, written) == said
    assert check_numbers(said, [written])


def test_the_parts_of_a_time_are_not_numbers_of_their_own():
    assert check_numbers("Open from 12:00 to 15:00.", ["Open from 12:30 to 15:00."])
    assert check_numbers("It opens at midnight and closes at 18:00.", ["It opens at noon and closes at 18:00."])
    assert check_numbers("It opens 20 minutes after 13:00, at 13:20.", ["It opens 20 minutes after 13:00."]) is None


def test_other_numbers_and_times_in_the_same_spelling_stay():
    for text in ("Version 13.00 costs £1.30.", "I am 1 person.", "10:30:15", "at 1 pm, not at 13:00", "3.1 pm"):
        assert with_times_of(text, "at 13:00 or 1 pm and 10:30") == text


@pytest.mark.parametrize(
    ("text", "numbered"),
    [
        ("Emptied every second Tuesday.", "Emptied every 2 weeks on Tuesday."),
        ("every other Monday", "every 2 weeks on Monday"),
        ("Fortnightly, or every fortnight", "every 2 weeks, or every 2 weeks"),
        ("every other day, every second month", "every 2 days, every 2 months"),
        ("Every second counts.", "Every second counts."),
        ("the second Tuesday of every month", "the second Tuesday of every month"),
    ],
)
def test_periods_of_two_have_their_number(text, numbered):
    assert with_numbered_periods(text) == numbered


def test_every_second_tuesday_is_every_two_weeks_and_not_every_three():
    text, said = "The bin is emptied every second Tuesday.", "The bin is emptied on Tuesday, every {} weeks."
    assert check_numbers(said.format("two"), [text]) is None
    assert check_numbers(said.format("three"), [text])
    assert compare_answer("When is the bin emptied?", said.format("three"), text) is False
    assert compare_answer("When is the bin emptied?", said.format("two"), text) is not False
    assert compare_answer("When is the bin emptied?", text, said.format("2")) is not False
