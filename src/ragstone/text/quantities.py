"""Compare two short texts that are quantities: "1,200 m" and "1.2 kilometres", "2 pm" and "14:00", "80 %" and "four fifths".

The rule reads one quantity from each text with exact fractions. It answers None wherever it is not sure: two quantities in
a text, dates, versions and ids, negations, comparisons, other dimensions, and values that differ no more than units do.
"""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

from ragstone.text.quantity_reader import NotReadError, Quantity, Reading, read_quantity
from ragstone.text.quantity_words import BOUNDS, GROUPS, HARMLESS, NOT_IN_REFERENCE, UNITS

_LONGEST = 160
_MOST_WORDS = 14
# One and a half, or in other countries fifteen hundred.
_AMBIGUOUS = re.compile(r"(?<![\d.,])[1-9]\d{0,2}\.\d{3}(?![\d])")


def compare_quantities(reference: str, answer: str) -> bool | None:
    """Whether the answer gives the quantity of the reference; None if the rule does not apply."""
    if len(reference) > _LONGEST or len(answer) > _LONGEST or len(answer.split()) > _MOST_WORDS:
        return None
    try:
        known, said = read_quantity(reference, at_start=True), read_quantity(answer)
    except NotReadError:
        return None
    right, other = known.quantity, said.quantity
    if len(known.words) > 1 or known.words & NOT_IN_REFERENCE:
        return None
    if right.unit.dimension == "count" and right.value.denominator > 1:
        return None  # may be a version
    if said.marks & BOUNDS - known.marks or ("every" in known.marks) != ("every" in said.marks):
        return None
    if right.unit.dimension == other.unit.dimension == "clock":
        same = _same_time(right, other)
    else:
        pair = _same_dimension(right, other)
        same = _same_value(known, said, *pair) if pair else None
    if same is False and (_AMBIGUOUS.search(reference) or _AMBIGUOUS.search(answer)):
        return None
    # Other words may turn a right number into a wrong answer: "prices rose by 5 %".
    return None if same and said.words - known.words - HARMLESS else same


def _same_time(right: Quantity, other: Quantity) -> bool | None:
    if (right.value - other.value) % 720:
        return False
    if right.sure and other.sure:
        return right.value == other.value
    # A bare "8:45" is in the morning or unknown, never surely in the evening.
    return True if right.value == other.value and not right.sure else None


def _same_dimension(right: Quantity, other: Quantity) -> tuple[Quantity, Quantity] | None:
    """Both in comparable units, or None: "pounds" are money next to money and a mass next to a mass."""
    units = {right.unit.dimension, other.unit.dimension}
    if units == {"pounds", "mass"}:
        pound = UNITS["lb"]
        right, other = (replace(one, unit=pound) if one.unit.dimension == "pounds" else one for one in (right, other))
    elif "pounds" in units and units <= {"pounds", "money"}:
        gbp = UNITS["gbp"]
        right, other = (replace(one, unit=gbp) if one.unit.dimension == "pounds" else one for one in (right, other))
    elif len(units) > 1:
        return None
    if right.noun and other.noun and right.noun.rstrip("s") != other.noun.rstrip("s"):
        return None
    return (right, other) if not {right.noun, other.noun} & GROUPS else None


def _same_value(known: Reading, said: Reading, right: Quantity, other: Quantity) -> bool | None:
    value, given = right.unit.base(right.value), other.unit.base(other.value)
    equal, off = value == given, abs(value - given) / (abs(value) or 1)
    if not right.unit.currencies & other.unit.currencies:
        return False if equal else None  # another currency
    if right.per != other.per:
        # The question may name the period, so only two periods contradict each other.
        periods = right.per.startswith("time") and other.per.startswith("time")
        return (True if not other.per else False if periods else None) if equal else None
    if equal:
        return said.marks.isdisjoint({"approxbelow", "approxabove"}) or None
    if right.unit.dimension == "count" and given in (value * 1000, value * 10**6, value * 10**9):
        return None  # the question may ask for millions
    if right.bare and other.bare and 1000 <= value <= 2100:
        return None if said.marks & BOUNDS or "approx" in said.marks else False
    marks = {mark for mark in said.marks if mark.startswith("approx")}
    if not marks:
        band = Fraction(5, 100) if "approx" in known.marks else max(right.unit.band, other.unit.band)
        near = right.unit != other.unit or "approx" in known.marks
        return None if near and off <= band else False
    if ("approxbelow" in marks and given < value) or ("approxabove" in marks and given > value):
        return False if right.unit == other.unit else None
    if right.unit.dimension == "temperature" and abs(value - given) <= 2:
        return None  # near zero, relative differences are meaningless
    rounded = abs(value - given) <= other.unit.span(other.step) / 2
    if off <= Fraction(5, 100):
        return True if rounded or off <= Fraction(1, 100) else None
    return None if rounded and off <= Fraction(15, 100) else False
