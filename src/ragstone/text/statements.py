"""Split a text by rules into statements that can be checked one by one, for judges that cannot generate text.

A sentence is split only if both parts are complete without each other. The words that introduce a list are repeated only
with items that say nothing alone. A pronoun at the start of the text is replaced if the question contains exactly one
name. Code is not changed. The English rules are not applied to other scripts: there each sentence is a statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ragstone.text.clauses import clauses, is_sentence
from ragstone.text.late_pattern import late_pattern
from ragstone.text.names import names
from ragstone.text.questions import complete, is_fragment
from ragstone.text.refusals import find_refusal
from ragstone.text.sentences import sentences

_ITEM = late_pattern(r"^\s*(?:[-*•‣◦–]|\(?\d{1,2}[.)]|\(?[a-z][.)])\s+")
_CODE = late_pattern(r"^[ \t]*(```|~~~)[^\n]*\n(?P<code>.*?)(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_HEADING = late_pattern(r"#{1,6}\s+\S|\*\*[^*\n]{1,80}\*\*:?$")
_MARKUP = late_pattern(r"\*\*|__|`|^\s*#+\s*|^\s*>\s*")
_CITATION = late_pattern(
    r"\s*(?:\[\d+(?:\s*[,;–-]\s*\d+)*\]|\[(?:source|doc|document|context|chunk)[^\]]{0,20}\])", re.IGNORECASE
)
_OPENING = late_pattern(
    r"^(?:(?:based on|according to|as (?:stated|mentioned|described|noted) in|from|per|in) (?:the|this|your|these) "
    r"(?:(?:provided|given|retrieved|above|available) )?(?:contexts?|information|documents?|texts?|passages?|sources?|excerpts?|chunks?)"
    r"(?: (?:provided|given|above))?|however|moreover|furthermore|additionally|in addition|also|therefore|thus|so|finally|in summary|"
    r"in short|overall|yes|no|sure|certainly|of course|well),\s+",
    re.IGNORECASE,
)
# The rest is an answer of a word or two, with or without a full stop.
_ANSWER_IS = late_pattern(
    r"^(?:the |my )?(?:short |correct |right |final )?answer(?: to (?:the|your|this) question)?(?: is|:) (?=\S)",
    re.IGNORECASE,
)
_ENGLISH = late_pattern(r"\b(?:the|is|are|was|were|has|have|can|will|must|should|may|does|do|did|you)\b")
_PRONOUN = late_pattern(r"^(?:(It|He|She|They)|(Its|His|Her|Their))\b(?= )")
_LONGEST = 2_000
_MOST = 100


def statements(question: str, text: str) -> list[str]:
    """The distinct statements of a text, at most 100; an answer of a word or two is completed by its question."""
    distinct: dict[str, None] = {}
    for line in _lines(text):
        if line.is_code:
            distinct.setdefault(line.text, None)
        elif not line.text.endswith(("?", "？")) and not (len(line.text) < _LONGEST and find_refusal(line.text)):
            for part in _parts(_completed(question, line)):
                # Only at the start of the text: further on, a pronoun may mean something else.
                distinct.setdefault(part if distinct else _stand_alone(part, question), None)
    return list(distinct)[:_MOST]


class _Line(NamedTuple):
    text: str
    # The words that introduce the list to which the line belongs.
    lead: str = ""
    is_code: bool = False


def _lines(text: str) -> Iterator[_Line]:
    """The sentences without layout marks; a block of code is one line."""
    position = 0
    for block in _CODE.finditer(text):
        yield from _prose(text[position : block.start()])
        if code := block["code"].strip():
            yield _Line(code, is_code=True)
        position = block.end()
    yield from _prose(text[position:])


def _prose(text: str) -> Iterator[_Line]:
    lead = ""
    spans = sentences(text)
    for number, (start, end) in enumerate(spans, start=1):
        raw = text[start:end]
        line = _CITATION.sub("", _MARKUP.sub("", _ITEM.sub("", raw))).strip()
        if _is_table_rule(line) or not any(character.isalnum() for character in line):
            continue
        if line.endswith((":", "：")) or (_HEADING.match(raw) and number < len(spans)):
            lead = _without_opening(line.rstrip(":：").strip())
            continue
        is_item = bool(_ITEM.match(raw))
        line = _without_opening(line)
        yield _Line(line, lead if is_item or is_fragment(line) else "")
        lead = lead if is_item else ""


def _completed(question: str, line: _Line) -> str:
    """A line that can be understood: a fragment gets the words that introduce its list, otherwise the question."""
    if not is_fragment(line.text) or is_sentence(line.text):
        return line.text
    return f"{line.lead}: {line.text}" if line.lead else complete(question, line.text)


def _is_table_rule(line: str) -> bool:
    return not line.strip("|-: ")


def _without_opening(line: str) -> str:
    opening = _OPENING.match(line)
    rest = line[opening.end() :] if opening else line
    if answer := _ANSWER_IS.match(rest):
        return rest[answer.end() :].rstrip(".")
    return rest[:1].upper() + rest[1:] if opening and rest else line


def _parts(sentence: str) -> list[str]:
    """The clauses of an English sentence; a sentence in another script as it is."""
    return clauses(sentence) if sentence.isascii() or _ENGLISH.search(sentence) else [sentence]


def _stand_alone(statement: str, question: str) -> str:
    """Replace a pronoun at the start by the only name in the question."""
    pronoun = _PRONOUN.match(statement)
    named = names(question) if pronoun else []
    if not pronoun or len(named) != 1 or not named[0][:1].isupper():
        return statement
    return f"{named[0]}{chr(39) + 's' if pronoun[2] else ''}{statement[pronoun.end() :]}"
