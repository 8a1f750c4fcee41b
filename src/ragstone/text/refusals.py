"""Does an answer decline? By phrases that anybody can read and extend: `text.refusal_phrases`.

An answer is a refusal when one of its clauses declines ("the documents do not say", "I cannot answer") and none has
content: the others only apologise, give advice, ask back, or tell what the documents are about. So an answer that
answers after a caveat ("the documents do not mention dogs, but cats travel free") or before one is none, and neither is a
"cannot" that is the answer ("dogs cannot travel in the cabin"). After words that leave the question itself unanswered ("I
cannot answer this"), short remarks without figures and without a "but" are let pass.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from enum import Enum
from functools import cache
from typing import NamedTuple

from ragstone.text.refusal_phrases import ANSWERING, CONTRAST, LANGUAGES


class Kind(Enum):
    """What a clause does in an answer."""

    DECLINES = "it declines"
    HARMLESS = "it advises, offers help, or tells what the documents are about"
    EMPTY = "it only apologises or asks"
    CONTENT = "it says something"


# Longer ones are content: nobody declines at such length in one breath.
_LONGEST_CLAUSE = 500
# Which languages a clause may be in, by the letters that it has.
_SCRIPTS = {
    "[a-z]": ("en", "de", "fr", "es", "it", "pt"),
    "[\u0400-\u04ff]": ("ru",),
    "[\u3040-\u30ff\u3400-\u9fff]": ("zh", "ja"),
    "[\u0600-\u06ff]": ("ar",),
    "[\u0900-\u097f]": ("hi",),
}
_MARKS = re.compile("[\u0300-\u036f\u064b-\u0652\u0670\u0640]")
_EDGES = " \t\r\n.,;:!?…。，、；：！？؟،؛।॥*_#>`\"'“”‘’«»„「」『』()[]-–—•"
_CITATIONS = re.compile(r"\s?\[[^\[\]\n]{1,40}\]")
_QUESTION = re.compile(r"[?？؟][\s*_\"'”’»」』)\]]*$")
# What goes on after these: "You can search for: ferries, fares", "I have no information on: fares".
_WEAK_ENDS = {
    **dict.fromkeys("，،", (Kind.HARMLESS,)),
    **dict.fromkeys(":：", (Kind.HARMLESS, Kind.DECLINES)),
}
_LONGEST_ASIDE = 120
# Where sentences end: after two letters, so that "e.g. dogs" and "9.30 p.m." stay whole; and where clauses do.
_CLAUSE_ENDS = (
    r"(?<=[\w)\]\"'”’»%*][\w)\]\"'”’»%*][.!?…])[\"'”’»)\]*_]*\s+",
    r"(?<=[。！？；：;؛؟।॥，،\n])\s*",
    r"(?<=[がずでめ]、)",
    r":\**\s+|\s[–—-]\s|\n",
    r"\s+(?=(?:but|however|although|whereas)\b)",
)


class _Patterns(NamedTuple):
    """The phrases of the languages that share a script, compiled."""

    script: re.Pattern[str]
    cues: re.Pattern[str]
    declines: re.Pattern[str]
    heads: re.Pattern[str]
    leads: re.Pattern[str]
    harmless: re.Pattern[str]
    echoes: re.Pattern[str]


def find_refusal(answer: str) -> str | None:
    """The first clause that declines, where the answer is a refusal; None where it is not."""
    declining = None
    before = Kind.EMPTY
    about_documents = False
    goes_on: tuple[Kind, ...] = ()
    for clause in _clauses(answer):
        folded = _fold(clause).strip(_EDGES)
        if len(folded) > _LONGEST_CLAUSE:
            return None
        kind = _judge(folded, about_documents)
        if kind is Kind.CONTENT:
            if _QUESTION.search(clause):
                kind = Kind.EMPTY
            elif before in goes_on or (declining and _ends_list(folded)):
                kind = before
            elif declining and _answering().search(_fold(declining)) and _is_aside(folded):
                kind = Kind.HARMLESS
            else:
                return None
        if kind is Kind.DECLINES:
            declining = declining or clause.strip()
        about_documents = about_documents or kind in (Kind.DECLINES, Kind.HARMLESS)
        before, goes_on = kind, _WEAK_ENDS.get(clause.rstrip()[-1:], ())
    return declining


def _judge(clause: str, about_documents: bool) -> Kind:
    """What a clause does, by its words."""
    kinds = [patterns for patterns in _patterns() if patterns.script.search(clause)]
    while clause:
        for patterns in kinds:
            if patterns.cues.search(clause) and (patterns.heads.match(clause) or patterns.declines.search(clause)):
                return Kind.DECLINES
            if about_documents and patterns.echoes.match(clause):
                return Kind.DECLINES
            if patterns.harmless.match(clause):
                return Kind.HARMLESS
        lead = next((found for patterns in kinds if (found := patterns.leads.match(clause)) and found.end()), None)
        if lead is None:
            return Kind.CONTENT
        clause = clause[lead.end() :].strip(_EDGES)
    return Kind.EMPTY


def _is_aside(clause: str) -> bool:
    """Whether this can stand after "I cannot answer that" without answering it: short, no figures, no contrast."""
    return len(clause) <= _LONGEST_ASIDE and not re.search(r"\d", clause) and not _contrast().match(clause)


def _ends_list(clause: str) -> bool:
    """Whether this is only the end of a list that a comma cut off: "prices, | and dogs"."""
    return len(clause.split()) <= 3 and bool(_joins().match(clause))


def _clauses(text: str) -> Iterator[str]:
    """The clauses one by one, so that a long answer is not taken apart further than needed."""
    text = _CITATIONS.sub("", unicodedata.normalize("NFC", text)).replace("’", "'").strip()
    start = 0
    for end in _ends().finditer(text):
        if text[start : end.end()].strip(_EDGES):
            yield text[start : end.end()]
        start = end.end()
    if text[start:].strip(_EDGES):
        yield text[start:]


def _fold(text: str) -> str:
    """Lower case, without accents, Arabic vowel signs and stretches, with single spaces."""
    bare = _MARKS.sub("", unicodedata.normalize("NFD", text.casefold()))
    return " ".join(unicodedata.normalize("NFC", bare).split())


@cache
def _patterns() -> list[_Patterns]:
    return [
        _Patterns(
            script=re.compile(letters),
            cues=_any(LANGUAGES[name].cues for name in names),
            # Those at the head of a clause apart: the others are looked for at every place.
            declines=_any(pattern for pattern in _all(names, "declines") if pattern[0] != "^"),
            heads=_any(pattern for pattern in _all(names, "declines") if pattern[0] == "^"),
            leads=_any(_all(names, "leads")),
            harmless=_any(_all(names, "harmless")),
            echoes=_any(_all(names, "echoes")),
        )
        for letters, names in _SCRIPTS.items()
    ]


def _all(names: Iterable[str], kind: str) -> list[str]:
    return [pattern for name in names for pattern in getattr(LANGUAGES[name], kind)]


def _any(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(_fold(pattern) for pattern in patterns) or r"(?!)")


@cache
def _ends() -> re.Pattern[str]:
    words = "|".join(word for phrases in LANGUAGES.values() for word in (phrases.breaks, phrases.joins) if word)
    return re.compile("|".join([*_CLAUSE_ENDS, rf",\s+(?=(?:{words})\b)"]), re.IGNORECASE)


@cache
def _joins() -> re.Pattern[str]:
    return re.compile(rf"(?:{'|'.join(phrases.joins for phrases in LANGUAGES.values() if phrases.joins)})\s")


@cache
def _answering() -> re.Pattern[str]:
    return re.compile(_fold(ANSWERING))


@cache
def _contrast() -> re.Pattern[str]:
    return re.compile(rf"(?:{_fold(CONTRAST)})")
