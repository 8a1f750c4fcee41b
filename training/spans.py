"""Names, numbers and dates in a sentence, found by their spelling, with a rough kind that decides what may replace what."""

from __future__ import annotations

import re
from typing import NamedTuple

from words import MEN, MONTHS, NUMBER_WORDS, ORDINALS, WOMEN

_MONTH = "|".join(MONTHS)
_DATE = rf"(?:(?:{_MONTH}) \d{{1,2}}, \d{{4}}|\d{{1,2}} (?:{_MONTH}) \d{{4}}|(?:{_MONTH}) \d{{4}}|(?:{_MONTH}) \d{{1,2}}\b|\d{{1,2}} (?:{_MONTH})\b)"
_WORD = r"[A-Z][\w'’\-]*[\w]|[A-Z]\.(?:[A-Z]\.)*|[A-Z]"
_NAME = rf"(?:{_WORD})(?:(?: of the | of | de | von | van | and the | the | & | for | )(?:{_WORD}))*"
_SPAN = re.compile(
    rf"(?P<date>{_DATE})|(?P<year>\b(?:1[0-9]|20)\d\d\b(?!,\d))|(?P<percent>\d+(?:\.\d+)? ?(?:%|percent\b|per cent\b))"
    rf"|(?P<money>[$£€]\d[\d,.]*\d?(?: (?:million|billion|thousand))?)|(?P<number>\b\d[\d,]*(?:\.\d+)?(?: (?:million|billion|thousand))?\b)"
    rf"|(?P<ordinal>\b(?:{'|'.join(ORDINALS)}|\d+(?:st|nd|rd|th))\b)|(?P<word>\b(?:{'|'.join(NUMBER_WORDS[2:])})\b)|(?P<name>{_NAME})"
)
OPENERS = frozenset(
    re.findall(
        r"\w+",
        """The A An In On At It He She They This That These Those His Her Their Its As By For From With After Before During While
        When Although Though However But And Or If Since Some Many Most Several Other Another Each Both One Two Three There Such
        To Of Also Because Despite Under Over Between Among Until Not No All Any Only Our We I You My Your What Which Who Where
        Why How Then Thus Later Today Now Here According Following Within Without Through Like Upon Once So Yet Even First Second
        Next Finally Section See""",
    )
)
_PLACE = re.compile(
    r"\b(?:in|at|near|from|to|of|into|across|outside) (?:the )?$|\b(?:city|state|province|county|town|village|region) of $"
)
_PLACE_WORDS = re.compile(
    r"\b(?:City|County|Island|Islands|River|Lake|Street|Park|Mountains?|Sea|Ocean|States|Kingdom|Republic|Valley|Bay|Coast)$"
)
_GROUP_WORDS = re.compile(
    r"\b(?:University|College|School|Company|Corporation|Inc|Party|Committee|Council|Army|Club|Church|Records|Association|League|Institute|Museum|Ministry|Court|Bank|Union)\b"
)
_PERSON_BEFORE = re.compile(
    r"(?:\bby |\bMr\. |\bDr\. |\bPresident |\bKing |\bQueen |\bactor |\bdirector |\bsinger |\bson |\bdaughter |\bwife |\bhusband |\bwith )$"
)
_VERB_AFTER = re.compile(
    r"^(?:,? who\b| (?:said|wrote|was born|died|played|stated|married|won|told|became|argued|directed|sang|joined|moved|served|\(born))"
)


class Piece(NamedTuple):
    """A stretch of a sentence with its kind: person, place, group, thing, date, year, number, percent, money, ordinal, word."""

    start: int
    end: int
    text: str
    kind: str


def pieces(sentence: str) -> list[Piece]:
    """The names, numbers and dates of a sentence in order."""
    found = []
    for match in _SPAN.finditer(sentence):
        kind, text, start = match.lastgroup or "", match[0], match.start()
        if kind == "name":
            piece = _name(sentence, text, start)
            if piece is not None:
                found.append(piece)
        else:
            found.append(Piece(start, match.end(), text, kind))
    return found


def is_person(name: str) -> bool:
    """Whether a name is surely that of a person: a first name that we know, and a last one."""
    words = name.split()
    return 2 <= len(words) <= 4 and words[0] in MEN | WOMEN and words[-1][0].isupper() and words[-1].isalpha()


def _name(sentence: str, text: str, start: int) -> Piece | None:
    first, _, rest = text.partition(" ")
    while first in OPENERS and start + len(text) > 0:
        start += len(first) + 1
        text = rest
        if not text:
            return None
        for lead in ("of the ", "of ", "the ", "for ", "and the ", "& ", "de "):
            if text.startswith(lead):
                start += len(lead)
                text = text[len(lead) :]
        first, _, rest = text.partition(" ")
    if len(text) < 3 or (start == 0 and " " not in text and not text.isupper() and sentence[len(text) :][:2] != ", "):
        return None
    return Piece(start, start + len(text), text, _name_kind(sentence, text, start))


def _name_kind(sentence: str, text: str, start: int) -> str:
    before, after = sentence[max(0, start - 24) : start], sentence[start + len(text) :][:24]
    if _GROUP_WORDS.search(text):
        return "group"
    if _PLACE_WORDS.search(text):
        return "place"
    if _PERSON_BEFORE.search(before) or _VERB_AFTER.match(after):
        return "person"
    if _PLACE.search(before):
        return "place"
    if 2 <= text.count(" ") + 1 <= 3 and all(word[0].isupper() and word.isalpha() for word in text.split()):
        return "person"
    return "thing"
