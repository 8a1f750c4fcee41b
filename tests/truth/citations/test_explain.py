"""A failed citation is explained by the most similar part of the passages."""

import pytest

from ragstone.truth.citations.check import explain_absence

FERRY = "Tickets cost 4.50 crowns for adults. Children under 6 travel free. Dogs are allowed on deck."


@pytest.mark.parametrize(
    ("citation", "changed", "words"),
    [
        ("children under 16 travel free", True, "a number is changed: 6, 16"),
        ("dogs are not allowed on deck", True, "a negation is changed: not"),
        ("cost tickets 4.50 crowns for adults", True, "another order"),
        ("tickets cost 4.50 crowns for adults and dogs are allowed on deck", True, "joins words"),
        ("children under the age of 6 travel free", False, "Children under 6 travel free"),
        ("the lighthouse keeper retired last winter", False, "not in the passages"),
    ],
)
def test_the_kind_of_difference_is_named(citation, changed, words):
    found, why = explain_absence(citation, [FERRY])
    assert found is changed
    assert words in why


def test_a_long_passage_is_searched_in_parts():
    long = "The ferry leaves the northern pier every morning. " * 600 + FERRY
    assert "16" in explain_absence("children under 16 travel free", [long])[1]


def test_a_long_quotation_is_shortened():
    passage = "The harbour master keeps " + "a very long list of rules and fees " * 5
    why = explain_absence(passage.replace("master", "pilot"), [passage])[1]
    assert why.rstrip("'").endswith("…")
