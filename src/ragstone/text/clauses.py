"""Split an English sentence into clauses that are complete by themselves.

A split needs a verb before it and a subject with a verb, or an imperative, after it. A sentence with a condition is not
split at a comma: the condition may belong to every clause. Only the connectives at the joints are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragstone.text.late_pattern import late_pattern

_AUXILIARY = (
    r"(?:is|are|was|were|has|have|had|can|could|will|would|may|might|must|should|shall|does|do|did|cannot|"
    r"(?:is|are|was|were|has|have|had|do|does|did|ca|wo|would|could|should|must)n['’]t)"
)
_COMMON_VERB = (
    r"(?:applies|apply|allows?|becomes?|became|begins?|began|belongs?|closes?|comes?|came|contains?|costs?|covers?|depends?|ends?|"
    r"expires?|gets?|got|gives?|gave|goes|went|grows?|grew|helps?|holds?|held|includes?|keeps?|kept|lasts?|leads?|led|leaves?|left|"
    r"lies|lives?|makes?|made|means?|needs?|offers?|opens?|operates?|pays?|paid|provides?|reaches|receives?|remains?|replaces?|"
    r"requires?|returns?|rises?|rose|runs?|ran|says?|said|sees?|saw|sells?|sold|sends?|sent|serves?|shows?|sits?|stands?|stood|"
    r"starts?|stays?|stops?|supports?|takes?|took|tells?|told|turns?|uses?|works?|writes?|wrote|[a-z]{3,}ed)"
)
_FINITE = rf"(?:{_AUXILIARY}|{_COMMON_VERB})"
_PRONOUN = r"(?:it|he|she|they|this|these|those|there|we|you|i)"
_DETERMINER = r"(?:the|a|an|its|his|her|their|your|our|my|all|most|some|many|each|every|any|no|both|other|another|this|that|these|those)"
# A subject and a verb after it.
_CLAUSE = late_pattern(
    rf"(?:{_PRONOUN}(?: (?:also|then|still|never|always|only))? {_FINITE}\b"
    rf"|(?i:{_DETERMINER}) [\w'’%-]+(?: (?!and\b|or\b)[\w'’%-]+){{0,5}}? {_AUXILIARY}\b"
    rf"|(?i:{_DETERMINER}) [\w'’%-]+(?: (?!and\b|or\b|that\b|which\b|who\b)[\w'’%-]+){{0,2}}? {_COMMON_VERB}\b"
    rf"|[A-Z][\w'’-]*(?: (?:of |the )?[A-Z][\w'’-]*){{0,3}} {_FINITE}\b)"
)
_IMPERATIVE = late_pattern(
    r"(?:then |next |finally |afterwards |please )?(?:(?:do not|don['’]t|never|always) )?(?:add|allow|apply|ask|attach|avoid|begin|bring|"
    r"call|change|check|choose|blend|clean|click|close|come|connect|contact|cut|disconnect|drain|dry|enter|fill|find|finish|fit|fix|give|go|hold|install|"
    r"keep|leave|let|look|make|mix|move|open|pay|place|pour|prepare|press|pull|push|put|rake|read|release|remove|repeat|replace|reset|restart|rinse|rotate|run|"
    r"save|scrape|seal|select|send|set|spread|shut|sign|start|stir|stop|switch|take|test|tighten|turn|type|unplug|use|vacuum|wait|wash|wear|wipe|write)\b"
    r"(?! (?:is|are|was|were|has|have|will|can|must|may)\b)",
    re.IGNORECASE,
)
_VERB = late_pattern(rf"(?<=\w )(?:{_FINITE})\b")
_HELPED = late_pattern(rf"(?<=\w )(?:{_AUXILIARY})\b")
# How two clauses are joined; the word `bare` stands without a comma.
_JOINT = late_pattern(
    r"(?P<strong>; (?:and |but |however, |therefore, |so )?| [–—] (?:and |but |so )?)"
    r"|(?P<colon>: )"
    r"|, (?:and|but|while|whereas|so|yet|because|since|although|though)(?: then| also)? "
    r"|(?P<bare> and (?:then )?)"
)
_OPENS_CONDITION = r"(?:if|unless|when|whenever|until|once|as long as|as soon as|in case)"
_CONDITION = late_pattern(
    rf"\b(?:{_OPENS_CONDITION}|provided|except|only|otherwise|whether|either|neither|in order to|instead of|"
    r"says?|said|states?|stated|claims?|claimed|believes?|believed|false|untrue|myth|not true|suppose)\b",
    re.IGNORECASE,
)
_OWN_CONDITION = late_pattern(rf"{_OPENS_CONDITION} [^,;]+", re.IGNORECASE)
_SUBORDINATE = late_pattern(
    r"(?:while|whereas|because|since|although|though|if|unless|when|once|until) ", re.IGNORECASE
)
_RELATIVE = late_pattern(r"\b(?:which|who|that|whose|if|when|where|both|either|neither|unless|whether)\b")
_SECOND_VERB = late_pattern(
    rf",? and (?:also |then )?(?={_AUXILIARY} |(?:includes?|costs?|takes?|needs?|lasts?|covers?|requires?|contains?) )"
)
_SUBJECT = late_pattern(rf"^(?P<subject>[A-Z](?:(?! and )[\w'’ -]){{1,50}}?) {_AUXILIARY} ")
_LONGEST = 2_000


def is_sentence(text: str) -> bool:
    """Whether a text without a final stop is a sentence: a subject with a verb, or an imperative with an object."""
    start = text[:1].lower() + text[1:]
    return bool(
        _CLAUSE.match(text) or _CLAUSE.match(start) or (_IMPERATIVE.match(text) and len(text.split()) >= _LEAST_ORDER)
    )


# An imperative of fewer words may be a noun: "test run".
_LEAST_ORDER = 4


def clauses(sentence: str) -> list[str]:
    """The clauses of a sentence, each with a capital letter and a final stop; the sentence itself if it is not split."""
    if len(sentence) > _LONGEST or "`" in sentence:
        return [sentence]
    found: list[str] = []
    start = 0
    for joint in _JOINT.finditer(sentence):
        if _separates(joint, sentence[start : joint.start()], sentence[joint.end() :]):
            found.extend(_predicates(as_sentence(sentence[start : joint.start()])))
            start = joint.end()
    return [*found, *_predicates(as_sentence(sentence[start:]))]


def _separates(joint: re.Match[str], left: str, right: str) -> bool:
    """Whether the texts before and after a joint are complete without each other."""
    order = bool(_IMPERATIVE.match(left))
    if _is_open(left) or _SUBORDINATE.match(left) or not (order or _VERB.search(left)):
        return False
    if joint["bare"]:
        if _CONDITION.search(left + right) or _RELATIVE.search(left):
            return False
        return _is_order(right) if order else bool(_HELPED.search(left) and _CLAUSE.match(right))
    if joint["strong"]:
        return _starts_clause(right) or bool(_OWN_CONDITION.match(right))
    if joint["colon"]:
        return _starts_clause(right) and not _CONDITION.search(left)
    if _CONDITION.search(left):
        return False
    return bool(_OWN_CONDITION.match(right)) or (_starts_clause(right) and not _CONDITION.search(right))


def _starts_clause(right: str) -> bool:
    return bool(_CLAUSE.match(right)) or _is_order(right)


def _is_order(text: str) -> bool:
    return bool(_IMPERATIVE.match(text)) and len(text.split()) >= _LEAST_ORDER


def _is_open(left: str) -> bool:
    """Whether a bracket or a quotation is not closed yet."""
    return left.count("(") > left.count(")") or left.count('"') % 2 == 1 or left.count("“") > left.count("”")


def _predicates(clause: str) -> Iterator[str]:
    """`A is B and has D` as two clauses with the same subject."""
    subject = _SUBJECT.match(clause)
    # The second verb may belong to a relative clause, a list or a condition.
    if not subject or _RELATIVE.search(clause):
        yield clause
        return
    first, *rest = _SECOND_VERB.split(clause)
    yield as_sentence(first)
    yield from (as_sentence(f"{subject['subject']} {part}") for part in rest)


def as_sentence(clause: str) -> str:
    """A clause with a capital letter at its start and a stop at its end."""
    clause = clause.strip().rstrip(",;")
    clause = clause[:1].upper() + clause[1:]
    return clause if not clause or clause[-1] in ".!。！…\"'”)" else f"{clause}."
