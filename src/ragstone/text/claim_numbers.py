"""Whether texts contain the numbers and technical names of a claim: quantities, times, prices, ordinals, weekdays and months.

A claim with a number that no text contains is not supported. If a text gives another number for the same thing, it
contradicts the claim. The rule returns None if it cannot decide: a number that follows from others (a sum, a count, a
share), a case of a limit ("at 80 cm" where the limit is 75 cm), a bound or a rounded number that fits, and other languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, pairwise
from typing import NamedTuple, TypeVar

from ragstone.text.clock_times import with_numbered_periods
from ragstone.text.languages import foreign_language
from ragstone.text.lexicon import lexicon, word_set
from ragstone.text.overlap import content_stems
from ragstone.text.quantity_reader import COUNT, Mention, Quantity, scan_quantities
from ragstone.text.technical_names import replaced_name

# Smaller counts are often counted: "three kinds" of a list.
_MOST_COUNTED = 12
_MOST_TERMS = 8
_MOST_NUMBERS = 30  # more of them are a list, not a claim
# The share of the words of a claim around another number: above it, 85 % of hard pairs are contradicted.
_SAME_THING = 0.6
_DAYS, _MONTHS = (tuple(lexicon("claim_numbers")[name].split()) for name in ("days", "months"))
_BULLET = re.compile(r"^[ \t]*[-*•–][ \t]+(?=\d)", re.MULTILINE)
_JOINS = re.compile(r"[^.;]{0,12}(?:[-–—]|\b(?:to|until|till|through|thru)\b)[^.;]{0,16}")
_AND = re.compile(r"[^.;]{0,12}\band\b[^.;]{0,16}")
# With one of these words in a text, any weekday or month may be meant.
_ANY_DAY, _ANY_MONTH = (
    re.compile(rf"\b(?:{lexicon('claim_numbers')[name]})\b|\d[-./]\d\d?[-./]\d", re.IGNORECASE)
    for name in ("any_day", "any_month")
)
_LISTS = {name: word_set(words) for name, words in lexicon("claim_numbers").items()}
_APPROX = word_set("approx approxbelow approxabove some")
_UP, _DOWN, _SUPPOSED = _LISTS["up"], _LISTS["down"], _LISTS["supposed"]
_LIMITS = _UP | _DOWN | word_set("than between until till before after from old limit minimum maximum and to – -")
_FAR_UP = Fraction(10**15)
_MOST_ROUGH = 10**12
N = TypeVar("N", Fraction, float)
_STOPS = word_set(", ; : . ( ) ? !")
_COUNTS = {
    "quarterly": 4, "annually": 12, "perannum": 12, "monthly": 12, "both": 2, "twice": 2, "daily": 7,
}  # fmt: skip


class Refusal(NamedTuple):
    """Why texts do not support a claim, and whether they contradict it."""

    reason: str
    contradicted: bool


@dataclass(frozen=True)
class _Text:
    text: str
    words: tuple[str, ...]
    mentions: tuple[Mention, ...]
    is_foreign: bool

    def before(self, mention: Mention, count: int) -> frozenset[str]:
        return frozenset(self.words[max(0, mention.start - count) : mention.start])

    def after(self, mention: Mention, count: int) -> frozenset[str]:
        return frozenset(self.words[mention.end : mention.end + count])


@lru_cache(maxsize=2048)
def _read(text: str) -> _Text:
    words, mentions = scan_quantities(with_numbered_periods(_BULLET.sub("", text)))
    return _Text(text, tuple(words), tuple(mentions), foreign_language(text) is not None)


def check_numbers(claim: str, texts: Sequence[str], known: str = "", context: str = "") -> Refusal | None:
    """The refusal of a claim with a number or technical name that neither the texts nor the known text have, or None.

    Numbers of the context, the sentences around the claim, may be terms of a sum.
    """
    read, given = _read(claim), [_read(text) for text in texts]
    if read.is_foreign or any(text.is_foreign for text in given):
        return None
    asked = _read(known).mentions
    numbers = [*(mention for text in given for mention in text.mentions), *asked]
    near: Sequence[Mention] | None = None
    for mention in read.mentions[:_MOST_NUMBERS]:
        if not _is_stated(mention, read) or _is_given(mention, read, numbers):
            continue
        near = _nearest(read, given) if near is None else near
        beside = sorted(read.mentions, key=lambda other: abs(other.start - mention.start))
        own = [*beside[1 : _MOST_TERMS + 1], *asked[:_MOST_TERMS], *_read(context).mentions[:_MOST_TERMS]]
        own = [other for other in own if other.words != mention.words]
        if _follows(mention, read, own, near):
            continue
        if any(_is_case(mention, read, text) or _fits_bound(mention, read, text) for text in given):
            continue
        shared, other = _in_its_place(mention, read, given)
        if other and shared >= _SAME_THING:
            return Refusal(f"the text says {other.words}, not {mention.words}", contradicted=True)
        if other or not _is_count(mention):
            return Refusal(f"the text does not say {mention.words}", contradicted=False)
    if names := replaced_name(claim, texts, known):
        return Refusal(f"the text says {names[1]}, not {names[0]}", contradicted=False)
    return _check_names(claim, " ".join([*texts, known]))


def stated_numbers(text: str) -> list[Mention]:
    """The numbers that a text states, see `_is_stated`."""
    read = _read(text)
    return [mention for mention in read.mentions[:_MOST_NUMBERS] if _is_stated(mention, read)]


def has_number(text: str, mention: Mention, claim: str) -> bool:
    """Whether a text has a number of a claim."""
    return _is_given(mention, _read(claim), _read(text).mentions)


def same_numbers(one: str, other: str) -> bool:
    """Whether each of two texts states all numbers of the other, in any unit; False if one states none."""
    pairs = [(stated_numbers(text), text, there) for text, there in ((one, other), (other, one))]
    return all(found and all(has_number(there, each, text) for each in found) for found, text, there in pairs)


def has_kind(text: str, mention: Mention) -> bool:
    """Whether a text has a number of the same kind: a price if the other is one."""
    numbers = _read(text).mentions
    return any(_is_kind(a, b) for other in numbers for a in other.readings for b in mention.readings)


class Limits(NamedTuple):
    """From where to where a text goes, in the base unit of a dimension: "over 25 to 50 miles"."""

    low: Fraction
    high: Fraction
    is_open: bool  # the lower limit itself is not inside
    like: Quantity

    def contains(self, mention: Mention) -> bool:
        """Whether a number of the same kind is inside; a year is not among "6 or more persons"."""
        found, few = [one for one in mention.readings[:1] if _is_kind(one, self.like)], self.like.value < 1000
        values = [one.unit.base(one.value) for one in found if not (few and one.bare and 1900 <= one.value <= 2100)]
        return any(self.low <= value <= self.high and not (self.is_open and value == self.low) for value in values)


@lru_cache(maxsize=2048)
def read_limits(text: str) -> Limits | None:
    """The limits that a short text is about; None if it gives no limits."""
    read = _read(text)
    numbers, marks = [mention.readings[0] for mention in read.mentions], frozenset(read.words)
    if not 1 <= len(numbers) <= 2 or any(one.unit not in (COUNT, numbers[-1].unit) for one in numbers):
        return None
    like = numbers[-1]
    values = sorted(like.unit.base(one.value) for one in numbers)
    is_open = not marks.isdisjoint(_UP - {"atleast"}) and "and" not in marks
    if len(values) == 2:
        return Limits(values[0], values[1], is_open, like) if marks & {"to", "until", "–", "-"} else None
    if marks & (_UP | {"from", "+"}):
        return Limits(values[0], _FAR_UP, is_open, like)
    return Limits(-_FAR_UP, values[0], is_open=False, like=like) if marks & _DOWN else None


def counted_things(mention: Mention, text: str) -> frozenset[str]:
    """The stems of the words after a number that only counts something; empty for other numbers."""
    return frozenset(_thing(mention, _read(text))) if _is_count(mention) else frozenset()


def _nearest(read: _Text, texts: Sequence[_Text]) -> list[Mention]:
    """The numbers of the texts that have most words of the claim around them."""
    mine = content_stems(" ".join(read.words))
    ranked = [(_words_shared(other, text, mine), other) for text in texts for other in text.mentions]
    return [other for _, other in sorted(ranked, key=lambda pair: -pair[0])[:_MOST_TERMS]]


def _words_shared(mention: Mention, text: _Text, stems: frozenset[str] | set[str]) -> float:
    """The share of the stems that are near a number."""
    around = content_stems(" ".join(text.words[max(0, mention.start - 12) : mention.end + 12]))
    return len(around & stems) / (len(stems) or 1)


def _is_stated(mention: Mention, read: _Text) -> bool:
    """Not the number of a list item, and not "a day", "one", "first" and "a quarter", which are rarely exact numbers."""
    if mention.start == 0 and read.words[mention.end : mention.end + 1] in ((".",), (")",)):
        return False
    first = mention.readings[0]
    if first.unit.dimension == "share" and not any(letter.isdigit() for letter in mention.words) and first.value < 1:
        return False
    is_measured = first.unit.dimension != "count" and mention.words[:1].isdigit()
    return first.value not in (0, 1) or is_measured or _is_time(mention)


def _is_count(mention: Mention) -> bool:
    most = _MOST_COUNTED if mention.words.replace(" ", "").isalpha() else _MOST_COUNTED // 2
    return all(
        one.unit.dimension == "count" and one.value <= most and one.value.denominator == 1 for one in mention.readings
    )


def _is_given(mention: Mention, read: _Text, numbers: Sequence[Mention]) -> bool:
    """Whether one of the numbers is the same, or all its parts are among them: "3 of 5" and "12.03.2025"."""
    about = bool(_APPROX & (read.before(mention, 4) | read.after(mention, 2)))
    values = _values(numbers)
    if any(_same(one, other, about) for one in mention.readings for other in values):
        return True
    known = {other.value for other in values}
    return bool(mention.parts) and all(part.value in known for part in mention.parts)


def _is_time(mention: Mention) -> bool:
    return mention.readings[0].unit.dimension == "clock"


def _same(one: Quantity, other: Quantity, about: bool) -> bool:
    kinds = {one.unit.dimension, other.unit.dimension}
    if "clock" in kinds:
        return _same_time(one, other)
    if not _is_comparable(one, other):
        return False
    if len(kinds) == 2:
        # A bare number of a table has the unit of its column; "two reminders" are not two minutes.
        if "count" in kinds and (one.noun or other.noun):
            return False
        value, given, band, step = other.value, one.value, Fraction(0), one.step
    else:
        value, given, step = other.unit.base(other.value), one.unit.base(one.value), one.unit.span(one.step)
        band = max(one.unit.band, other.unit.band) if one.unit != other.unit else Fraction(0)
    off, rounded = abs(value - given) / (abs(value) or 1), abs(value - given) <= step / 2
    if about:
        return off <= Fraction(1, 20) or (rounded and off <= Fraction(3, 20))
    return off <= band or (rounded and off <= Fraction(1, 100) and not (one.bare and 1000 <= one.value <= 2100))


def _same_time(one: Quantity, other: Quantity) -> bool:
    """Equal times of day; 9:30 and 9.30, 9 pm and a bare 9 or 21 may be equal. A bare 12:00 is noon."""
    if one.unit == other.unit:
        apart = one.value - other.value
        return apart % 1440 == 0 or (
            apart % 720 == 0 and not all(side.sure or side.value == 720 for side in (one, other))
        )
    clock, number = (one, other) if one.unit.dimension == "clock" else (other, one)
    hours, minutes = divmod(clock.value, 60)
    later = set() if clock.sure and clock.value < 720 else {hours % 12 + 12}
    forms = {hour + minutes / 100 for hour in {hours, hours % 12} | later} | {hours * 100 + minutes}
    return number.unit.dimension == "count" and number.value in forms


def _is_comparable(one: Quantity, other: Quantity) -> bool:
    kinds = {one.unit.dimension, other.unit.dimension}
    if kinds == {"pounds", "money"}:
        return "gbp" in one.unit.currencies | other.unit.currencies
    if len(kinds) == 1:
        return bool(one.unit.currencies & other.unit.currencies)
    return "count" in kinds or kinds in ({"angle", "temperature"}, {"pounds", "mass"}, {"data", "bit rate"})


def _number(one: Quantity, like: Quantity) -> Fraction | None:
    """The number in the unit of another quantity; None if it is of another kind."""
    kind, other = one.unit.dimension, like.unit.dimension
    if kind == "clock" and other == "time":
        return one.value * 60 / like.unit.factor
    if kind == "time" and other == "clock":
        return one.unit.base(one.value) / 60
    if kind == other and kind not in ("clock", "temperature"):
        return one.unit.base(one.value) / like.unit.factor if one.unit.currencies & like.unit.currencies else None
    return one.value if kind in (other, "count") or {kind, other} == {"pounds", "money"} else None


def _follows(mention: Mention, read: _Text, own: Sequence[Mention], near: Sequence[Mention]) -> bool:
    """Whether a number follows from others of the claim or the question, and from near numbers of the texts.

    Sums and differences of near numbers count only next to a word for them: with many numbers, some pair always fits.
    """
    if _LISTS["totals"] & set(read.words):
        return True
    combined = bool(
        _LISTS["difference_before"] & read.before(mention, 3) or _LISTS["difference_after"] & read.after(mention, 3)
    )
    counts = {Fraction(count) for word, count in _COUNTS.items() if word in read.words}
    return any(_can_make(one, _values(own), _values(near), counts, combined) for one in mention.readings)


def _values(mentions: Sequence[Mention]) -> list[Quantity]:
    """The possible meanings of the numbers. The 13 of 13:00 is not a number of its own: 12:30 and 15:00 would contain 12:00."""
    return [one for mention in mentions for one in (*mention.readings, *(() if _is_time(mention) else mention.parts))]


def _can_make(
    wanted: Quantity, own: Sequence[Quantity], near: Sequence[Quantity], counts: set[Fraction], combined: bool
) -> bool:
    mine, others = ({n for one in side if (n := _number(one, wanted)) is not None} for side in (own, near))
    factors = counts | ({one.value for one in own if one.value > 1} if wanted.unit.dimension != "time" else set())
    shares = {one.unit.base(one.value) for one in (*own, *near) if one.unit.dimension == "share"}
    products = {term * factor for term in mine | others for factor in factors}
    products |= {term / count for term in mine | others for count in counts}
    products |= {one * other * term for term in others for one, other in combinations(factors, 2)}
    products |= {term * part for term in mine | others for share in shares for part in (share, 1 - share, 1 + share)}
    products |= {term * (factor - 1) for term in mine for factor in factors}
    terms, slack = (mine, others, products), abs(wanted.value) / 200
    if all(abs(one) < _MOST_ROUGH for one in (wanted.value, *mine, *others, *products)):
        # Floats are 20 times as fast. Exact numbers decide only on the edge.
        value, rough = float(wanted.value), _results(wanted, [set(map(float, one)) for one in terms], combined)
        off = min((abs(result - value) for result in rough), default=1e99)
        if abs(off - float(slack)) > 1e-12 * max(map(abs, (value, *rough))):
            return off < slack
    return any(abs(result - wanted.value) <= slack for result in _results(wanted, terms, combined))


def _results(wanted: Quantity, terms: Sequence[set[N]], combined: bool) -> set[N]:
    """The amounts that numbers of the claim, numbers of the texts and products of both can make together."""
    mine, others, products = terms
    results = products | _sums(mine, mine | products)
    if wanted.unit.dimension == "clock":
        results |= _sums(mine, others)
    if combined:
        results |= _sums(others, mine | others)
    if combined and (wanted.unit.dimension == "share" or wanted.noun == "times"):
        results |= {ratio for pair in combinations(mine | others, 2) for ratio in _ratios(*pair)}
    return results


def _sums(some: set[N], others: set[N]) -> set[N]:
    return {result for a in some for b in others if a != b for result in (a + b, abs(a - b))}


def _ratios(a: N, b: N) -> Iterator[N]:
    low, high = sorted((abs(a), abs(b)))
    if low:
        yield from (high / low, 100 * low / high, 100 * high / low - 100, 100 - 100 * low / high)


def _is_case(mention: Mention, read: _Text, text: _Text) -> bool:
    """Whether a number is a case of a limit in the text: "if it is 80 cm high" where the limit is 75 cm."""
    clause = read.words[: mention.start]
    clause = clause[max((at + 1 for at, word in enumerate(clause) if word in _STOPS), default=0) :]
    if (_UP | _DOWN | {"than"}) & read.before(mention, 3):
        return False
    first = read.words[0] if read.words else ""
    framed = (first in _LISTS["frames"] or first.endswith("ing")) and not _LISTS["verbs"] & set(
        read.words[1 : mention.start]
    )
    return (framed or bool(_SUPPOSED & set(clause))) and any(
        _LIMITS & (text.before(other, 3) | text.after(other, 2)) and _is_near(one, limit)
        for other in text.mentions
        for limit in other.readings
        for one in mention.readings
    )


def _is_near(one: Quantity, limit: Quantity) -> bool:
    number = _number(limit, one)
    if {one.unit.dimension, limit.unit.dimension} & {"clock", "temperature"}:
        return number is not None
    return number is not None and number > 0 and Fraction(1, 3) <= one.value / number <= Fraction(11, 5)


def _fits_bound(mention: Mention, read: _Text, text: _Text) -> bool:
    """Whether a bound holds for a number of the text: "over 50" where the text says 53."""
    marks = read.before(mention, 3)
    up, down = bool(marks & _UP), bool(marks & _DOWN)
    for other in text.mentions if up or down else ():
        near = text.before(other, 3) | text.after(other, 2)
        for limit in other.readings:
            for one in mention.readings:
                number = _number(limit, one) if _is_kind(limit, one) else None
                ratio = one.value / number if number and one.unit.offset == limit.unit.offset else Fraction(0)
                if up and not near & _UP and Fraction(3, 4) <= ratio <= 1:
                    return True
                if down and not near & _DOWN and 1 <= ratio <= Fraction(4, 3):
                    return True
    return False


def _in_its_place(mention: Mention, read: _Text, texts: Sequence[_Text]) -> tuple[float, Mention | None]:
    """The number of the texts in place of one of the claim, and how many words of the claim are around it.

    It is of the same kind, and the claim does not have it.
    """
    mine = content_stems(" ".join(read.words))
    thing = _thing(mention, read)
    best: tuple[float, Mention] = (0.15 if _is_count(mention) else 0.3), mention
    for text in texts:
        for other in text.mentions:
            if not any(_is_kind(a, b) for a in other.readings for b in mention.readings):
                continue
            if other.is_ordinal != mention.is_ordinal or _is_given(other, text, read.mentions):
                continue
            if _is_count(mention) and not thing & _thing(other, text):
                continue
            best = max(best, (_words_shared(other, text, mine), other), key=lambda pair: pair[0])
    return (best[0], best[1]) if best[1] is not mention else (0.0, None)


def _is_kind(one: Quantity, other: Quantity) -> bool:
    return one.unit.dimension == other.unit.dimension and _is_comparable(one, other)


def _thing(mention: Mention, read: _Text) -> frozenset[str]:
    """The counted thing: the next two words."""
    start = mention.end - bool(mention.readings[0].noun)
    return frozenset(word for word in content_stems(" ".join(read.words[start : start + 2])) if len(word) > 2)


def _check_names(claim: str, text: str) -> Refusal | None:
    """The refusal of a weekday or month that the texts do not have, although they name others."""
    for names, anything in ((_DAYS, _ANY_DAY), (_MONTHS, _ANY_MONTH)):
        wanted, known = _named(claim, names), _named(text, names)
        if _SUPPOSED & set(claim.lower().split()):
            continue
        if known and wanted - known and not anything.search(text):
            missing = names[min(wanted - known)].capitalize()
            instead = [names[one].capitalize() for one in sorted(known - wanted)]
            if len(instead) == 1 and len(wanted) == 1:
                return Refusal(f"the text says {instead[0]}, not {missing}", contradicted=True)
            return Refusal(f"the text does not say {missing}", contradicted=False)
    return None


@lru_cache(maxsize=4096)
def _named(text: str, names: tuple[str, ...]) -> frozenset[int]:
    """The weekdays or months of a text, with those between two that are joined: Monday to Friday, Mar–Oct."""
    joined = "|".join(name if len(name) < 4 else f"{name[:3]}(?:{name[3:]}s?|{name[3:4]}?\\b)" for name in names)
    found = [
        (match.start(), match.end(), [name[:3] for name in names].index(match[1][:3].lower()))
        for match in re.finditer(rf"\b({joined})\b", text, re.IGNORECASE)
        if match[1].lower() != "may" or match[1] == "May"
    ]
    numbers = {index for _, _, index in found}
    for (_, end, first), (start, _, last) in pairwise(found):
        if _JOINS.fullmatch(text[end:start]) or (
            _AND.fullmatch(text[end:start]) and "etween" in text[max(0, end - 40) : end]
        ):
            numbers |= {(first + more) % len(names) for more in range((last - first) % len(names))}
    return frozenset(numbers)
