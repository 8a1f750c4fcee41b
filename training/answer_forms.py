"""Other ways to write an answer, which say the same, and near misses, which share words or digits and do not."""

from __future__ import annotations

import re
import unicodedata
from random import Random

import edits
from spans import is_person
from words import ALIASES, MONTHS, NUMBER_WORDS, ORDINALS

_MONTH = "|".join(MONTHS)
_US = re.compile(rf"^({_MONTH}) (\d{{1,2}}),? (\d{{4}})$")
_EU = re.compile(rf"^(\d{{1,2}}) ({_MONTH}) (\d{{4}})$")
_MONEY = re.compile(r"^(?:US)?\$([\d.,]+)( million| billion| thousand)?$")
_SCALED = re.compile(r"^(\d+(?:\.\d+)?) (million|billion|thousand)$")
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9}
_TENS = {20: "twenty", 30: "thirty", 40: "forty", 50: "fifty", 60: "sixty", 70: "seventy", 80: "eighty", 90: "ninety"}
_LIST = re.compile(r"^([^,]{2,40})(?:, ([^,]{2,40}))*,? and ([^,]{2,40})$")
_KIN = {"North": "South", "South": "North", "East": "West", "West": "East", "I": "II", "II": "III", "III": "II", "IV": "V", "VIII": "VII", "Jr": "Sr", "New": "Old", "Northern": "Southern", "Western": "Eastern"}  # fmt: skip
_SHARES = {"50": ["half", "one half"], "25": ["a quarter", "one quarter", "one fourth"], "75": ["three quarters"], "100": ["all of it"], "20": ["a fifth", "one in five"], "10": ["a tenth", "one in ten"]}  # fmt: skip


def other_forms(text: str, kind: str, rng: Random) -> list[str]:
    """The same answer, written otherwise; nothing where there is no other way."""
    found = [*_dates(text), *_numbers(text, kind), *_names(text, kind, rng), *ALIASES.get(text, [])]
    if items := split_list(text):
        rng.shuffle(items)
        found.append(", ".join(items[:-1]) + " and " + items[-1])
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    found += [plain] if plain != text and len(plain) > 0.7 * len(text) else []
    return [form for form in found if form != text]


def split_list(text: str) -> list[str]:
    """The items of an answer that names several."""
    return [item for item in re.split(r", and |, | and ", text) if item] if _LIST.match(text) else []


def _dates(text: str) -> list[str]:
    match, other = _US.match(text), _EU.match(text)
    if not match and not other:
        return []
    month, day, year = match.groups() if match else (other[2], other[1], other[3])  # type: ignore[index]
    number, nth = MONTHS.index(month) + 1, ordinal(int(day))
    short = month if month == "May" else month[:3]
    found = [f"{day} {month} {year}", f"{month} {day}, {year}", f"the {nth} of {month} {year}", f"{month} {nth}, {year}", f"{nth} {month} {year}"]  # fmt: skip
    return [*found, f"{short} {day}, {year}", f"{year}-{number:02d}-{int(day):02d}", f"{day}/{number}/{year}"]


def ordinal(number: int) -> str:
    """A number with its ending: 1st, 2nd, 3rd, 4th."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def number_words(number: int) -> str:
    """A number below a hundred in words."""
    if number <= 20:
        return NUMBER_WORDS[number]
    return _TENS[number // 10 * 10] + (f"-{NUMBER_WORDS[number % 10]}" if number % 10 else "")


def _numbers(text: str, kind: str) -> list[str]:
    found = []
    if text.isdigit() and int(text) < 100:
        found += [number_words(int(text))] * 2 + (["a dozen"] if text == "12" else [])
    if text in NUMBER_WORDS[1:]:
        found += [str(NUMBER_WORDS.index(text))] * 2
    if text in ORDINALS:
        found.append(ordinal(ORDINALS.index(text) + 1))
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+", text):
        found += [text.replace(",", ""), _scaled(int(text.replace(",", "")))]
    if re.fullmatch(r"\d{4,9}", text) and kind == "number":
        found.append(f"{int(text):,}")
    if match := _SCALED.match(text):
        found.append(f"{round(float(match[1]) * _SCALES[match[2]]):,}")
    if match := re.match(r"^(\d+(?:\.\d+)?) ?(%|percent|per cent)$", text):
        found += [f"{match[1]} percent", f"{match[1]}%", f"{match[1]} per cent", *_SHARES.get(match[1], [])]
    if match := _MONEY.match(text):
        found += [
            f"{match[1]}{match[2] or ''} dollars",
            f"US${match[1]}{match[2] or ''}",
            f"{match[1]}{match[2] or ''} USD",
        ]
    return [form for form in found if form]


def _scaled(number: int) -> str:
    for word in ("billion", "million"):
        if number >= _SCALES[word] and number % (_SCALES[word] // 10) == 0:
            return f"{number / _SCALES[word]:g} {word}"
    return ""


def _names(text: str, kind: str, rng: Random) -> list[str]:
    words = text.split()
    if is_person(text):
        last, first = words[-1], words[0]
        found = [last, last, f"{first[0]}. {last}", f"{last}, {first}"]
        return (
            [*found, f"{first} {last}"]
            if len(words) > 2
            else [*found, f"{first} {rng.choice('ABCDEFGHJLMRST')}. {last}"]
        )
    capitals = [word for word in words if word[0].isupper()]
    found = [text[4:]] if text.startswith(("the ", "The ")) else []
    if kind == "group" and len(capitals) >= 3 and len("".join(w[0] for w in capitals)) >= 3:
        letters = "".join(word[0] for word in capitals if word != "The")
        found += [letters, f"{letters} ({text})" if rng.random() < 0.2 else ".".join(letters) + "."]
    if match := re.match(r"^University of ((?:[A-Z]\w+ ?)+)$", text):
        found.append(f"{match[1]} University")
    swaps = [("Mount ", "Mt. "), ("Saint ", "St. "), ("St. ", "Saint "), (" and ", " & "), (" & ", " and "), ("-", " "), ("Doctor ", "Dr. "), ("Fort ", "Ft. ")]  # fmt: skip
    found += [text.replace(old, new) for old, new in swaps if old in text]
    if len(words) >= 2 and words[-1] in (
        "City",
        "Company",
        "Corporation",
        "Inc",
        "River",
        "County",
        "Island",
        "Islands",
        "Empire",
        "Party",
        "Club",
        "Street",
    ):
        found.append(" ".join(words[:-1]))
    return found


def near_misses(text: str, kind: str, rng: Random, pool: edits.Pool) -> list[str]:
    """Wrong answers that look like the right one."""
    words = text.split()
    found = [" ".join(_KIN.get(word, word) for word in words)] if any(word in _KIN for word in words) else []
    if is_person(text) and len(words) == 2:
        other = [
            name
            for name in (pool.draw(rng, "person") for _ in range(4))
            if name.count(" ") == 1 and edits.differs(name, text)
        ]
        found += [f"{name.split()[0]} {words[1]}" for name in other[:1]] + [
            f"{words[0]} {name.split()[1]}" for name in other[1:2]
        ]
    elif kind in ("date", "year", "number", "percent", "money", "word", "ordinal"):
        wrong = edits.falsify_value(text, kind, rng, pool)
        found += [wrong, *other_forms(wrong, kind, rng)[:4]] if wrong != text else []
    elif len(words) >= 2 and kind:
        other = pool.draw(rng, kind)
        found.append(" ".join([*words[:-1], other.split()[-1]]) if edits.differs(other, text) else "")
    return [
        miss for miss in found if miss and miss.lower() != text.lower() and miss not in other_forms(text, kind, rng)
    ]
