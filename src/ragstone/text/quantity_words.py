"""Words of quantities: numbers, units with their factors, and phrases that bound or blur a quantity."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ragstone.text.lexicon import lexicon, number_words, word_set

_ANY = frozenset({"any"})


@dataclass(frozen=True)
class Unit:
    """A unit of a dimension; `band` is how far a value in another unit may be off before it is clearly another."""

    dimension: str
    factor: Fraction
    offset: Fraction = Fraction(0)
    band: Fraction = Fraction(1, 100)
    currencies: frozenset[str] = _ANY

    def base(self, value: Fraction) -> Fraction:
        """A value in the base unit of the dimension."""
        return (value + self.offset) * self.factor

    def span(self, step: Fraction) -> Fraction:
        """A difference in the base unit of the dimension."""
        return step * self.factor


_LISTS = lexicon("quantity_words")
_SOME_DOLLAR = frozenset({"usd", "cad", "aud"})


def _units() -> dict[str, Unit]:
    units = {}
    for dimension, rows in _LISTS["units"].items():
        for row in rows.split("|"):
            factor, *names = row.split()
            band = Fraction(1, 100)
            if factor.startswith("~"):
                band = Fraction(25, 100) if dimension in ("volume", "mass") else Fraction(12, 100)
            for name in names:
                units[name.replace("-", " ")] = Unit(dimension, Fraction(factor.lstrip("~")), band=band)
    for code, row in _LISTS["currencies"].items():
        unit = Unit("money", Fraction(1), currencies=frozenset({code}))
        units.update({name.replace("-", " "): unit for name in row.split()})
    units.update(dict.fromkeys(("$", "dollar", "buck"), Unit("money", Fraction(1), currencies=_SOME_DOLLAR)))
    units["cent"] = Unit("money", Fraction(1, 100), currencies=_SOME_DOLLAR | {"eur"})
    units["us cent"] = Unit("money", Fraction(1, 100), currencies=frozenset({"usd"}))
    units["pence"] = units["penny"] = Unit("money", Fraction(1, 100), currencies=frozenset({"gbp"}))
    celsius = Unit("temperature", Fraction(1))
    fahrenheit = Unit("temperature", Fraction(5, 9), Fraction(-32))
    units.update(dict.fromkeys(("° c", "degree celsius", "degree centigrade", "celsius"), celsius))
    units.update(dict.fromkeys(("° f", "degree fahrenheit", "fahrenheit"), fahrenheit))
    for name in list(units):
        first, _, rest = name.partition(" ")
        forms = {name.replace("metre", "meter").replace("litre", "liter"), name}
        if len(first) > 2 and (first == "degree" or not rest):
            forms |= {" ".join([form.split()[0] + "s", *form.split()[1:]]) for form in tuple(forms)}
        elif rest:
            forms |= {form + "s" for form in tuple(forms)}
        units.update({form: units[name] for form in forms if form not in units})
    return units


UNITS = _units()
SMALL = number_words()
SCALES = {
    "hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "bn": 10**9, "trillion": 10**12, "dozen": 12,
}  # fmt: skip
FRACTIONS = {
    "half": 2, "halves": 2, "third": 3, "quarter": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10, "twentieth": 20, "hundredth": 100,
}  # fmt: skip
ORDINALS = {word: number for number, word in enumerate(lexicon("numbers")["ordinals"].split(), start=1)}
FRACTIONS |= {f"{word}s": parts for word, parts in FRACTIONS.items() if word not in ("half", "halves")}
PERIODS = {"perannum": "year", "daily": "day", "weekly": "week", "monthly": "month", "hourly": "hour"}
PARTS_OF_DAY = {"morning": 0, "afternoon": 1, "evening": 1}
# Marks in place of phrases, longest phrases first.
PHRASES = tuple(_LISTS["phrases"].items())
BOUNDS = frozenset({"atmost", "atleast"})
_NAMES = ("months", "blocking", "not_in_reference", "groups", "harmless", "stop")
MONTHS, BLOCKING, NOT_IN_REFERENCE, GROUPS, HARMLESS, STOP = (word_set(_LISTS[name]) for name in _NAMES)
