"""Words of quantities: numbers, units with their factors, and phrases that bound or blur a quantity."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

_ANY = frozenset({"any"})


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


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


# dimension: factor of the base unit, then the names; "~" before a factor: the unit has no exact size.
_TABLE = {
    "length": """1/1000000 um micrometre|1/1000 mm millimetre|1/100 cm centimetre|1 m metre|1000 km kilometre
        |0.0254 inch inches|0.3048 ft foot feet|0.9144 yd yard|1609.344 mi mile|1852 nmi nautical-mile""",
    "mass": """1/1000000000 mcg microgram|1/1000000 mg milligram|1/1000 g gram gramme|1 kg kilogram kilo|1000 t tonne
        |~907.18474 ton|0.45359237 lb lbs|0.028349523125 oz ounce""",
    "volume": """1/1000 ml millilitre|1/100 cl centilitre|1/10 dl decilitre|1 l litre|1000 cubic-metre
        |~3.785411784 gal gallon|~0.473176473 pint|0.0295735295625 fluid-ounce fl-oz""",
    "area": "1 m2 sqm square-metre|1000000 km2 square-kilometre|10000 ha hectare|0.09290304 ft2 sqft square-foot square-feet",
    "time": """1/1000 ms millisecond msec|1 s sec second|60 min minute|3600 h hr hour|86400 day|604800 week|~2629800 month
        |~31557600 year yr|~315576000 decade|~3155760000 century centuries""",
    "data": """1/8 bit|1 byte|~1000 kb kilobyte|~1000000 mb megabyte|~1000000000 gb gigabyte|~1000000000000 tb terabyte
        |1024 kib kibibyte|1048576 mib mebibyte|1073741824 gib gibibyte|1099511627776 tib tebibyte""",
    "bit rate": "1 kbit|1000 mbit|1000000 gbit",
    "power": "1 w watt|1000 kw kilowatt|1000000 mw megawatt|1000000000 gw gigawatt",
    "energy": "1 wh watt-hour|1000 kwh kilowatt-hour|1000000 mwh megawatt-hour",
    "pressure": "1 kpa kilopascal|1000 mpa|100 bar|1/10 mbar millibar hpa hectopascal|6.894757 psi",
    "angle": "1 degree °",
    "share": "1/100 % percent percents pct",
    "pounds": "1 pound",
}
_CURRENCIES = {
    "usd": "usd us-dollar american-dollar us$", "eur": "eur euro €", "gbp": "gbp £ pound-sterling pounds-sterling quid",
    "jpy": "jpy yen ¥", "chf": "chf franc swiss-franc", "crown": "crown kroner krona sek nok dkk", "inr": "inr rupee ₹",
    "cny": "cny yuan rmb",
}  # fmt: skip
_SOME_DOLLAR = frozenset({"usd", "cad", "aud"})


def _units() -> dict[str, Unit]:
    units = {}
    for dimension, rows in _TABLE.items():
        for row in rows.split("|"):
            factor, *names = row.split()
            band = Fraction(1, 100)
            if factor.startswith("~"):
                band = Fraction(25, 100) if dimension in ("volume", "mass") else Fraction(12, 100)
            for name in names:
                units[name.replace("-", " ")] = Unit(dimension, Fraction(factor.lstrip("~")), band=band)
    for code, row in _CURRENCIES.items():
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
CURRENCY_SIGNS = _words("$€£¥₹")
_ONES = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
SMALL = {word: number for number, word in enumerate(_ONES.split())}
SMALL |= {word: 10 * number for number, word in enumerate(_TENS.split(), start=2)}
SCALES = {
    "hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "bn": 10**9, "trillion": 10**12, "dozen": 12,
}  # fmt: skip
FRACTIONS = {
    "half": 2, "halves": 2, "third": 3, "quarter": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10, "twentieth": 20, "hundredth": 100,
}  # fmt: skip
FRACTIONS |= {f"{word}s": parts for word, parts in FRACTIONS.items() if word not in ("half", "halves")}
MONTHS = _words("""january february march april may june july august september october november december jan feb mar apr jun jul aug sep
    sept oct nov dec""")
PERIODS = {"perannum": "year", "daily": "day", "weekly": "week", "monthly": "month", "hourly": "hour"}
PARTS_OF_DAY = {"morning": 0, "afternoon": 1, "evening": 1}
# Marks in place of phrases, longest phrases first.
PHRASES = (
    ("percent", ("per cent", "pct")),
    ("mile per hour", ("mph",)),
    ("km per hour", ("kmh", "kph")),
    ("perannum", ("per annum", r"p\.a\.", "yearly", "annually")),
    ("am", (r"a\.m\.", r"a\.m")),
    ("pm", (r"p\.m\.", r"p\.m")),
    ("approxbelow", (
        r"(?:just|slightly|a little|a bit|somewhat) (?:under|less than|below|short of)", "not quite", "nearly", "almost",
    )),
    ("approxabove", (r"(?:just|slightly|a little|a bit|somewhat) (?:over|more than|above)",)),
    ("approx", (
        "close to", "just about", "about", "roughly", "around", "approximately", "approx", "circa", "or so",
        "more or less", "in the region of",
    )),
    ("atmost", (
        "at most", "at the most", "up to", "(?:no|not) more than", "(?:no|not) later than", "within", "at the latest",
        "or less", "or fewer", "as much as", "inside", "maximum", "max", "no longer than", "no higher than",
    )),
    ("atleast", (
        "at least", "at the least", "(?:no|not) (?:less|fewer) than", "or more", "minimum", "min of", "or longer",
        "no earlier than", "at the earliest",
    )),
)  # fmt: skip
BOUNDS = frozenset({"atmost", "atleast"})
# With one of these words a text says something else than the bare quantity.
BLOCKING = _words("""not no never none nor neither except excluding excludes without than under over below above less more fewer beyond
    exceed exceeds exceeding or between but unless minus plus down off instead rather extra additional another double triple
    twofold threefold cannot isn aren wasn weren doesn don didn won couldn wouldn shouldn hasn haven t if only
    other others apart besides former formerly previously originally used wrong false pi radians nearest
    ranging range versus vs ratio squared cubed version chapter page section room gate number good working business""")
NOT_IN_REFERENCE = _words("before after ahead prior ago later earlier since until till from and old")
GROUPS = _words("pair pairs pack packs box boxes set sets crate crates block blocks batch batches couple score")
# An answer with only these other words says no more than its quantity.
HARMLESS = _words("""you your we they them their there i that this these those he she has have had be been are were was will would can could
    may must should shall s ll ve re d get gets got give gives pay pays paid cost costs costing charge charges charged price fee
    need needs take takes taken last lasts lasted long wide tall high deep heavy weigh weighs big total all altogether exact
    precise answer value amount amounts come comes came to stands stood up once us mark apart so yes set defaults default
    people persons as out old time o clock sharp which""")
STOP = _words("the a an of in at by it is it's for on with exactly precisely just")
