from fractions import Fraction

import pytest

from ragstone.text.quantity_words import FRACTIONS, ORDINALS, SMALL, UNITS


@pytest.mark.parametrize(
    ("value", "unit", "base"),
    [
        (3, "feet", Fraction("0.9144")),
        (2, "square feet", Fraction("0.18580608")),
        (5, "millilitres", Fraction(1, 200)),
        (5, "milliliter", Fraction(1, 200)),
        (212, "degrees fahrenheit", 100),
        (50, "pence", Fraction(1, 2)),
        (80, "%", Fraction(4, 5)),
    ],
)
def test_units_have_exact_factors_in_all_spellings(value, unit, base):
    assert UNITS[unit].base(Fraction(value)) == base


def test_units_without_an_exact_size_have_a_wider_band():
    assert UNITS["hour"].band < UNITS["month"].band < UNITS["gallon"].band


def test_currencies_that_a_word_leaves_open():
    assert UNITS["$"].currencies & UNITS["usd"].currencies
    assert not UNITS["euro"].currencies & UNITS["usd"].currencies


def test_numbers_in_words():
    assert (SMALL["zero"], SMALL["nineteen"], SMALL["twenty"], SMALL["ninety"], len(SMALL)) == (0, 19, 20, 90, 28)
    assert (ORDINALS["first"], ORDINALS["twentieth"], FRACTIONS["halves"], FRACTIONS["thirds"]) == (1, 20, 2, 3)
