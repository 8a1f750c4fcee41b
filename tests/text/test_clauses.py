"""Sentences as clauses that are complete by themselves."""

import pytest

from ragstone.text.clauses import clauses, is_sentence


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The fare is 5; children pay half.", ["The fare is 5.", "Children pay half."]),
        ("The fare is 5; the child fare is 3.", ["The fare is 5.", "The child fare is 3."]),
        ("Fit the key and turn it to the left.", ["Fit the key.", "Turn it to the left."]),
        (
            "Each change is logged and the person gets an e-mail.",
            ["Each change is logged.", "The person gets an e-mail."],
        ),
        ("The fee is 5, and if you are late, it is 8.", ["The fee is 5.", "If you are late, it is 8."]),
        ("The Hesk is a ferry and has two decks.", ["The Hesk is a ferry.", "The Hesk has two decks."]),
        (
            "The lid is closed, the light is switched on and the pump is started.",
            ["The lid is closed.", "The light is switched on.", "The pump is started."],
        ),
        (
            "Take out the rack, turn the cylinder to the left and lift it out.",
            ["Take out the rack.", "Turn the cylinder to the left and lift it out."],
        ),
        (
            "Residents can register online, and students at the college qualify too.",
            ["Residents can register online.", "Students at the college qualify too."],
        ),
        ("The sauna is closed today; it opens in June.", ["The sauna is closed today.", "The sauna opens in June."]),
        # A condition, a place or a time before the subject is repeated.
        (
            "If the book turns up, Penwick pays the price back but keeps the handling charge.",
            [
                "If the book turns up, Penwick pays the price back.",
                "If the book turns up, Penwick keeps the handling charge.",
            ],
        ),
        (
            "After five years you receive a watch and get two days off.",
            ["After five years you receive a watch.", "After five years you get two days off."],
        ),
        (
            "Porcelain contains kaolin, feldspar and quartz, is white and lets light through.",
            ["Porcelain contains kaolin, feldspar and quartz, is white and lets light through."],
        ),
        (
            "The dentist opens the tooth, removes the nerve with files and rinses the canals.",
            [
                "The dentist opens the tooth.",
                "The dentist removes the nerve with files.",
                "The dentist rinses the canals.",
            ],
        ),
        (
            "The Nile is a river in Africa, stretching over 6,650 km, flowing through Uganda.",
            [
                "The Nile is a river in Africa.",
                "The Nile is a river in Africa, stretching over 6,650 km.",
                "The Nile is a river in Africa, flowing through Uganda.",
            ],
        ),
        # The modal verb is repeated.
        (
            "You can decline two offers in a year and keep your place.",
            ["You can decline two offers in a year.", "You can keep your place."],
        ),
        # A sentence after an abbreviation.
        (
            "The pool is open until 9 pm. Guests under 14 are welcome in the afternoon and must be with an adult.",
            [
                "The pool is open until 9 pm.",
                "Guests under 14 are welcome in the afternoon.",
                "Guests under 14 must be with an adult.",
            ],
        ),
        # A word of one predicate stays with it.
        (
            "The ferry is not faster than the bus and costs 5 crowns more.",
            ["The ferry is not faster than the bus.", "The ferry costs 5 crowns more."],
        ),
        (
            "The class runs from 18:00 to 21:30, costs £65, and includes soap, a locker and a meal.",
            [
                "The class runs from 18:00 to 21:30.",
                "The class costs £65.",
                "The class includes soap.",
                "The class includes a locker.",
                "The class includes a meal.",
            ],
        ),
        # Each item of a list, for verbs that say the same of all of them.
        (
            "The price includes a towel, a locker and an hour in the pool.",
            ["The price includes a towel.", "The price includes a locker.", "The price includes an hour in the pool."],
        ),
        # What adds something: the clause without it, and with it.
        (
            "Alder removes two steps for the first claim, which raises the premium by 12 %.",
            [
                "Alder removes two steps for the first claim.",
                "Alder removes two steps for the first claim, which raises the premium by 12 %.",
            ],
        ),
        (
            "The nursery sells bare-root trees, which are cheaper than potted ones in winter.",
            [
                "The nursery sells bare-root trees.",
                "The nursery sells bare-root trees, which are cheaper than potted ones in winter.",
            ],
        ),
        (
            "The smell comes from chloramines, which form in the water of the pool.",
            ["The smell comes from chloramines.", "Chloramines form in the water of the pool."],
        ),
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
        "If it rains, the tour is cancelled.",
        "The tour is cancelled if it rains or the wind is too strong.",
        "The fee is not 5 crowns but 8 crowns for every adult guest.",
        "Only members of the club may enter the hall and have keys.",
        "At most ten people can join the tour and are given a map.",
        "The ferry is faster than the bus and the train in most months.",
        "The keeper said that the horn is red and has a crack.",
        "According to the guide, the tower is old and has a crack.",
        "Johnson and Johnson has offices in Oslo and Bergen near the sea.",
        "The distance is 3,5 km by foot, or 1,050 m over the hill.",
        "You can pay with a card, a voucher or cash at the desk.",
        "The bill consists of a basic charge, which depends on the meter, and of a price per litre.",
        "The last train ran on 4 September 1965, pulled by the engine Dunlin.",
        "The pool is closed to guests and has no heating when it snows.",
        "The hall is not only cheap to rent but also has a stage.",
        "Fewer than ten members came to the meeting and were given a map.",
        "The cleaning costs between 85 and 120 euros, depending on the time.",
        "Don't make up for it and don't double the dose, just go on.",
        "Hit the emergency stop and give the wheel a minute to come to rest.",
        "Items should be complete and, where possible, in their original box.",
        "Guests may not smoke in the hall of the house and drink wine.",
        "A column computed by a function, such as the date, rewrites the whole table.",
        "Earthenware is fired at a low temperature, stoneware is fired higher and becomes dense.",
        "Because the rock was exposed for only three hours, building took six years.",
        "Keepers take care of deleting, moving and restoring, the latter for a year.",
        "The museum offers guided tours in English, French and German on weekends.",
        "Goods left in the store and sold in May are lost to the owner.",
        "No telescope is needed for this; a chair, a blanket and a dark place will do.",
        "Running costs of 5 euros are due in May and have to be paid in cash.",
        "The museum includes both a garden and a hall with a view.",
        "He was born on 3 May 1903 and died in Oslo, Norway.",
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
