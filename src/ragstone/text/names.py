"""Names and numbers in a text by spelling: capitalised words, and figures with their unit.

This needs a script with capital letters. In German all nouns are capitalised, so they count as names.
"""

from __future__ import annotations

import re

from ragstone.text.lexicon import lexicon, word_set
from ragstone.text.sentences import sentences

_LINK = r"(?: (?:of|de|del|la|van|von|der|den|du|da|the|and|&))?"
_NAME = re.compile(rf"(?<![\w'])(?:[A-ZÀ-ÖØ-ÞĀ-ŽΑ-ΩА-Я][\w'’&-]*)(?:{_LINK} [A-ZÀ-ÖØ-ÞĀ-ŽΑ-ΩА-Я0-9][\w'’&-]*)*")
_NUMBER = re.compile(
    r"(?<![\w.])[$€£¥]?\d[\d.,:/]*(?:(?<=\d)|(?<=[\d.,:/]\b))(?: ?%| (?:percent|million|billion|thousand)\b)?"
)
# Words that are capitalised only at the start of a sentence.
_BEGINNERS = word_set(lexicon("names")["beginners"])


def names(text: str) -> list[str]:
    """The distinct names and numbers of a text, in order."""
    distinct: dict[str, None] = {}
    for start, end in sentences(text):
        sentence = text[start:end]
        spans = [
            (match.start(), _without_beginner(match[0], match.start() == 0 and match[0] != sentence.rstrip(".!")))
            for match in _NAME.finditer(sentence)
        ]
        taken = " ".join(name for _, name in spans)
        spans += [
            (m.start(), m[0].strip(".,:/ ")) for m in _NUMBER.finditer(sentence) if m[0].strip(".,:/ ") not in taken
        ]
        distinct.update(dict.fromkeys(name for _, name in sorted(spans) if name))
    return list(distinct)


def has_capitals(text: str) -> bool:
    """Whether spelling can reveal names: the text has no letters, or letters of a script with capitals."""
    letters = [character for character in text if character.isalpha()]
    return not letters or any(character.isupper() or character.islower() for character in letters)


def _without_beginner(name: str, at_start: bool) -> str:
    """Remove a word that is capitalised only because it starts the sentence."""
    first, _, rest = name.partition(" ")
    if first.lower() in _BEGINNERS:
        return re.sub(r"^(?:of|de|the|and|&) ", "", rest)
    return "" if at_start and not rest and name[1:].islower() else name.rstrip("'’-")
