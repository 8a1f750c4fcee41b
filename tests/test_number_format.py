"""Values and their intervals have the same decimals, and small ones stay readable."""

import pytest

from ragstone.number_format import (
    interval_text,
    number,
    p_value,
    places_for,
    signed,
    signed_interval,
    with_interval,
)


@pytest.mark.parametrize(
    ("value", "low", "high", "shown"),
    [
        (0.5, 0.4, 0.6, ("0.500", "0.400 – 0.600")),
        (0.00014, 0.0, 0.00041, ("0.000140", "0.000000 – 0.000410")),
        (0.0, 0.0, 0.0004, ("0.000000", "0.000000 – 0.000400")),
        (0.0, 0.0, 0.0, ("0.000", "0.000 – 0.000")),
        (0.05, 0.0, 0.0004, ("0.050", "0.000 – 0.000")),
        (1234.5, 1000.0, 2000.0, ("1234.500", "1000.000 – 2000.000")),
        (-0.004, -0.01, 0.1, ("-0.00400", "-0.01000 – 0.10000")),
        (0.5, None, None, ("0.500", "–")),
        (None, None, None, ("–", "–")),
    ],
)
def test_a_value_and_its_interval_have_the_same_decimals(value, low, high, shown):
    assert with_interval(value, low, high) == shown


def test_small_values_have_more_decimals():
    assert places_for(1.5) == places_for(None) == places_for(0.0) == 3
    assert number(0.000534) == "0.000534"
    assert number(0.000534, 2) == "0.00"
    assert interval_text(0.0004, 0.00061) == "0.000400 – 0.000610"
    assert places_for(0.0001, 0.4) == 3
    assert number(1e-30) == "0.000000000000"


def test_signs_and_p_values():
    assert signed(-0.000012, 6) == "-0.000012"
    assert signed(0.0, 5) == "0.00000"
    assert signed_interval(-0.1, 0.2) == "-0.100 to +0.200"
    assert signed_interval(None, 0.2) == signed(None) == p_value(None) == "–"
    assert (p_value(0.0004), p_value(0.03)) == ("<0.001", "0.030")
