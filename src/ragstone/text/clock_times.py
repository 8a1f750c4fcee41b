"""Times in one spelling: the times of day of a text as another text spells them (1 pm is 13:00), and periods of two."""

from __future__ import annotations

import re

_TIME = re.compile(
    r"(?<![\d.:,/-])(?:(?P<hour>\d\d?)(?:[:.](?P<minute>[0-5]\d))? ?(?P<half>[ap])(?:\.m\.|m\b)"
    r"|(?P<hours>\d\d?)(?::(?P<minutes>[0-5]\d)(?![\d:])(?: Uhr\b)?|(?:\.(?P<rest>[0-5]\d))? Uhr\b)"
    r"|\b(?P<word>noon|midday|midnight)\b)",
    re.IGNORECASE,
)
_PERIOD = re.compile(
    r"\b(?:every (?:other|second) (?P<unit>day|week|month|year|(?P<day>(?:mon|tues|wednes|thurs|fri|satur|sun)day))s?"
    r"|(?:every|once a|each) fortnight|fortnightly)\b",
    re.IGNORECASE,
)
_WORDS = {"noon": 720, "midday": 720, "midnight": 0}


def with_times_of(text: str, other: str) -> str:
    """The text with its times of day in the spelling that the other text has for the same time."""
    if not _TIME.search(text):
        return text
    spellings = {_minutes(match): match[0] for match in _TIME.finditer(other)}
    return _TIME.sub(lambda match: match[0] if match[0] in other else spellings.get(_minutes(match), match[0]), text)


def _minutes(match: re.Match[str]) -> int:
    """The minutes since midnight; a time without am and pm is in the 24-hour clock."""
    if match["word"]:
        return _WORDS[match["word"].lower()]
    hour, minute = int(match["hour"] or match["hours"]), int(match["minute"] or match["minutes"] or match["rest"] or 0)
    if match["half"]:
        hour = hour % 12 + 12 * (match["half"] in "pP")
    return hour % 24 * 60 + minute


def with_numbered_periods(text: str) -> str:
    """The text with "every other day", "every second Tuesday" and "fortnightly" as "every 2 days", "every 2 weeks on Tuesday"."""
    if "every" not in text.lower() and "fortnight" not in text.lower():
        return text
    return _PERIOD.sub(_numbered, text)


def _numbered(match: re.Match[str]) -> str:
    unit, day = match["unit"] or "week", match["day"]
    return f"every 2 weeks on {day}" if day else f"every 2 {unit.lower()}s"
