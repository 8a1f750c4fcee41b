"""Split a text by rules into statements that can be checked one by one, for judges that cannot generate text.

A sentence is split only if both parts are complete without each other. A pronoun is replaced only if the question contains
exactly one name. The English rules are not applied to other scripts: there each sentence is a statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragstone.text.names import names
from ragstone.text.questions import complete, is_fragment
from ragstone.text.refusals import find_refusal
from ragstone.text.sentences import sentences

_ITEM = re.compile(r"^\s*(?:[-*•‣◦–]|\(?\d{1,2}[.)]|\(?[a-z][.)])\s+")
_MARKUP = re.compile(r"\*\*|__|`|^\s*#+\s*|^\s*>\s*")
_CITATION = re.compile(
    r"\s*(?:\[\d+(?:\s*[,;–-]\s*\d+)*\]|\[(?:source|doc|document|context|chunk)[^\]]{0,20}\])", re.IGNORECASE
)
_OPENING = re.compile(
    r"^(?:(?:based on|according to|as (?:stated|mentioned|described|noted) in|from|per|in) (?:the|this|your|these) "
    r"(?:(?:provided|given|retrieved|above|available) )?(?:contexts?|information|documents?|texts?|passages?|sources?|excerpts?|chunks?)"
    r"(?: (?:provided|given|above))?|however|moreover|furthermore|additionally|in addition|also|therefore|thus|so|finally|in summary|"
    r"in short|overall|yes|no|sure|certainly|of course|well),\s+",
    re.IGNORECASE,
)
# The rest is an answer of a word or two, with or without a full stop.
_ANSWER_IS = re.compile(
    r"^(?:the |my )?(?:short |correct |right |final )?answer(?: to (?:the|your|this) question)?(?: is|:) (?=\S)",
    re.IGNORECASE,
)
_AUXILIARY = r"(?:is|are|was|were|has|have|had|can|could|will|would|may|might|must|should|does|do|did)"
_VERB = re.compile(rf"\b{_AUXILIARY}\b")
# A subject and a verb after it: the clause is complete.
_CLAUSE = re.compile(
    rf"(?:it|he|she|they|this|these|there|we|you|i|(?:the|a|an|its|his|her|their|all|most|some|each|every) [\w' -]{{2,40}}?"
    rf"|[A-Z][\w'-]*(?: [A-Z][\w'-]*){{0,3}}) {_AUXILIARY}\b"
)
_JOINT = re.compile(r"(?:;|, (?:and|but|while|whereas)|; (?:and|but|however,)) ")
_SECOND_VERB = re.compile(rf",? and (?={_AUXILIARY} )")
_SUBJECT = re.compile(rf"^(?P<subject>[A-Z][\w' -]{{1,50}}?) {_AUXILIARY} ")
_PRONOUN = re.compile(r"^(?:(It|He|She|They)|(Its|His|Her|Their))\b(?= )")
_LONGEST = 2_000
_MOST = 100


def statements(question: str, text: str) -> list[str]:
    """The distinct statements of a text, at most 100; an answer of a word or two is completed by its question."""
    distinct: dict[str, None] = {}
    for sentence in _lines(text):
        if sentence.endswith(("?", "？")) or (len(sentence) < _LONGEST and find_refusal(sentence)):
            continue
        whole = complete(question, sentence) if is_fragment(sentence) else sentence
        for part in _parts(whole):
            distinct.setdefault(_stand_alone(part, question), None)
    return list(distinct)[:_MOST]


def _lines(text: str) -> Iterator[str]:
    """The sentences without layout marks; list items get the words that introduce the list."""
    lead = ""
    for start, end in sentences(text):
        raw = text[start:end]
        line = _CITATION.sub("", _MARKUP.sub("", _ITEM.sub("", raw))).strip()
        if _is_table_rule(line) or not any(character.isalnum() for character in line):
            continue
        if line.endswith((":", "：")):
            lead = line[:-1].strip()
            continue
        is_item = bool(_ITEM.match(raw))
        line = _without_opening(line)
        yield f"{lead}: {line}" if lead and (is_item or is_fragment(line)) else line
        lead = lead if is_item else ""


def _is_table_rule(line: str) -> bool:
    return not line.strip("|-: ")


def _without_opening(line: str) -> str:
    opening = _OPENING.match(line)
    rest = line[opening.end() :] if opening else line
    if answer := _ANSWER_IS.match(rest):
        return rest[answer.end() :].rstrip(".")
    return rest[:1].upper() + rest[1:] if opening and rest else line


def _parts(sentence: str) -> Iterator[str]:
    """The complete clauses: "A is B, and C has D" as two; "A is B and has D" as two with the same subject."""
    if not sentence.isascii() and not _VERB.search(sentence):
        yield sentence
        return
    start = 0
    for joint in _JOINT.finditer(sentence):
        left, right = sentence[start : joint.start()], sentence[joint.end() :]
        if _VERB.search(left) and _CLAUSE.match(right):
            yield from _predicates(_as_sentence(left))
            start = joint.end()
    yield from _predicates(_as_sentence(sentence[start:]))


def _predicates(clause: str) -> Iterator[str]:
    subject = _SUBJECT.match(clause)
    # The second verb may belong to a relative clause, a list or a condition.
    if not subject or re.search(r"\b(?:which|who|that|whose|if|when|where|both|either|neither)\b", clause):
        yield clause
        return
    first, *rest = _SECOND_VERB.split(clause)
    yield _as_sentence(first)
    yield from (_as_sentence(f"{subject['subject']} {part}") for part in rest)


def _as_sentence(clause: str) -> str:
    clause = clause.strip().rstrip(",;")
    clause = clause[:1].upper() + clause[1:]
    return clause if not clause or clause[-1] in ".!。！…\"'”)" else f"{clause}."


def _stand_alone(statement: str, question: str) -> str:
    """Replace a pronoun at the start by the only name in the question."""
    pronoun = _PRONOUN.match(statement)
    named = names(question) if pronoun else []
    if not pronoun or len(named) != 1 or not named[0][:1].isupper():
        return statement
    return f"{named[0]}{chr(39) + 's' if pronoun[2] else ''}{statement[pronoun.end() :]}"
