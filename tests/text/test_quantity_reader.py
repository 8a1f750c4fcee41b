"""All quantities of a longer text."""

from fractions import Fraction

from ragstone.text.quantity_reader import scan_quantities


def test_numbers_of_any_notation_are_found():
    _, mentions = scan_quantities(
        "It costs £90 per night, from 5 to 10 days, on 12.03.2025, on the 3rd floor, 1,5 km away."
    )
    found = {mention.words: mention.readings[0] for mention in mentions}
    assert found["£90 per night"].unit.dimension == "money"
    assert found["10 days"].unit.dimension == "time"
    assert found["1,5"].value == Fraction(3, 2)
    assert [mention.words for mention in mentions if mention.is_ordinal] == ["3"]
    assert [part.value for mention in mentions for part in mention.parts] == [12, 3, 2025]
