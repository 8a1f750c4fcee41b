"""Whether an answer says the same as a reference, by their words alone: the words that differ decide.

The same: the answer has every word of the reference that the question does not have. Another: it has another number, day,
colour or name in place of that of the reference, or denies it. Otherwise unknown: other words may have the same meaning.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

from ragstone.text.claim_numbers import same_numbers
from ragstone.text.clock_times import with_numbered_periods
from ragstone.text.languages import guess_language
from ragstone.text.lexicon import late_pattern, lexicon, number_words, word_set
from ragstone.text.names import names
from ragstone.text.overlap import FUNCTION_WORDS
from ragstone.text.porter import stem
from ragstone.text.quantities import compare_quantities
from ragstone.text.quantity_words import BOUNDS, PHRASES, UNITS
from ragstone.text.verbatim import swaps_names
from ragstone.text.words import fold, word_texts

_LISTS = lexicon("answer_words")
_KIND = {word: kind for kind in _LISTS["exclusive"] for word in kind.split()}
_UNITS = frozenset(unit.dimension for unit in UNITS.values())
_LOOSE = frozenset(map(stem, _LISTS["loose"].split()))
# In place of a number, not with one: "half an hour, that is 30 minutes" has its number.
_ALONE = frozenset(map(stem, _LISTS["loose"].split()[:4]))
_DIGITS = {word: str(number) for word, number in number_words().items()}
_DIGITS |= {word: str(at) for line in _LISTS["numbers"] for at, word in enumerate(line.split(), 2)}
_TENS = frozenset(str(ten) for ten in range(20, 100, 10))
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_THOUSANDS = re.compile(r"(?<=\d)[.,](?=\d{3}(?!\d))")
# "up to three", "three or fewer", not "inside the shed": phrases that bound a number, in one wording for each bound.
_NUMBER_NEXT = rf" (?=(?:of )?(?:\W?\d|(?:{'|'.join(number_words())})\b))"
_BOUNDS = {
    f"{mark} ": late_pattern(rf"\b(?:(?=or |at )(?:{one})\b|(?:{one}){_NUMBER_NEXT})", re.IGNORECASE)
    for mark, one in ((mark, "|".join(phrases)) for mark, phrases in PHRASES if mark in BOUNDS)
}
_NEGATIONS = word_set(_LISTS["negations"])
_SHORT_NEGATION = re.compile(r"n['’]t\b")
_YES_NO = {"yes": True, "no": False, "ja": True, "nein": False, "sí": True, "oui": True, "non": False}


@dataclass(frozen=True)
class _Words:
    """A text as words: numbers as digits, content words by their stems, names apart."""

    text: str
    content: frozenset[str]
    figures: frozenset[str]
    denies: bool

    @cached_property
    def names(self) -> frozenset[str]:
        """The words of the content that belong to a name."""
        return self.content & {_form(word) for name in names(self.text) for word in word_texts(name)}


@lru_cache(maxsize=65_536)
def _kind(word: str) -> str:
    return "number" if word[0].isdigit() else _KIND.get(word) or (UNITS[word].dimension if word in UNITS else "")


@lru_cache(maxsize=1024)
def _read(text: str) -> _Words:
    plain = _SHORT_NEGATION.sub(" not", text)
    numbers = _NUMBER.findall(plain)
    said = word_texts(_NUMBER.sub(" ", plain) if numbers else plain)
    figures = [part for figure in numbers for part in _figure(figure)]
    found = (word for word in (*figures, *_with_digits(said)) if word not in FUNCTION_WORDS or word in _KIND)
    content = {_form(word) for word in found} - _NEGATIONS
    return _Words(text, frozenset(content), frozenset(figures), denies=not _NEGATIONS.isdisjoint(said))


@lru_cache(maxsize=65_536)
def _form(word: str) -> str:
    return word if _kind(word) else stem(word)


def _with_digits(said: list[str]) -> list[str]:
    """The words, with number words as digits: twenty five as 25."""
    found: list[str] = []
    for word in said:
        digits = _DIGITS.get(word, word)
        if digits is not word and 0 < number_words().get(word, 0) < 10 and found and found[-1] in _TENS:
            digits = str(int(found.pop()) + int(digits))
        found.append(digits)
    return found


def _figure(written: str) -> list[str]:
    """A number in one form: 1,200 as 1200, 13.00 as 13, 21:10 as 9.1 and pm."""
    hour, _, minutes = written.partition(":")
    late = minutes.isdigit() and hour.isdigit() and 12 < int(hour) < 24
    plain = _THOUSANDS.sub("", f"{int(hour) - 12}.{minutes}" if late else written).replace(",", ".").replace(":", ".")
    plain = plain.rstrip("0").rstrip(".") if "." in plain else plain
    return [re.sub(r"^0+(?=\d)", "", plain), *(["pm"] if late else [])]


def compare_answer(question: str, answer: str, reference: str, whole: bool = True) -> bool | None:
    """Whether the answer says the same as the reference; None if their words do not decide.

    Without `whole`, the reference may say more than the question asks for.
    """
    if answer == reference:
        return True if _read(reference).content else None
    answer, reference = with_numbered_periods(answer), with_numbered_periods(reference)
    if (same := compare_quantities(reference, answer)) is not None:
        return same
    for mark, phrase in _BOUNDS.items():
        if phrase.search(answer) and phrase.search(reference):
            answer, reference = phrase.sub(mark, answer), phrase.sub(mark, reference)
    asked, said, wanted = _read(question), _read(answer), _read(reference)
    if not wanted.content or not said.content:
        return compare_polarity(answer, reference)
    if _is_another(asked, said, wanted, f"{reference} {answer}") or (whole and _leaves_out(asked, said, reference)):
        return False
    missing = wanted.content - said.content
    decisive = wanted.content - asked.content or wanted.content
    # "On which day is there no boat?" The answers "Tuesday" and "There is no boat on Tuesday" are the same.
    denies = said.denies != wanted.denies and not (asked.denies and (said.denies or said.content <= decisive))
    if denies and not (missing or asked.denies) and said.content <= wanted.content | asked.content:
        return False
    if denies or missing & decisive or swaps_names(answer, reference):
        return compare_polarity(answer, reference)
    # A question with two choices has all words of both answers.
    return True if wanted.content - asked.content or not missing else None


def _is_another(asked: _Words, said: _Words, wanted: _Words, texts: str) -> bool:
    """Whether the answer has another word of the same kind in place of a word of the reference."""
    given, expected = ({word: kind for word in one.content if (kind := _kind(word))} for one in (said, wanted))
    missing = {kind for word, kind in expected.items() if word not in given and word not in asked.content}
    foreign = {kind for word, kind in given.items() if word not in expected and word not in asked.content}
    rivals = missing & foreign
    in_digits = said.figures - wanted.content - asked.content and wanted.figures - said.content
    # Another number with another unit may be the same quantity: 110 minutes, 1 hour 50.
    rivals -= {"number", *_UNITS} if rivals and same_numbers(said.text, wanted.text) else set()
    if rivals & _UNITS or (_LOOSE - _ALONE if in_digits else _LOOSE) & (said.content ^ wanted.content):
        rivals -= {"number"}
    if "number" in missing | foreign:
        rivals -= _UNITS
    if rivals:
        return True
    others = said.content - wanted.content - asked.content
    if not others or not others <= said.names or not (lost := wanted.names - said.content - asked.content):
        return False
    # In German all nouns have capital letters, and nouns have synonyms.
    return guess_language(texts) != "de" and not any(one in other or other in one for one in others for other in lost)


def _leaves_out(asked: _Words, said: _Words, reference: str) -> bool:
    """Whether the answer lacks a number, not one in brackets, and has no other in its place. "Free" is 0, "all" is 100 %."""
    wanted = _read(re.sub(r"\([^()]*\)", " ", reference))
    left, others = wanted.content - said.content - asked.content, said.content - wanted.content - asked.content
    is_free = any(_kind(word) == "number" for word in others) or said.content & (_LOOSE - wanted.content)
    is_left_out = any(one[0].isdigit() for one in left - {"0", "1", "100"})
    return is_left_out and not is_free and not same_numbers(said.text, wanted.text)


def compare_polarity(answer: str, reference: str) -> bool | None:
    """False if one says yes and the other no; None if one of them says neither."""
    first = [_YES_NO.get(fold(next(iter(word_texts(text)), ""))) for text in (answer, reference)]
    return False if None not in first and first[0] != first[1] else None
