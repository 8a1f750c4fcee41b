"""Find and mask personal data by its form: e-mail addresses, phone numbers, payment cards, bank accounts.

Check digits distinguish cards and accounts from other long numbers. Names and street addresses are not found.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ragstone.text.lexicon import late_pattern

_EMAIL = late_pattern(r"(?<![\w.+-])[\w.+%-]{1,64}@(?:[\w-]{1,63}\.){1,8}\w{2,24}(?![\w-])")
_IBAN = late_pattern(r"(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}(?: ?[A-Za-z0-9]){11,30}(?![A-Za-z0-9])")
_CARD = late_pattern(r"(?<![\d.,+-])\d(?:[ -]?\d){12,18}(?![\d]|[.,]\d)")
# With + or 00 and a country code; with an area code in brackets or after a 0; or in three groups as in North America.
_PHONE = late_pattern(
    r"(?<![\w.,+-])(?:"
    r"(?:\+|00)[1-9](?:[ ()./-]{0,2}\d){6,13}"
    r"|\(0?\d{2,5}\)[ /-]?\d(?:[ ./-]?\d){4,9}"
    r"|0\d{1,5}[ /-]\d(?:[ ./-]?\d){4,9}"
    r"|0[1-9]\d{8,10}"
    r"|(?:\(\d{3}\) ?|\d{3}[-. ])\d{3}[-. ]\d{4}"
    r")(?![\w]|[.,-]\d)"
)


class Finding(NamedTuple):
    """A span of personal data and its kind."""

    start: int
    end: int
    kind: str


def find_personal(text: str) -> list[Finding]:
    """The personal data of a text, in order and without overlaps."""
    findings: list[Finding] = []
    for kind, find in _FINDERS:
        for start, end in find(text):
            if all(end <= other.start or start >= other.end for other in findings):
                findings.append(Finding(start, end, kind))
    return sorted(findings)


class Masker:
    """Replaces personal data by placeholders: the same placeholder for the same data in all texts.

    Placeholders are numbered by first appearance, so that they reveal nothing; hashes of phone numbers could be reversed by
    hashing all phone numbers.
    """

    def __init__(self) -> None:
        self._placeholders: dict[tuple[str, str], str] = {}
        self.counts: Counter[str] = Counter()

    def mask(self, text: str) -> str:
        """The text with placeholders such as `[e-mail 1]`."""
        parts, done = [], 0
        for start, end, kind in find_personal(text):
            parts += [text[done:start], self._placeholder(kind, text[start:end])]
            done = end
        return "".join([*parts, text[done:]]) if parts else text

    def _placeholder(self, kind: str, data: str) -> str:
        self.counts[kind] += 1
        key = kind, (data.casefold() if kind == "e-mail" else re.sub(r"[^0-9A-Za-z]", "", data).upper())
        if key not in self._placeholders:
            number = 1 + sum(known == kind for known, _ in self._placeholders)
            self._placeholders[key] = f"[{kind} {number}]"
        return self._placeholders[key]


def passes_luhn(digits: str) -> bool:
    """Whether the last digit is the Luhn check digit, as on payment cards."""
    doubled = [int(digit) * (1 + position % 2) for position, digit in enumerate(reversed(digits))]
    return sum(number - 9 if number > 9 else number for number in doubled) % 10 == 0


def passes_iban(account: str) -> bool:
    """Whether the two check digits are valid (ISO 13616)."""
    rotated = account[4:] + account[:4]
    return int("".join(str(int(character, 36)) for character in rotated)) % 97 == 1


def _accounts(text: str) -> Iterator[tuple[int, int]]:
    for match in _IBAN.finditer(text):
        # The words after it may match the form too: the longest valid prefix is the account.
        for end in range(len(match[0]), 14, -1):
            bare = match[0][:end].replace(" ", "")
            at_an_end = end == len(match[0]) or match[0][end] == " "
            if at_an_end and 15 <= len(bare) <= 34 and bare.isascii() and passes_iban(bare):
                yield match.start(), match.start() + end
                break


def _cards(text: str) -> Iterator[tuple[int, int]]:
    for match in _CARD.finditer(text):
        digits = re.sub(r"\D", "", match[0])
        if digits.isascii() and len(set(digits)) > 1 and passes_luhn(digits):
            yield match.span()


_FINDERS: tuple[tuple[str, Callable[[str], Iterator[tuple[int, int]]]], ...] = (
    ("e-mail", lambda text: (match.span() for match in (_EMAIL.finditer(text) if "@" in text else ()))),
    ("account", _accounts),
    ("card", _cards),
    ("phone", lambda text: (match.span() for match in _PHONE.finditer(text))),
)
