"""Plain Python values."""

from decimal import Decimal

import numpy as np
import pytest

from ragstone.formats.values import kind_of, lift, plain, shown


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float32(0.5), 0.5),
        (np.array([1, 2]), [1, 2]),
        (Decimal("1.5"), 1.5),
        (float("nan"), None),
        (np.float64("nan"), None),
        ("text", "text"),
    ],
)
def test_plain(value, expected):
    assert plain(value) == expected


def test_names_of_kinds():
    assert [kind_of(value) for value in ("a", 1, 0.5, True, [], {}, None)] == [
        *("text", "a number", "a number", "true/false", "a list", "a mapping", "nothing")
    ]


def test_long_values_are_shortened():
    assert shown("a") == "'a'"
    assert len(shown("a" * 1000)) == 61


def test_a_name_with_a_dot_wins_over_a_part():
    row = {"retrieval": {"hits": ["a"]}, "retrieval.hits": ["b"]}
    assert lift(row, "retrieval.hits") == row
    assert lift({"a": {"b": {"c": 1}, "b.c": 2}}, "a.b.c") == {"a": {"b": {"c": 1}}, "a.b.c": 2}


def test_a_lifted_part_leaves_its_mapping():
    assert lift({"a": {"b": {"c": 1}, "d": 2}}, "a.b.c") == {"a": {"d": 2}, "a.b.c": 1}
    assert lift({"a": {"b": None}}, "a.b") == {"a.b": None}
    assert lift({"a": 1}, "a.b") == {"a": 1}
