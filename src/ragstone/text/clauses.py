"""Split an English sentence into clauses that are complete by themselves, and long clauses into their parts.

A split needs a verb before it and a subject with a verb, or an imperative, after it. A sentence with a condition is not
split at a comma: the condition may belong to every clause. Only the connectives at the joints are left out. "It" after such a
joint is replaced by the subject of the clause before if that clause is of the kind "A is B", which names nothing else.
"""

from __future__ import annotations

import re

from ragstone.text.clause_parts import Part, as_sentence, clause_parts
from ragstone.text.lexicon import late_pattern, lexicon

_AUXILIARY, _COMMON_VERB, _PLURAL_VERB, _IMPERATIVES, _PRONOUN, _DETERMINER = (
    f"(?:{'|'.join(lexicon('clauses')[name].split())})"
    for name in ("auxiliaries", "verbs", "plural_verbs", "imperatives", "pronouns", "determiners")
)
_FINITE = rf"(?:{_AUXILIARY}|{_COMMON_VERB})"
# A subject and a verb after it.
_CLAUSE = late_pattern(
    rf"(?:{_PRONOUN}(?: (?:also|then|still|never|always|only))? {_FINITE}\b"
    rf"|(?i:{_DETERMINER}) [\w'’%-]+(?: (?!and\b|or\b|that\b|which\b|who\b)[\w'’%-]+){{0,5}}? {_AUXILIARY}\b"
    rf"|(?i:{_DETERMINER}) [\w'’%-]+(?: (?!and\b|or\b|that\b|which\b|who\b)[\w'’%-]+){{0,2}}? {_COMMON_VERB}\b"
    rf"|[A-Z][\w'’-]*(?: (?:of |the )?[A-Z][\w'’-]*){{0,3}} {_FINITE}\b)"
)
# After a joint, a subject without an article too: "hair must be dry", "students at the college qualify".
_NOUN_CLAUSE = late_pattern(
    r"(?!(?:in|on|at|for|from|by|with|without|then|often|usually|also|now|today|never|always|not|only|thus|if|when|what|how|to|as|otherwise|instead)\b)"
    rf"[\w'’-]+(?: (?!and\b|or\b|that\b|which\b|who\b|whose\b|where\b|if\b|to\b)[\w'’%.-]+){{0,5}}? {_AUXILIARY}\b"
    rf"|(?:[a-z][\w'’-]+ )?(?:[a-z][\w'’-]*s|people|children|staff)(?: (?:at|in|of|with|under|over|from|for|without) [\w'’ ]{{1,40}}?)? "
    rf"{_PLURAL_VERB}\b"
)
_IMPERATIVE = late_pattern(
    r"(?:then |next |finally |afterwards |please )?(?:(?:do not|don['’]t|never|always) )?"
    rf"{_IMPERATIVES}\b"
    r"(?! (?:is|are|was|were|has|have|will|can|must|may)\b)",
    re.IGNORECASE,
)
_VERB = late_pattern(rf"(?<=\w )(?:{_FINITE})\b")
_HELPED = late_pattern(rf"(?<=\w )(?:{_AUXILIARY})\b")
# How two clauses are joined; `bare` has no comma.
_JOINT = late_pattern(
    r"(?P<strong>; (?:and |but |however, |therefore, |so )?| [–—] (?:and |but |so )?"
    # A sentence after an abbreviation: "until 9 pm. Guests are …".
    r"|(?:(?<=[ap]m\.)|(?<=[ap]\.m\.)|(?<= m\.)|(?<=[kc]m\.)|(?<=kg\.)|(?<= in\.)) (?=[A-Z][a-z]))"
    r"|(?P<colon>: )"
    r"|, (?:and|but|while|whereas|so(?! that\b)|yet|because|since|although|though)(?: then| also)? "
    r"|(?P<bare> and (?:then )?)"
    # "The lid is closed, the light is on and …"
    r"|(?P<series>, )(?=[^,;:]+(?:,[^,;:]+)*,? and )"
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
_IS = late_pattern(
    r"^(?P<subject>(?i:the|an?|this) [\w'’-]+(?: [\w'’-]+){0,2}?|[A-Z][\w'’-]+(?: [A-Z][\w'’-]+){0,2}) (?:is|was) (?P<rest>.*)$"
)
_IT = late_pattern(r"[Ii]t (?=[a-z])")
_NOUN = late_pattern(rf"\b(?:{_DETERMINER})\b|[A-Z]")
_OPENS_ADVERBIAL = late_pattern(
    r"(?:after|before|as|where|wherever|even|given|since|for|in|on|at|by|with)\b", re.IGNORECASE
)
_AUXILIARY_CLAUSE = late_pattern(
    rf"(?i:{_DETERMINER}) [\w'’%-]+(?: (?!and\b|or\b|that\b|which\b|who\b)[\w'’%-]+){{0,3}}? {_AUXILIARY}\b"
)
_LONGEST = 2_000


def is_sentence(text: str) -> bool:
    """Whether a text without a final stop is a sentence: a subject with a verb, or an imperative with an object."""
    start = text[:1].lower() + text[1:]
    return bool(_CLAUSE.match(text) or _CLAUSE.match(start)) or _is_order(text)


# An imperative of fewer words may be a noun: "test run".
_LEAST_ORDER = 4


def clauses(sentence: str) -> list[str]:
    """The clauses of a sentence, each with a capital letter and a final stop; the sentence itself if it is not split."""
    return [part.text for part in sentence_parts(sentence)]


def sentence_parts(sentence: str) -> list[Part]:
    """The clauses of a sentence, and the parts of long ones, with the number of words of each."""
    if len(sentence) > _LONGEST or "`" in sentence:
        return [Part(sentence, max(1, len(sentence.split())))]
    found: list[str] = []
    start = 0
    for joint in _JOINT.finditer(sentence):
        if _separates(joint, sentence[start : joint.start()], sentence[joint.end() :]):
            found.append(sentence[start : joint.start()])
            start = joint.end()
    found.append(sentence[start:])
    for at in range(1, len(found)):
        found[at] = _named(found[at], found[at - 1])
    return [part for clause in found for part in clause_parts(as_sentence(clause))]


def _named(clause: str, before: str) -> str:
    """The clause with the subject of the one before for "it", if that one names nothing else."""
    it, named = _IT.match(clause), _IS.match(before)
    return f"{named['subject']} {clause[it.end() :]}" if it and named and not _NOUN.search(named["rest"]) else clause


def _separates(joint: re.Match[str], left: str, right: str) -> bool:
    """Whether the texts before and after a joint are complete without each other."""
    left = left.rsplit("; ", 1)[-1]
    order = bool(_IMPERATIVE.match(left))
    if _is_open(left) or _SUBORDINATE.match(left) or not (order or _VERB.search(left)):
        return False
    if joint["series"]:
        return _continues_series(left, right, order)
    if joint["bare"]:
        if _CONDITION.search(left + right) or _RELATIVE.search(left):
            return False
        return _is_order(right) if order else bool(_HELPED.search(left) and _CLAUSE.match(right))
    if joint["strong"]:
        return _starts_clause(right) or bool(_OWN_CONDITION.match(right))
    if joint["colon"]:
        return _starts_clause(right) and not _CONDITION.search(left) and len(left.split()) > 1
    if _CONDITION.search(left):
        return False
    if not order and _is_order(right) and joint[0].startswith(", and"):
        return False  # "They run for a year, and pay 5 %": one more verb of the subject
    return bool(_OWN_CONDITION.match(right)) or (_starts_clause(right) and not _CONDITION.search(right))


def _continues_series(left: str, right: str, order: bool) -> bool:
    """Whether the right side of a plain comma is one more clause of the same kind as the left side."""
    if _CONDITION.search(left + right) or _RELATIVE.search(left) or _OPENS_ADVERBIAL.match(left) or " or " in right:
        return False
    return _is_order(right) if order else bool(_HELPED.search(left) and _AUXILIARY_CLAUSE.match(right))


def _starts_clause(right: str) -> bool:
    return bool(_CLAUSE.match(right) or _NOUN_CLAUSE.match(right)) or _is_order(right)


def _is_order(text: str) -> bool:
    return bool(_IMPERATIVE.match(text)) and len(text.split()) >= _LEAST_ORDER


def _is_open(left: str) -> bool:
    """Whether a bracket or a quotation is not closed yet."""
    return left.count("(") > left.count(")") or left.count('"') % 2 == 1 or left.count("“") > left.count("”")
