"""Split a text by rules into statements that can be checked one by one, for judges that cannot generate text.

A sentence is split only if both parts are complete without each other. The words that introduce a list are repeated only
with items that say nothing alone. A pronoun at the start of the text is replaced if the question contains exactly one
name. Each cell of a table is a statement with its row and column heads. A refusal states nothing. Code is not changed;
a sentence before it is its statement, with a single line of code. The English rules are not applied to other scripts: there each sentence is a statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from ragstone.text.clause_parts import Part, as_sentence
from ragstone.text.clauses import is_sentence, sentence_parts
from ragstone.text.layout import Table, split_tables
from ragstone.text.lexicon import late_pattern
from ragstone.text.names import names
from ragstone.text.overlap import content_words
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
# Not "it is certain that …", where "it" has no meaning of its own.
_EMPTY_IT = r"It (?:is|was|isn['’]t|wasn['’]t|seems|takes|makes|depends|helps|follows|can|may|might) (?:[\w'’-]+ ){0,4}(?:that|to|whether|if|on|sense)\b"
_PRONOUN = late_pattern(rf"^(?!{_EMPTY_IT})(?:(It|He|She|They)|(Its|His|Her|Their))\b(?= )")
# Says something only after its question: "You do not."
_SHORT_ANSWER = late_pattern(
    r"(?:I|you|we|they|it|he|she|there|this|that) (?:am|is|are|was|were|do|does|did|can|could|may|might|must|should|will|would|has|have)"
    r"(?:n['’]t| not)?[.!]?|(?:can|could|is|are|does|do)not[.!]?",
    re.IGNORECASE,
)
# A no that the next sentence explains.
_EXPLAINED_NO = late_pattern(r"^(?:I['’]m |I am |Unfortunately,? |Sorry, )?(?:afraid )?not[.!]\s+(?=\w)", re.IGNORECASE)
# Greetings, offers of help and empty orders.
_COURTESY = late_pattern(
    r"(?:(?:great|good|excellent) question|you['’]?re welcome|(?:i am|i['’]m)? ?(?:so |very )?sorry (?:to \w+|this|that|for)|"
    r"congratulations|(?:please )?(?:let me know|feel free)|i hope (?:this|that)|(?:i|we) hope [^.;:,]{0,60}[.!]?$|hope (?:this|that) helps|(?:gladly|sure|certainly|"
    r"of course|no problem|my pleasure|absolutely|gerne?|con (?:mucho )?gusto|avec plaisir)[.!]?$|"
    r"(?:have|happy|enjoy|good luck|get well)[^.]{0,30}!$|"
    r"(?:(?:i['’]m|i am|i['’]d be|i would be|we['’]re|we are) )?(?:always |very |so )?(?:happy|glad|pleased|delighted) "
    r"(?:to (?:help|assist)|you (?:asked|wrote))[^.;:,]{0,25}[.!]?$|"
    r"(?:many )?thank(?:s| you)(?: very much| so much)?(?: for [^.;:,]{0,50}|, [^.;:,]{0,20})?[.!]?$|"
    r"(?:vielen |herzlichen |besten )?dank für (?:ihre?|deine?)\b[^.;:,]{0,30}[.!]?$|(?:gern(?:e)? )helfe ich[^.;:,]{0,25}[.!]?$|"
    r"(?:muchas )?gracias por (?:su|tu|la)\b[^.;:,]{0,30}[.!]?$|merci (?:pour|de) v[^.;:,]{0,40}[.!]?$|"
    # Orders without anything to check, not "Contact us by email" or "Repeat it three times".
    r"(?:please )?(?:contact|ask|call|email|write to) us(?: directly)? (?:if (?:(?:you are |you['’]re )?(?:ever )?(?:in doubt|unsure|not sure)|you (?:have|need) (?:any )?"
    r"(?:(?:further|more|other) )?(?:questions?|doubts?|help|information))|for (?:further|more) (?:help|information))[.!]?$|(?:then |now |please )?(?:check|compare|recompute|"
    r"recalculate|recheck|verify)(?: it| them| both| again)*(?: and (?:then )?(?:check|compare|confirm|verify)(?: it| them| both| again)*)?[.!]$|"
    r"(?:hi|hello|hey|hallo|bonjour|good (?:morning|afternoon|evening)|guten (?:tag|morgen|abend))(?: (?:there|[\w.]+))?[.!,]?$)",
    re.IGNORECASE,
)
_LONGEST = 2_000
_MOST = 100
# A sentence of fewer words says nothing before a block of code; with such an end, it needs the code.
_LEAST_LEAD = 5
_NEEDS_CODE = late_pattern(r"\b(?:run|use|type|call|set|add|is|are|following|this|below|like|with)(?: \w+){0,3}:$")


def statements(question: str, text: str) -> list[str]:
    """The distinct statements of a text, at most 100; an answer of a word or two is completed by its question."""
    return [part.text for part in weighed_statements(question, text)]


def weighed_statements(question: str, text: str) -> list[Part]:
    """The statements of a text with the number of words of each."""
    if find_refusal(text):
        return []
    question, text = " ".join(question.split()), _EXPLAINED_NO.sub("", text)
    distinct, seen = dict[str, int](), set[_Line]()
    for line in _lines(text):
        if line in seen:
            continue
        if len(distinct) >= _MOST:
            break  # the question is repeated in every statement that it completes
        if distinct:  # the first line may read otherwise further on: see below
            seen.add(line)
        if line.words:
            distinct.setdefault(line.text, line.words)
        elif not line.text.endswith(("?", "？", ":")) and not _says_nothing(line.text):
            for part in _parts(question, line):
                # Only at the start of the text: further on, a pronoun may mean something else.
                distinct.setdefault(part.text if distinct else _stand_alone(part.text, question), part.words)
    return [Part(*pair) for pair in distinct.items()][:_MOST]


def sentences_around(question: str, text: str, claims: Sequence[str]) -> list[str]:
    """For each claim the sentence of the text that has most of its words, after the sentence before it or the question."""
    spans = [text[start:end] for start, end in sentences(text)]
    if not spans:
        return list(claims)
    found, before = [content_words(span) for span in spans], [" ".join(question.split()), *spans]
    nearest = [
        max(range(len(spans)), key=lambda at: (len(words & found[at]), -at)) for words in map(content_words, claims)
    ]
    return [f"{before[at]} {spans[at]}".strip() for at in nearest]


def _says_nothing(line: str) -> bool:
    return len(line) < _LONGEST and bool(_COURTESY.match(line) or find_refusal(line))


def _parts(question: str, line: _Line) -> list[Part]:
    sentence = _completed(question, line)
    if sentence != line.text:  # what completes it does not count
        return [Part(as_sentence(sentence), max(1, len(line.text.split())))]
    if not sentence.isascii() and not _ENGLISH.search(sentence):
        return [Part(sentence, max(1, len(sentence.split())))]
    # "…, so I cannot answer this"
    return [part for part in sentence_parts(sentence) if not _says_nothing(part.text)]


class _Line(NamedTuple):
    text: str
    # The words that introduce the list to which the line belongs.
    lead: str = ""
    # Code and cells of tables are not split; these words count.
    words: int = 0


def _lines(text: str) -> Iterator[_Line]:
    """The sentences without layout marks; a block of code is one line."""
    position = 0
    for block in _CODE.finditer(text):
        before, code = [*_blocks(text[position : block.start()])], block["code"].strip()
        lead = before.pop().text if before and before[-1].text.endswith(":") else ""
        yield from before
        if lead and ("\n" not in code or _NEEDS_CODE.search(lead)):
            code, lead = f"{lead} {' '.join(code.split())}".removesuffix(": "), ""
        if one := lead.removesuffix(":") or code:
            yield _Line(one, words=len(one.split()))
        position = block.end()
    yield from _blocks(text[position:])


def _blocks(text: str) -> Iterator[_Line]:
    for block in split_tables(text):
        yield from _cells(block) if isinstance(block, Table) else _prose(block)


def _cells(table: Table) -> Iterator[_Line]:
    """`Kestrel: Price (3 days) £690`; the first cell of a row is its head, and empty cells state nothing."""
    for name, *cells in table.rows:
        named = len(name.split())
        for head, cell in zip_longest(table.heads[1:], cells, fillvalue=""):
            if any(map(str.isalnum, cell)):
                thing = (
                    f"{name}: {head} {cell}" if name and head else f"{name or head}: {cell}" if name or head else cell
                )
                yield _Line(as_sentence(thing), words=len(cell.split()) + named)
                named = 0


def _prose(text: str) -> Iterator[_Line]:
    lead = ""
    spans = sentences(text)
    for number, (start, end) in enumerate(spans, start=1):
        raw = text[start:end]
        line = _CITATION.sub("", _MARKUP.sub("", _ITEM.sub("", raw))).strip()
        if not any(character.isalnum() for character in line):
            continue
        if line.endswith((":", "：")) or (_HEADING.match(raw) and number < len(spans)):
            lead = _without_opening(line.rstrip(":：").strip())
            if number == len(spans) and len(line.split()) >= _LEAST_LEAD and not is_fragment(f"{lead}."):
                yield _Line(f"{lead}:")
            continue
        is_item = bool(_ITEM.match(raw))
        line = _without_opening(line)
        yield _Line(line, lead if is_item or is_fragment(line) else "")
        lead = lead if is_item else ""


def _completed(question: str, line: _Line) -> str:
    """A line that can be understood: a fragment gets the words that introduce its list, otherwise the question."""
    if not _SHORT_ANSWER.fullmatch(line.text) and (not is_fragment(line.text) or is_sentence(line.text)):
        return line.text
    return f"{line.lead}: {line.text}" if line.lead else complete(_asked(question), line.text)


def without_question(question: str, statement: str) -> str:
    """A statement as people read it next to its question: without the question that completes it."""
    asked = " ".join(_asked(question).split())
    return statement.removeprefix(f"{asked[:1].upper()}{asked[1:]} ") if asked else statement


def _asked(question: str) -> str:
    """The last question of several sentences: what the user says before it is not a claim of the answer."""
    spans = [question[start:end].strip() for start, end in sentences(question)]
    return next((span for span in reversed(spans) if span.endswith(("?", "？"))), question)


def _without_opening(line: str) -> str:
    opening = _OPENING.match(line)
    rest = line[opening.end() :] if opening else line
    if answer := _ANSWER_IS.match(rest):
        return rest[answer.end() :].rstrip(".")
    return rest[:1].upper() + rest[1:] if opening and rest else line


def _stand_alone(statement: str, question: str) -> str:
    """Replace a pronoun at the start by the only name in the last question: what earlier turns name may not be meant."""
    pronoun = _PRONOUN.match(statement)
    named = names(re.split(r"[?？]\s*(?=\w)", question)[-1]) if pronoun else []
    if not pronoun or len(named) != 1 or not named[0][:1].isupper() or named[0] == "I":
        return statement
    return f"{named[0]}{chr(39) + 's' if pronoun[2] else ''}{statement[pronoun.end() :]}"
