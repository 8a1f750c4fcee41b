"""The words that differ decide whether an answer is that of the reference; otherwise it is unknown."""

import pytest

from ragstone.text.answer_words import compare_answer
from tests.each_case import each_case

BOAT = "When does the boat leave?"


@each_case(
    "question, answer, reference, same",
    [
        (BOAT, "The last boat leaves at 21:10.", "21:10", True),
        (BOAT, "The last boat leaves at 21:15.", "21:10", False),
        (BOAT, "The boat leaves at ten.", "The boat leaves at nine.", False),
        (BOAT, "Departure is at nine.", "The boat leaves at nine.", True),
        (BOAT, "It leaves late.", "at 21:10", False),
        (BOAT, "It leaves at 2 pm", "The boat leaves at 14:00", True),
        (BOAT, "It leaves at 3 am", "The boat leaves at 15:00", False),
        (BOAT, "half past nine", "The boat leaves at 9:30", None),
        (BOAT, "at 5:30 from the old mill", "At 5.30, from the old mill", True),
        (BOAT, "half an hour ahead, that is 30 minutes", "At least 20 minutes before departure", False),
        ("How many?", "Twelve", "12 passengers", True),
        ("How many?", "Up to three devices can be connected at once.", "At most three", True),
        ("How many?", "Guests bring three dogs or fewer.", "Guests bring no more than three dogs.", True),
        ("How many?", "Guests bring less than three dogs.", "Guests bring up to three dogs.", None),
        ("How many?", "Guests bring at least three dogs.", "Guests bring up to three dogs.", None),
        ("Where?", "Outside, in up to 3 sheds", "Inside the shed, in at most 3 sheds", None),
        ("How much?", "It costs twenty-five crowns", "25 crowns", True),
        ("How much?", "The fee for a day is 1200 crowns", "The fee for one day is 1,200 crowns", None),
        ("How much a day?", "1200 crowns", "1,200 crowns", True),
        ("How many?", "There are two hundred seats in the hall", "The hall has 200 seats", None),
        ("How long?", "Return it within 7 days of the purchase", "Within a week of the purchase", None),
        ("How long?", "The glue dries for two days", "The glue dries for two hours", False),
        ("How much is paid back?", "All of it", "100 percent", None),
        ("On which day is there no boat?", "There is no boat on Tuesday.", "Tuesday", True),
        ("On which day is there no boat?", "Tuesday", "There is no boat on Tuesday.", True),
        ("On which day is there no boat?", "There is a boat on Tuesday.", "There is no boat on Tuesday.", None),
        ("Are dogs allowed?", "Dogs aren't allowed.", "Dogs are allowed.", False),
        ("Are dogs allowed?", "No", "Yes, on deck", False),
        ("Are dogs allowed?", "Yes", "Dogs are allowed.", None),
        ("Does the north or the south pier open?", "The south pier", "the north pier", None),
        ("Who founded it?", "It was founded by Jonas Aldous.", "It was founded by Peter Aldous.", False),
        ("Who founded it?", "A widow from Utrecht", "Marta Ellingrove", None),
        ("Who won?", "Anna beat Berta in the final", "Berta beat Anna in the final", None),
        ("What happens to the fee?", "The fee is refunded.", "The fee is reimbursed.", None),
        ("Who may enter?", "People with a card in April", "You may enter with a card", None),
        ("Wem?", "Das Auto gehört Herrn Maier", "Der Wagen gehört Herrn Maier", None),
        ("Wann?", "Der Kurs beginnt um 10 Uhr.", "Der Kurs beginnt um neun Uhr.", False),
        ("Wann?", "Um 9 Uhr", "um neun Uhr", True),
        ("Wie viel?", "1,5 Liter pro Tag", "1.5 Liter pro Tag", True),
        ("Quand ?", "Le bateau part le mardi", "Le bateau part le jeudi", False),
        ("¿Se permiten perros?", "Los perros no se permiten", "Los perros se permiten", False),
        ("何时开船？", "船十点开", "船九点开", None),
        ("Когда?", "Лодка отходит в десять", "Лодка отходит в девять", None),
        ("How big?", "0.5", "0.50", True),
        ("How long?", "The bus ride over the bridge is 110 minutes.", "The bus takes 1 hour 50 minutes.", None),
        ("How long?", "The bus ride over the bridge is 1 h 50.", "The bus takes 1 hour 50 minutes.", None),
        ("How long?", "The bus ride over the bridge is 120 minutes.", "The bus takes 1 hour 50 minutes.", False),
        ("How long?", "The ride is 110 minutes on Monday.", "The bus takes 1 hour 50 minutes on Tuesday.", False),
        ("From which sum?", "Delivery is free above £90.", "Above £90 (since 1 March 2025)", None),
        ("From which sum?", "Delivery is free above £60.", "Above £90 (since 1 March 2025)", False),
        ("From which sum?", "Delivery is free.", "Above £90 (since 1 March 2025)", False),
        ("q", "", "", None),
        ("q", "..", "!!", None),
    ],
)
def test_the_words_that_differ_decide(question, answer, reference, same):
    assert compare_answer(question, answer, reference) is same


@pytest.mark.parametrize("text", ["The boat leaves at nine.", "Mardi", "12 passengers", "船九点开", "Nicht am Montag"])
def test_the_same_words_are_the_same(text):
    assert compare_answer("Which one?", text, text) is True


def test_a_fact_may_say_more_than_was_asked_for():
    fact = "From Orlsay the first boat leaves at 06:20 and the last at 21:10."
    assert compare_answer("When does the last boat leave?", "21:10", fact) is False
    assert compare_answer("When does the last boat leave?", "21:10", fact, whole=False) is None
    assert compare_answer("When does the last boat leave?", "At 22:10", fact, whole=False) is False
