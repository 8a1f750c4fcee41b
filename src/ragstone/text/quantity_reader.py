"""Read the one quantity of a short text with its marks ("about", "at most"), or all quantities of a text of any length."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from ragstone.text.quantity_words import (
    BLOCKING,
    BOUNDS,
    FRACTIONS,
    MONTHS,
    ORDINALS,
    PARTS_OF_DAY,
    PERIODS,
    PHRASES,
    SCALES,
    SMALL,
    STOP,
    UNITS,
    Unit,
)  # fmt: skip

_TOKEN = re.compile(r"(?P<number>\d+(?:[.,]\d+)*)|(?P<word>[a-z]+2?(?!\d))|\S")
_NUMBER = re.compile(r"(?:0|[1-9]\d{0,14}|[1-9]\d{0,2}(?:,\d{3}){1,4})(?:\.\d{1,9})?")
# The rest of a longer number is not read: Python refuses to read one of more than 4,300 digits.
_MOST_DIGITS = 1_000
# Megabits, or megabytes in careless spelling.
_BITS = re.compile(r"\d ?[MGT]b(?![a-zA-Z])")
_HYPHEN = re.compile(r"(?<=[a-z0-9])-(?=[a-z])")
_MINUS = re.compile(r"\bminus (?=(?:\S+ )?\S+ ?(?:°|degrees?\b))")
_PHRASES = [(re.compile(rf"(?<![a-z])(?:{'|'.join(phrases)})(?![a-z])"), f" {mark} ") for mark, phrases in PHRASES]
_MARKS = BOUNDS | {"approx", "approxbelow", "approxabove", "every"}
_SHARE = Unit("share", Fraction(1))
COUNT = Unit("count", Fraction(1))
CLOCK = Unit("clock", Fraction(1))
_SUFFIXES = {"k": 10**3, "m": 10**6, "bn": 10**9}
_NOT_NOUNS = STOP | BLOCKING | _MARKS | PERIODS.keys() | SMALL.keys() | {"per", "each", "and"}
_COMPOUND = ("time", "length", "mass", "money", "pounds")
# The words that a quantity may begin with.
_START = re.compile(r"[a-z]+|[0-9]|[^\sa-z0-9]")
_STARTS = frozenset(
    {"noon", "midday", "midnight", "twice", "half", "quarter", "a", "an", "us", "-", *SMALL, *"0123456789"}
    | {name.split()[0] for name, unit in UNITS.items() if unit.dimension == "money"}
)


class NotReadError(ValueError):
    """The text does not contain exactly one readable quantity."""


@dataclass(frozen=True)
class Quantity:
    """A number with its unit."""

    value: Fraction
    step: Fraction  # the place to which the number is given
    unit: Unit
    per: str = ""
    noun: str = ""
    sure: bool = True  # of a clock time: whether the half of the day is known
    bare: bool = False  # digits without a separator: may be a year


@dataclass(frozen=True)
class Reading:
    """The quantity of a text, marks such as "atmost" and "approx", and the other words."""

    quantity: Quantity
    marks: frozenset[str]
    words: frozenset[str]


@dataclass(frozen=True)
class _Token:
    text: str = ""
    glued: bool = False  # no white space before it
    is_number: bool = False


@dataclass(frozen=True)
class _Number:
    value: Fraction
    step: Fraction
    end: int
    is_fraction: bool = False
    bare: bool = False


def read_quantity(text: str, *, at_start: bool = False) -> Reading:
    """The reading of a text; raises NotReadError if it has no quantity, several, or words that change its meaning.

    With `at_start` also if a word comes before the quantity, which is found out sooner.
    """
    if _BITS.search(text) or (text.isascii() and _STARTS.isdisjoint(_START.findall(text.lower()))):
        raise NotReadError
    return QuantityReader(text).read(at_start=at_start)


class QuantityReader:
    """The tokens of a text and the quantities that begin at them."""

    def __init__(self, text: str) -> None:
        text = unicodedata.normalize("NFKC", text).lower().replace("\u2212", "-").replace("\u2044", "/")
        text = _MINUS.sub("-", _HYPHEN.sub(" ", text.replace("\u2019", "'")))
        for pattern, mark in _PHRASES:
            text = pattern.sub(mark, text)
        self.tokens: list[_Token] = []
        end = 0
        for match in _TOKEN.finditer(text):
            glued = match.start() == end and end > 0
            self.tokens.append(_Token(match.group(), glued, match["number"] is not None))
            end = match.end()

    def _at(self, at: int) -> _Token:
        return self.tokens[at] if 0 <= at < len(self.tokens) else _Token()

    def _word(self, at: int) -> str:
        return self._at(at).text

    def read(self, *, at_start: bool = False) -> Reading:
        """The one quantity, with its marks and other words."""
        quantity: Quantity | None = None
        marks: set[str] = set()
        words: set[str] = set()
        at = 0
        while at < len(self.tokens):
            found = self._quantity(at)
            token = self._at(at)
            word = token.text
            if found:
                if quantity:
                    raise NotReadError
                quantity, at = found
                continue
            at += 1
            if token.is_number or word in BLOCKING:
                raise NotReadError
            if word in "~≈" or word in _MARKS or (word == "some" and self._number(at)):
                marks.add(word if word in _MARKS else "approx")
            elif word.isalpha() and word not in STOP:
                if at_start and quantity is None:
                    raise NotReadError
                words.add(word)
            elif (not word.isalpha() and word not in ".,;:!()'\"-") or (word == "-" and token.glued):
                raise NotReadError
        if quantity is None:
            raise NotReadError
        return Reading(quantity, frozenset(marks), frozenset(words))

    def _quantity(self, at: int) -> tuple[Quantity, int] | None:
        """The quantity that begins at a token, and where it ends."""
        clock = self._clock(at)
        if clock:
            return clock
        if self._word(at) == "twice":
            return self._with_period(Quantity(Fraction(2), Fraction(1), COUNT, noun="times"), at + 1)
        start, sign = at, self._unit(at)
        if sign[0] and sign[0].dimension == "money" and self._at(sign[1]).is_number:
            at = sign[1]
        elif self._at(at) == _Token("-") and (self._at(at + 1).is_number or self._at(at + 1).glued):
            at += 1
        number = self._number(at)
        if number is None:
            unit, end = self._unit(at + 1)
            if self._word(at) not in ("a", "an") or unit is None or len(self._word(at + 1)) < 3:
                return None
            number = _Number(Fraction(1), Fraction(1), at + 1)
        if self._word(start - 1) in MONTHS or self._word(number.end) in MONTHS:
            raise NotReadError
        value, step, end = number.value, number.step, number.end
        if self._word(start) == "-":
            value = -value
        money = sign[0] if at == sign[1] and at > start else None
        suffix = _SUFFIXES.get(self._word(end))
        of_money = money or getattr(self._unit(end + 1)[0], "dimension", "") in ("money", "pounds")
        if suffix and (of_money or self._word(end) != "m") and self._at(end).glued:
            value, step, end = value * suffix, step * suffix, end + 1
        return self._with_unit(replace(number, value=value, step=step, end=end), money)

    def _with_unit(self, number: _Number, money: Unit | None) -> tuple[Quantity, int]:
        value, step, end = number.value, number.step, number.end
        unit, after = self._unit(end)
        if number.is_fraction and unit is None:
            skipped = end + (self._word(end) == "of")
            skipped += self._word(skipped) in ("a", "an", "one")
            unit, after = self._unit(skipped) if skipped > end else (None, end)
        if money and unit and unit.dimension not in ("money", "pounds"):
            raise NotReadError
        unit, end = money or unit, after if unit else end
        if unit is None and self._at(end).glued and (self._word(end).isalpha() or self._word(end) in "/:-+#*_"):
            raise NotReadError  # an id, a date, a ratio, an ordinal
        if unit is None:
            return self._without_unit(number, end)
        while self._word(end) == "and" or self._number(end):
            # "an hour and a half", "8 minutes 20 seconds"
            more = self._number(end + (self._word(end) == "and"))
            smaller, after = self._unit(more.end) if more else (None, end)
            if more and more.is_fraction and smaller is None and self._word(end) == "and":
                value, step, end = value + more.value, more.value, more.end
                continue
            if smaller and unit.dimension == "pounds" and smaller == UNITS["pence"]:
                unit = UNITS["gbp"]
            if (
                more is None
                or smaller is None
                or smaller.dimension != unit.dimension
                or unit.dimension not in _COMPOUND
            ):
                break
            value += more.value * smaller.factor / unit.factor
            step, end = more.step * smaller.factor / unit.factor, after
        return self._with_period(Quantity(value, step, unit), end)

    def _without_unit(self, number: _Number, end: int) -> tuple[Quantity, int]:
        """A share ("one in twenty", "a quarter") or a count with its noun."""
        value, step = number.value, number.step
        joint = 2 if (self._word(end), self._word(end + 1)) == ("out", "of") else self._word(end) in ("in", "of")
        joint += bool(joint) and self._word(end + joint) == "every"
        whole = self._number(end + joint) if joint and not number.is_fraction else None
        if whole and not whole.is_fraction and 0 < value < whole.value and self._unit(whole.end)[0] is None:
            share = value / whole.value
            return Quantity(share, share / 10, _SHARE), whole.end
        if number.is_fraction and value < 1:
            return self._with_period(Quantity(value, value / 10, _SHARE), end)
        word = self._word(end)
        is_noun = word.isalpha() and word not in _NOT_NOUNS
        count = Quantity(value, step, COUNT, noun=word if is_noun else "", bare=number.bare)
        return self._with_period(count, end + is_noun)

    def _with_period(self, quantity: Quantity, end: int) -> tuple[Quantity, int]:
        """The quantity with what it is per: "a day", "per person", "/h"."""
        word = self._word(end)
        if word in PERIODS:
            return replace(quantity, per=_canonical(UNITS[PERIODS[word]])), end + 1
        if word not in ("per", "a", "an", "each", "every", "/") or not self._word(end + 1).isalpha():
            return quantity, end
        unit, after = self._unit(end + 1)
        if unit:
            return replace(quantity, per=_canonical(unit)), after
        return replace(quantity, per=self._word(end + 1)), end + 2

    def _unit(self, at: int) -> tuple[Unit | None, int]:
        """The unit that begins at a token, by its longest name, and where it ends."""
        for size in (2, 1):
            name = " ".join(self._word(at + more) for more in range(size)).strip()
            if self._word(at) == "us" and self._word(at + 1) == "$":
                name = "us$" if size == 2 else ""
            if name in UNITS and (size == 1 or " " in name or name == "us$"):
                return UNITS[name], at + size
        return None, at

    def _number(self, at: int) -> _Number | None:
        """The number that begins at a token: digits or words, with "and a half", scales and fractions."""
        number = self._digits(at) if self._at(at).is_number else self._number_words(at)
        if number is None:
            return None
        value, step, end = number.value, number.step, number.end
        if self._word(end) in FRACTIONS and not number.is_fraction:
            value = value / FRACTIONS[self._word(end)]
            return replace(number, value=value, step=value / 10, end=end + 1, is_fraction=True)
        if self._word(end) == "and" and not number.is_fraction:
            more = self._number_words(end + 1)
            parts = FRACTIONS.get(self._word(more.end)) if more and not more.is_fraction else None
            if more and (parts or more.is_fraction) and more.value / (parts or 1) < 1:
                part = more.value / (parts or 1)
                value, step, end = value + part, part, more.end + (parts is not None)
        while self._word(end) in SCALES:
            scale = SCALES[self._word(end)]
            value, step, end = value * scale, step * scale, end + 1
        return replace(number, value=value, step=step, end=end, bare=number.bare and end == number.end)

    def _digits(self, at: int) -> _Number:
        text, end = self._word(at), at + 1
        previous = self._at(at - 1)
        if self._at(at).glued and previous.text not in "~≈('\"-" and previous.text not in UNITS:
            raise NotReadError
        if self._at(at).glued and previous.text == "-" and previous.glued:
            raise NotReadError
        # Six groups are too many already.
        while len(text) < 20 and text.replace(" ", "").isdigit() and len(text.split()[0]) <= 3 and self._is_group(end):
            text, end = f"{text} {self._word(end)}", end + 1
        plain = text.replace(" ", ",")
        if not _NUMBER.fullmatch(plain):
            raise NotReadError
        if self._word(end) == "/" and self._at(end).glued and self._at(end + 1).is_number:
            return self._slash(plain, end + 1)
        whole, _, decimals = plain.replace(",", "").partition(".")
        zeros = len(whole) - len(whole.rstrip("0"))
        step = Fraction(1, 10 ** len(decimals)) if decimals else Fraction(10**zeros)
        return _Number(Fraction(plain.replace(",", "")), step, end, bare=plain.isdigit())

    def _slash(self, top: str, at: int) -> _Number:
        bottom = self._word(at)
        few = top.isdigit() and bottom.isdigit() and len(top) <= len(bottom) <= 2
        if not few or not 0 < int(top) < int(bottom) <= 20 or self._word(at + 1) == "/":
            raise NotReadError
        value = Fraction(int(top), int(bottom))
        return _Number(value, value / 10, at + 1, is_fraction=True)

    def _is_group(self, at: int) -> bool:
        token = self._at(at)
        return token.is_number and not token.glued and token.text.isdigit() and len(token.text) == 3

    def _number_words(self, at: int) -> _Number | None:
        start, total, current, last = at, 0, 0, 1000
        if self._word(at) == "half":
            return self._half(at + 1)
        if self._word(at) in ("a", "an") and (self._word(at + 1) in SCALES or self._word(at + 1) in FRACTIONS):
            current, at, last = 1, at + 1, 1
        while True:
            word = self._word(at)
            if word == "and" and at > start and self._word(at - 1) in SCALES and self._word(at + 1) in SMALL:
                word, at = self._word(at + 1), at + 1
            small = SMALL.get(word)
            if small is not None and (last >= 100 or (last >= 20 and 0 < small < 10)):
                current, last = current + small, small or 1
            elif word == "hundred" and 0 < current < 100:
                current, last = current * 100, 100
            elif word in SCALES and word != "hundred" and current:
                total, current, last = total + current * SCALES[word], 0, 1000
            else:
                break
            at += 1
        if at == start or (self._word(start) in ("a", "an") and at == start + 1 and self._word(at) not in FRACTIONS):
            return None
        value = total + current
        if self._word(at) == "point" and self._word(at + 1) in SMALL:
            return self._decimals(value, at + 1)
        digits = str(value)
        zeros = len(digits) - len(digits.rstrip("0"))
        return _Number(Fraction(value), Fraction(10**zeros), at)

    def _half(self, at: int) -> _Number:
        if self._word(at) == "a" and self._word(at + 1) in SCALES:
            half = Fraction(SCALES[self._word(at + 1)], 2)
            return _Number(half, half, at + 2)
        return _Number(Fraction(1, 2), Fraction(1, 20), at, is_fraction=True)

    def _decimals(self, value: int, at: int) -> _Number:
        decimals = ""
        while self._word(at) in SMALL and SMALL[self._word(at)] < 10 and len(decimals) < 9:
            decimals, at = decimals + str(SMALL[self._word(at)]), at + 1
        step = Fraction(1, 10 ** len(decimals))
        return _Number(value + Fraction(int(decimals or 0)) * step, step, at)

    def _clock(self, at: int) -> tuple[Quantity, int] | None:
        """A time of day: "14:00", "2 pm", "half past eight", "noon"."""
        word, end, minutes, sure = self._word(at), at + 1, -1, False
        colon = self._word(end) == ":" and self._at(end).glued and self._at(end + 1).glued
        if word in ("noon", "midday", "midnight"):
            minutes, sure = (0 if word == "midnight" else 720), True
        elif self._at(at).is_number and word.isdigit() and len(word) <= 2 and colon and self._at(end + 1).is_number:
            rest, end = self._word(end + 1), end + 2
            longer = self._word(end) == ":" and self._at(end).glued and self._at(end + 1).is_number
            if len(rest) != 2 or not rest.isdigit() or int(rest) > 59 or int(word) > 24 or self._at(at).glued or longer:
                raise NotReadError
            minutes = int(word) * 60 + int(rest)
            sure = int(word) > 12 or word.startswith("0")
        else:
            minutes, end = self._spoken(at)
        half = {"am": 0, "pm": 1}.get(self._word(end))
        if half is not None:
            end += 1
        elif (self._word(end), self._word(end + 1)) == ("in", "the") and self._word(end + 2) in PARTS_OF_DAY:
            half, end = PARTS_OF_DAY[self._word(end + 2)], end + 3
        if minutes < 0 or (half is None and not (sure or colon) and end - at < 3):
            return None
        if half is not None and minutes < 780 and not (sure and minutes >= 720):
            minutes, sure = minutes % 720 + 720 * half, True
        return Quantity(Fraction(minutes % 1440), Fraction(1), CLOCK, sure=sure), end

    def _spoken(self, at: int) -> tuple[int, int]:
        """Minutes of "eight", "half past eight", "a quarter to nine"; -1 if there is no hour."""
        at += self._word(at) in ("a", "an") and self._word(at + 1) == "quarter"
        first = {"half": 30, "quarter": 15}.get(self._word(at), SMALL.get(self._word(at), -1))
        if self._at(at).is_number and self._word(at).isdigit() and len(self._word(at)) <= 2 and not self._at(at).glued:
            first = int(self._word(at))
        joint = self._word(at + 1)
        last = self._word(at + 2)
        hour = SMALL.get(last, int(last) if last.isdecimal() and len(last) <= 2 else -1)
        if joint in ("past", "to") and 0 < first < 60 and 0 < hour <= 12:
            return hour * 60 + (first if joint == "past" else -first), at + 3
        return (first * 60, at + 1) if 0 < first <= 12 and self._word(at) not in ("half", "quarter") else (-1, at)


def _canonical(unit: Unit) -> str:
    return f"{unit.dimension}:{unit.factor}"


_ORDINAL_ENDS = ("st", "nd", "rd", "th")


@dataclass(frozen=True)
class Mention:
    """A quantity in a longer text: its words, the tokens from `start` to `end`, what it may mean, and the numbers in it."""

    words: str
    start: int
    end: int
    readings: tuple[Quantity, ...]
    parts: tuple[Quantity, ...] = ()
    is_ordinal: bool = False


def scan_quantities(text: str) -> tuple[list[str], list[Mention]]:
    """The tokens of a text of any length and all quantities in it."""
    reader = _Scanner(text)
    return [token.text for token in reader.tokens], list(reader.scan())


class _Scanner(QuantityReader):
    def scan(self) -> Iterator[Mention]:
        """All quantities. A number in a date, an id or an unknown notation counts without a unit."""
        at = 0
        while at < len(self.tokens):
            found, ordinal = self._found(at), ORDINALS.get(self._word(at))
            start, at = at, found[1] if found else at + 1
            tokens = self.tokens[start:at]
            numbers = [_plain_numbers(token.text) for token in tokens if token.is_number]
            if found or numbers or ordinal:
                unit = (numbers and self._unit(at)[0]) or COUNT
                values = (numbers or [[Fraction(ordinal or 0)]])[0]
                readings = [found[0]] if found else [Quantity(value, Fraction(1), unit) for value in values]
                if found and found[0].noun and (of := self._unit(at)[0]):
                    readings = [replace(found[0], unit=of, noun="")]  # three further months
                if found and len(numbers) == 1 and found[0].value in values:
                    readings += [replace(readings[0], value=value) for value in values[:2] if value != found[0].value]
                if found and len(tokens) == 2 and tokens[1].text in ORDINALS:
                    readings.append(_count(ORDINALS[tokens[1].text]))  # a third of it, a third time
                shown = tokens[: len(tokens) - (bool(found and found[0].noun) and not tokens[-1].text.endswith("s"))]
                words = "".join(token.text if token.glued else f" {token.text}" for token in shown).strip()
                parts = [_count(value) for values in numbers for value in values[:1]] if len(numbers) > 1 else []
                if len(values) > 2:
                    readings, parts = readings[:1], readings[1:]  # a version or a date
                is_ordinal = not found and (not numbers or (self._at(at).glued and self._word(at) in _ORDINAL_ENDS))
                yield Mention(words, start, at, tuple(readings), tuple(parts), is_ordinal)

    def _found(self, at: int) -> tuple[Quantity, int] | None:
        """The quantity at a token of a longer text, where "5 to 10" is a range and not a time."""
        if not self._at(at).is_number and self._word(at) not in _STARTS:
            return None
        try:
            found = self._quantity(at)
            if found and self._word(at + 1) == "to" and found[0].unit == CLOCK and self._word(at) != "quarter":
                number = self._number(at)
                return (_count(number.value), number.end) if number else None
        except NotReadError:
            return None
        return found


def _count(value: Fraction | int) -> Quantity:
    return Quantity(Fraction(value), Fraction(1), COUNT)


def _plain_numbers(text: str) -> list[Fraction]:
    """The possible values of a number in any country: "1.500" and "1,500" are both, and "12.03.2025" is one number with three parts."""
    text = text[:_MOST_DIGITS].rstrip(".,")
    parts = re.split(r"[.,]", text)
    if len(parts) == 1:
        return [Fraction(text)]
    marks = re.findall(r"[.,]", text)
    joined = [Fraction("".join(parts))] if all(len(part) == 3 for part in parts[1:]) else []
    if marks[-1] not in marks[:-1]:
        joined.append(Fraction(f"{''.join(parts[:-1])}.{parts[-1]}"))
    return joined or [Fraction("".join(parts)), *map(Fraction, parts)]
