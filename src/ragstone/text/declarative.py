"""A question and its short answer as one English statement by rules: "What does it cost? £5" becomes "It costs £5".

The subject of the question ends before its verb, which must be a word that is known to be one. If the rules find no verb, they
return None: a wrong statement is worse than none.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ragstone.text.clause_parts import as_sentence
from ragstone.text.clauses import is_sentence
from ragstone.text.lexicon import late_pattern, lexicon, word_set
from ragstone.text.overlap import content_stems

YES_OR_NO = late_pattern(r"(?:yes|no)\b[.,;:!]?(?:\s+|$)", re.IGNORECASE)
_BE, _DO = word_set("is are was were"), word_set("do does did")
_MODAL = word_set("can could will would may might must should shall")
_HELPERS = _BE | _DO | _MODAL
_SUBJECTS = word_set("i you we they it he she there this that")
_FOR_HOW_LONG = word_set("take last be")
_PARTICLES = word_set("up out off down away")
_BASES, _AFTER_BE = (word_set(lexicon("questions")[name]) for name in ("bases", "after_be"))
_LOWERED = word_set(lexicon("questions")["lowered"])
_NOT_BEFORE_VERB = word_set(lexicon("clauses")["determiners"]) | word_set("of in on at for with from by to and or")
_ASKS = late_pattern(
    r"(?:.*?(?:[.!;] |, ))??(?:(?:at|on|in|by|for|from|until|to|with|since|under) )?(?:what|which|whom|who|when|where|why|how)\b",  # voice: ok
    re.IGNORECASE | re.DOTALL,
)
_STATEMENT_BEFORE = late_pattern(r"(?:.*[.!] )?(?=\w)", re.DOTALL)
# A second question about the same.
_SECOND = late_pattern(
    r",? and (?:(?:at|for|from|by|to|in|under) )?(?:what|which|who|when|where|why|how|is|are|can|do|does|will)\b.*$",
    re.DOTALL,
)
_MOST_HOW_WORDS, _MOST_COUNT_WORDS = 4, 2
_PERSON = late_pattern(r"\b(?:I|i|[Ww]e|me|us|myself|ourselves|[Mm]y|[Oo]ur|am)\b")
_YOURS = {
    "i": "you",
    "we": "you",
    "me": "you",
    "us": "you",
    "my": "your",
    "our": "your",
    "am": "are",
    "myself": "yourself",
    "ourselves": "yourselves",
}
_PRONOUN = late_pattern(r"(?:It|They|He|She)\b(?= \w)")
_INSERTED = late_pattern(r", (?:who|which|whose)\b[^,]*,")
_END_OF_MAIN = late_pattern(r"[,;]|\b(?:because|which|who|if|as|since|unless)\b")
_PREPOSITION = late_pattern(
    r"(?:at|on|in|by|for|from|until|to|with|since|under|after|before|within|between|during|only|but|not|without|if)\b",
    re.IGNORECASE,
)
_THIRD_PERSON = late_pattern(rf"\b(?:{'|'.join(_BASES)})e?s (?=\W?\d|(?:the|an?|for|in|at|to|until|from|with)\b)")
_HELPER = late_pattern(rf"\b(?:{'|'.join([*_HELPERS, 'has', 'have', 'had'])})\b")
_ORDERS = _BASES | word_set(lexicon("clauses")["imperatives"])
_FINITE = late_pattern(
    rf"^(?:It|They|He|She|You|We|There|This|These) \w|(?<!\d )\b(?!plus|minus|versus|across|thus)[a-z]{{3,}}(?<!s)s (?:the|an?|its|their|your|our|it|them)\b|\b(?:{'|'.join([*lexicon('clauses')['auxiliaries'].split(), *lexicon('clauses')['verbs'].split()[:-1]])})\b"
)


class Asked(NamedTuple):
    """A question in parts: `How long` `does` `the tour` `take` `in winter`; a question for yes or no has no `how`."""

    how: str
    helper: str
    subject: str
    verb: str
    rest: str


def read_question(question: str) -> Asked | None:
    """The parts of a question; None if its subject or its verb is not certain."""
    text = _SECOND.sub("", " ".join(question.split("?", maxsplit=1)[0].split()))
    asks = _ASKS.match(text)
    start = asks.end() if asks else getattr(_STATEMENT_BEFORE.match(text), "end", int)()
    words = text[start:].split()
    first = asks[0].rpartition(". ")[2].rpartition(", ")[2] if asks else ""
    at = next(
        (at for at, word in enumerate(words[: _MOST_HOW_WORDS + 1 if asks else 1]) if word.lower() in _HELPERS), None
    )
    if asks is None:
        return None if at is None else _divide("", words[0].lower(), words[1:])
    verb = next((at for at, word in enumerate(words[:at][:_MOST_HOW_WORDS]) if _is_finite(first, word)), None)
    if verb is None and at is not None:
        how = " ".join([first, *words[:at]]).lower()
        after = "".join(words[at + 1 : at + 2]).lower()
        if words[at].lower() not in _BE or not (after.endswith("ed") or after in _AFTER_BE | {"not"}):
            return _divide(how, words[at].lower(), words[at + 1 :])
        verb = at
    # "Who leads the tour", "which boats need a licence": what is asked for is the subject.
    if verb is None or words[verb].startswith("happen"):
        return None
    return Asked(" ".join([first, *words[:verb]]).lower(), "", "", words[verb], " ".join(words[verb + 1 :]))


def _is_finite(first: str, word: str) -> bool:
    if first.lower() == "who" and word.endswith(("s", "ed")):
        return True
    ends = ("s", "es") if first.lower().startswith(("how", "what")) else ("", "s", "es", "ed", "d")
    return any(word.lower() == f"{base}{end}" for base in _BASES for end in ends)


def _divide(how: str, helper: str, words: list[str]) -> Asked | None:
    """The words after the helper as subject, verb and rest."""
    if helper in _BE and words[:1] == ["there"]:
        return Asked(how, helper, "there", "", " ".join(words[1:]))
    at = next((at for at in range(1, len(words)) if _is_verb(helper, words, at)), None)
    if at is None and (helper not in _BE or not how or not words):
        return None
    at = len(words) if at is None else at
    end = at + 3 if [word.lower() for word in words[at : at + 2]] == ["have", "to"] else at + 1
    end += " ".join(words[end : end + 1]).lower() in _PARTICLES
    return Asked(how, helper, " ".join(words[:at]), " ".join(words[at:end]), " ".join(words[end:]))


def _is_verb(helper: str, words: list[str], at: int) -> bool:
    word, before = words[at].lower().strip(","), words[at - 1].lower()
    if at == 1 and before in _SUBJECTS:
        return True
    if before in _NOT_BEFORE_VERB:
        return False
    return word in _BASES if helper not in _BE else word.endswith("ed") or word in _AFTER_BE


def states_something(text: str) -> bool:
    """Whether an English text has a verb of its own, so that it says something without its question."""
    main = _INSERTED.sub("", text.removeprefix("Because "))
    is_order = main.split(" ", 1)[0].lower() in _ORDERS
    main = _END_OF_MAIN.split(main)[0]
    if _PREPOSITION.match(main):  # "on a short lead": only a helper is surely a verb
        return bool(_HELPER.search(main))
    return is_order or is_sentence(text) or bool(_FINITE.search(main) or _THIRD_PERSON.search(main))


def state(question: str, answer: str) -> str | None:
    """The answer of a few words as a statement that needs no question; None if the rules do not know how."""
    asked, answer = read_question(question), answer.strip().rstrip(".")
    if asked is None or not answer:
        return None
    if not asked.how:
        return _state_yes_or_no(asked, answer)
    value = _lowered(answer)
    if not asked.subject:
        return _person([answer + ("," if ", who " in answer else ""), asked.verb, asked.rest])
    is_count = asked.how.startswith(("how many", "how much"))
    noun = asked.how.split(" ", 2)[2:] if is_count else []
    count, comma, more = value.partition(",")
    if noun and len(count.split()) <= _MOST_COUNT_WORDS and not any(word in answer.lower() for word in noun[0].split()):
        value = f"{count} {noun[0]}{comma}{more}"
    before = asked.how.split(" ", 1)[0]
    before = (
        "for" if before == "how" and "long" in asked.how and asked.verb not in _FOR_HOW_LONG and asked.verb else before
    )
    if _PREPOSITION.match(before) and not _PREPOSITION.match(value):
        value = f"{before} {value}"
    if asked.subject == "there":
        return _person(["there", asked.helper, value, asked.rest])
    if asked.how in ("how much", "how expensive") and not asked.verb:
        return _person([asked.subject, "costs" if asked.helper in ("is", "was") else "cost", value])
    verbs = [_finite(asked.helper, asked.verb)] if asked.helper in _DO else [asked.helper, asked.verb]
    is_object = asked.how.startswith(("what", "which", "whom", "how many", "how much"))
    whom, rest = (asked.rest[:2], asked.rest[3:]) if asked.rest.startswith(("me ", "us ")) else ("", asked.rest)
    if _PREPOSITION.match(rest) and content_stems(rest) & content_stems(answer):
        rest = ""
    return _person([asked.subject, *verbs, whom, *([value, rest] if is_object else [rest, value])])


def _lowered(answer: str) -> str:
    return answer[:1].lower() + answer[1:] if answer.split(maxsplit=1)[0].strip(",").lower() in _LOWERED else answer


def _state_yes_or_no(asked: Asked, answer: str) -> str | None:
    decided = YES_OR_NO.match(answer)
    if not decided:
        return None
    no = "" if decided[0].lower().startswith("yes") else "not"
    verbs = [asked.helper, no, asked.verb]
    if asked.helper in _DO and not no:
        verbs = [_finite(asked.helper, asked.verb)]
    rest = _lowered(answer[decided.end() :]) if decided.end() < len(answer) else ""
    joint = "" if not rest or _PREPOSITION.match(rest) else ":"
    return _person([f"{' '.join(filter(None, [asked.subject, *verbs, asked.rest]))}{joint}", rest])


def _finite(helper: str, verb: str) -> str:
    """`does take` as `takes`."""
    first, space, rest = verb.partition(" ")
    if helper == "does":
        first = (
            "has"
            if first == "have"
            else f"{first[:-1]}ies"
            if first.endswith(("ry", "ly"))
            else f"{first}es"
            if first.endswith(("s", "sh", "ch", "x", "o"))
            else f"{first}s"
        )
    return f"did {verb}" if helper == "did" else f"{first}{space}{rest}"


def _person(parts: list[str]) -> str:
    """The statement with "you" for the user."""
    return as_sentence(_PERSON.sub(lambda match: _YOURS[match[0].lower()], " ".join(" ".join(parts).split())))


def replace_pronoun(statement: str, question: str) -> str:
    """The statement with the subject of the question for a pronoun at its start; unchanged if that subject is not certain."""
    pronoun, asked = _PRONOUN.match(statement), read_question(question)
    if not pronoun or asked is None or not asked.subject or asked.subject.split()[0].lower() in _SUBJECTS:
        return statement
    is_many = asked.helper in ("are", "were", "do")
    if asked.helper not in _MODAL | {"did"} and is_many is not (pronoun[0] == "They"):
        return statement
    return _person([asked.subject, statement[pronoun.end() :]])
