"""Guess the language of a short text by its script and, for Latin letters, by its function words.

`guess_language` is accurate enough to group questions: close languages are confused in very short texts, and an unclear text
is `other`. `foreign_language` is careful: it names a language only if a text is surely not in one of the known ones.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache

from ragstone.text.lexicon import late_pattern, lexicon, word_set

OTHER = "other"
_WORD = late_pattern(r"[^\W\d_]+")
_LONGEST = 400


def guess_language(text: str) -> str:
    """A two-letter code, or `other`."""
    text = text[:_LONGEST]
    if not text.isascii():
        for code, letters in _scripts().items():
            # Many texts contain names and units in other scripts; a third of the letters must match.
            if 3 * len(letters.findall(text)) >= sum(map(str.isalpha, text)) > 0:
                return code
    words = _WORD.findall(text.casefold())
    scores = {code: sum(word in small for word in words) for code, small in _small_words().items()}
    best = max(scores.values())
    leaders = [code for code, score in scores.items() if score == best]
    if not best or (len(leaders) > 1 and "en" not in leaders):
        return OTHER
    return leaders[0]


@cache
def _scripts() -> dict[str, re.Pattern[str]]:
    return {code: re.compile(letters) for code, letters in lexicon("languages")["scripts"].items()}


@cache
def _small_words() -> dict[str, frozenset[str]]:
    return {code: word_set(words) for code, words in lexicon("languages")["small"].items()}


_TEXT = 3_000
_LEAST_WORDS = 3
_LEAST_SHARE, _LEAST_COUNT, _LEAST_ALONE = 0.15, 3, 2
_LEAST_LETTERS = 4


def foreign_language(text: str, known: Collection[str] = ("en",)) -> str | None:
    """The language of a text that is surely in none of the known ones: a two-letter code, or `other` if it is uncertain which.

    None for texts in a known language, and for short or unclear ones.
    """
    text = text[:_TEXT]
    letters = sum(map(str.isalpha, text))
    if not text.isascii():
        for code, script in _scripts().items():
            count = len(script.findall(text))
            if count >= _LEAST_LETTERS and 2 * count > letters:
                # Chinese characters and kana both occur in Japanese.
                return None if code in known else code
    text = _CODE.sub(" ", text)
    found = _WORD_WITH_APOSTROPHE.findall(text.casefold() if text.isupper() else text)
    if len(found) < _LEAST_WORDS:
        return None
    scores = _score_languages(found)
    ranked = sorted(scores, key=lambda code: (scores[code], code in known), reverse=True)
    best, second = ranked[0], next(code for code in ranked[1:] if code != "en")
    mine = max((scores[code] for code in known if code in scores), default=0)
    enough = max(_LEAST_COUNT if mine else _LEAST_ALONE, _LEAST_SHARE * len(found))
    if best in known or scores[best] < enough or scores[best] <= 2 * mine:
        return None
    # One word again and again, "no" in a list, is also English; so is "€".
    if (
        all(map(str.isascii, found))
        and len(_running_words()[1][best].intersection(map(str.casefold, found))) < _LEAST_ALONE
    ):
        return None
    return best if scores[best] > scores[second] else OTHER


def _score_languages(found: Sequence[str]) -> dict[str, int]:
    """The number of words that indicate each language: its frequent words, outside of names, and words with accents."""
    english, foreign = _running_words()
    plain = [word.casefold() for word in found]
    capital = [word[0].isupper() for word in found]
    inside = _inside_names(found, capital)
    words = [word for word, named in zip(plain, inside, strict=True) if not named]
    # A capital letter within a text is that of a name, and "La Perla" may be one at its start.
    told = [word for at, word in enumerate(plain) if not inside[at] and not (capital[at] and (at or any(capital[1:2])))]
    accented = sum(not word.isascii() and "’" not in word for at, word in enumerate(plain) if not capital[at])
    scores = {}
    for code, small in foreign.items():
        # German nouns have capitals too, so articles at the start are articles.
        score = sum(word in small for word in (words if code == "de" else told))
        # Accents are rare in English; they add to a language whose frequent words occur.
        scores[code] = score + min(accented, score)
    return scores | {"en": sum(word in english for word in plain)}


def _inside_names(found: Sequence[str], capital: Sequence[bool]) -> list[bool]:
    """Which words are particles between two words with capitals: `Cruz de la Sierra`."""
    inside, particles = [False] * len(found), word_set(lexicon("languages")["particles"])
    start = None
    for at, word in enumerate(found):
        if capital[at]:
            if start is not None:
                inside[start + 1 : at] = [True] * (at - start - 1)
            start = at
        elif word not in particles:
            start = None
    return inside


# Formulas, serial numbers, units: C8H10N4O2, C4-D2, S/N, W/m²K.
_CODE = late_pattern(r"\S*[\d/]\S*")
_WORD_WITH_APOSTROPHE = late_pattern(r"[^\W\d_]+(?:['’][^\W\d_]{1,2}\b)?")


@cache
def _running_words() -> tuple[frozenset[str], dict[str, frozenset[str]]]:
    lists = lexicon("languages")
    shared, also = word_set(lists["shared"]), lists["also"]
    return word_set(lists["english"]) - shared, {
        code: word_set(words) - shared | word_set(also.get(code, "")) for code, words in lists["running"].items()
    }
