"""Take an English clause of many words apart: its predicates, the items of a list, a relative clause at its end.

Each part repeats what comes before the first verb: the subject and a condition or a place before it. So a part says no more than
the clause. A clause is left whole if a word concerns all of its parts ("only", "at most", "between", "not … but"), if it reports
what a person says, or if its structure is not certain.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ragstone.text.lexicon import late_pattern, lexicon

# Shorter clauses are left whole.
LONG = 9
_LONGEST = 400
_STOP = late_pattern(r"[a-z]\. [A-Z]")
_AUXILIARY, _COMMON_VERB, _SURE_VERB, _ORDER, _DETERMINER, _LISTS = (
    f"(?:{'|'.join(lexicon('clauses')[name].split())})"
    for name in ("auxiliaries", "verbs", "sure_verbs", "imperatives", "determiners", "list_verbs")
)
_CONDITION = r"(?:[Ii]f|[Uu]nless|[Ww]hen|[Ww]henever|[Oo]nce|[Uu]ntil|[Aa]s soon as|[Aa]s long as)"
_AFTER_VERB = (
    rf"(?:{_DETERMINER}|to|for|from|in|on|at|by|with|about|around|up|into|out|as|over|under|within|until|one|two|three|four|five|six|"
    r"seven|eight|nine|ten|\W?\d[\w.,%]*|back|it|them|him|her|you|us)"
)
# What may come before the subject: a condition or a place with its comma.
_OPENING = late_pattern(
    rf"(?:{_CONDITION} [^,;:]{{3,100}}|(?:[Aa]fter|[Bb]efore|[Ff]or|[Ii]n|[Oo]n|[Aa]t|[Ww]ith|[Ww]ithout|[Uu]nder|[Dd]uring|[Ff]rom|"
    r"[Ss]ince|[Bb]etween|[Oo]utside) [^,;:]{2,60}), "
)
_SUBJECT_WORD = late_pattern(r"[\w'’%&£€$./-]+ ")
# Of participles only those before an article, a preposition or a number; the third person of an order: "removes the lid".
# A verb that no list has: "crosses the river". At the start of a clause "in coastal towns the fee …" looks the same.
_OTHER_VERB = r"[a-z]{3,}(?<!s)s(?= (?:the|an?|its|their|his|her|your|our|it|them)\b)"
_STARTS_ELSEWHERE = late_pattern(
    r"(?:in|at|on|for|with|without|during|from|after|before|by|under|over|to|as|since|between|among|when|if|most|some|all)\b",
    re.IGNORECASE,
)
_VERB = late_pattern(
    rf"(?:{_AUXILIARY}|(?![a-z]+ed (?!{_AFTER_VERB}\b)){_COMMON_VERB}(?! {_AUXILIARY}\b)"
    rf"|{_ORDER}e?s(?= (?:{_DETERMINER}|one|two|three|four|five|it|them|\d)\b))\b"
)
_ANY_VERB = late_pattern(_OTHER_VERB)
# After these words, what looks like a verb is a noun or an adjective: "the last train", "a newly glazed pot".
_BEFORE_NOUN = late_pattern(
    rf"(?:{_DETERMINER}|last|next|very|and|or|of|in|on|at|for|with|from|to|one|two|three|four|five|six|seven|eight|nine|ten|\d[\d.,]*|\w+ly|\w+ed)$",
    re.IGNORECASE,
)
_MOST_SUBJECT_WORDS = 9
# "Guests stay", but "the emergency stop": a verb without an ending has a plural or a pronoun before it.
_BASE_FORM = late_pattern(rf"(?!{_AUXILIARY}$|(?:{'|'.join(lexicon('clauses')['past'].split())})$)[a-z]+(?<!s)(?<!ed)")
_MANY = late_pattern(r"(?:s|people|children|men|women|staff|also|you|we|they|I|these|those|who|both)$", re.IGNORECASE)
# A condition, an exception or reported speech concerns all predicates, wherever it stands.
_OF_ALL = (
    r"if|unless|when|whenever|once|until|while|otherwise|except|provided|as long as|whether|only if|not only|respectively|neither|either|"
    r"says?|said|claims?|claimed|states?|stated|believes?|believed|thinks?|thought|reports?|reported|according"
)
_MARKS = r"[\"“”`(;]|:(?!\d)"
_WHOLE = late_pattern(rf"\b(?:{_OF_ALL})\b|{_MARKS}", re.IGNORECASE)
# Of the subject: "at most ten people join and have a map" does not say that at most ten join.
_COUNTED = r"no(?:ne|body)?|few|fewer|fewest|only|at most|at least|not|never|less|more|exactly|just"
_COUNTED_SUBJECT = late_pattern(rf"\b(?:{_COUNTED})\b", re.IGNORECASE)
# Of a list too: a statement about all items need not be true of each.
_WHOLE_LIST = late_pattern(
    rf"\b(?:{_OF_ALL}|{_COUNTED}|cannot|both|nor|or|than|between|together|combined|total|each other|instead|rather|as \w+ as)\b|n['’]t\b|{_MARKS}",
    re.IGNORECASE,
)
_RELATIVE = late_pattern(
    r"\b(?:which|who(?:m|se)?|that|where|when|while|because|since|until|so|to (?!the\b|an?\b|its\b|their\b|your\b)[a-z]+)\b"
)
# A second verb: one that is known, or the third person of an order: "removes the lid".
_NEXT_VERB = rf"(?=(?:{_AUXILIARY}|{_SURE_VERB}) |{_COMMON_VERB} {_AFTER_VERB}\b|{_ORDER}e?s (?:{_DETERMINER}|it|them)\b|{_OTHER_VERB})"
_SECOND = late_pattern(rf",? (?:and|but)(?: (?:also|therefore|thus|so))? {_NEXT_VERB}|(?P<series>, ){_NEXT_VERB}")
_PARTICIPLE = late_pattern(r"[a-z]{3,}ed\b|(?:paid|made|left|held|sold|sent|kept|led|told|stood|given|taken|put)\b")
_HELPED = late_pattern(rf"\b{_AUXILIARY}\b")
_ITEM = rf"(?:{_DETERMINER}|one|two|three|four|five|six|seven|eight|nine|ten|\W?\d[\w.,]*) [\w'’%/.€£$ -]+?"
_OWN_NOUN = late_pattern(_ITEM, re.IGNORECASE)
_MOST_ITEM_WORDS = 9
_BARE = r"[\w'’%/.€£$-]+(?: [\w'’%/.€£$-]+){0,5}?"
_LIST = late_pattern(
    rf"(?P<verb>{_LISTS}) (?:(?P<two>{_ITEM}) and (?P<last_of_two>{_ITEM})|(?P<more>{_BARE}(?:, {_BARE})+),? and (?P<last>{_BARE}))$"
)
_VERB_INSIDE = late_pattern(rf"\b(?:{_AUXILIARY}|which|who|that|whose|where|when|and|to [a-z]+)\b|\w,\d")
_WHICH = late_pattern(
    r", which (?P<rest>(?:(?P<one>is|was|has|costs|lies|stands|lasts|happens|includes|contains)|are|were|have|cost|lie|form|include) .+)$"
)
# A condition or an exclusion may follow, or has begun; a quotation or a bracket is open.
_UNFINISHED = late_pattern(
    r"\b(?:not|either|neither|both|between|whether|so|such|rather|more|less|and|or|but|the|an?|of|with|in|to|for|is|are|was|were|\w+ing)$"
    r"|^[Nn]ot |[\"“”(;]|:(?!\d)"
)
_LINKS = late_pattern(
    r"\b(?:of|in|on|at|from|to|for|with|by|per|under|over|between|as|and|or|than|about|into|within|after|before)\b"
)


class _Head(NamedTuple):
    """Where the subject of a clause starts, and its first verb."""

    subject: int
    start: int
    end: int
    verb: str


def _find_head(clause: str) -> _Head | None:
    opening = _OPENING.match(clause)
    subject = place = opening.end() if opening else 0
    before, any_verb = "", not _STARTS_ELSEWHERE.match(clause, subject)
    for _ in range(_MOST_SUBJECT_WORDS + 1):
        verb = None
        if before and (not _BEFORE_NOUN.match(before) or (before[-1].isdigit() and _HELPED.match(clause, place))):
            verb = _VERB.match(clause, place) or (_ANY_VERB.match(clause, place) if any_verb else None)
        if verb and (not _BASE_FORM.fullmatch(verb[0]) or _MANY.search(before)):
            return _Head(subject, place, verb.end(), verb[0])
        word = _SUBJECT_WORD.match(clause, place)
        if not word:
            return None
        before, place = word[0].strip(), word.end()
    return None


class Part(NamedTuple):
    """A statement and the number of words that it takes from the text, without those that it repeats."""

    text: str
    words: int


def clause_parts(clause: str) -> list[Part]:
    """The parts of a clause; the clause itself if it is short or is not taken apart."""
    body = clause.rstrip(" .!")
    # A full stop inside: two sentences after an abbreviation.
    if len(body.split()) < LONG or len(body) > _LONGEST or _STOP.search(body):
        return [Part(clause, _count(clause))]
    main, *added = _relative(body) or _adjunct(body)
    found = [*(listed for part in _predicates(main) for listed in _items(part)), *added]
    if len(found) == 1:
        return [Part(clause, _count(clause))]
    return [Part(as_sentence(part.text), part.words) for part in found]


def as_sentence(clause: str) -> str:
    """A clause with a capital letter at its start and a stop at its end."""
    clause = clause.strip().rstrip(",;")
    clause = clause[:1].upper() + clause[1:]
    return clause if not clause or clause[-1] in ".!。！…\"'”)" else f"{clause}."


def _count(text: str) -> int:
    return max(1, len(text.split()))


# What adds something to a complete clause, and takes nothing back.
_PARTICIPIAL = (
    r"(?!(?:depending|excluding|barring|assuming|providing|considering|pending|according|regarding|concerning|nothing|something|anything|"
    r"everything|during|being|morning|evening|spring|string|king|ring)\b)[a-z]{2,}ing"
)
_ADDS = late_pattern(
    r", (?=(?:which|where|whose|who|such as|especially|mainly|mostly|so that|because|since|although|though|for example|for instance|"
    rf"as (?:it|they|this|these|the|an?|its|their|there|he|she)|{_PARTICIPIAL})\b)"
)
_ADDS_MORE = late_pattern(rf", (?=(?:and )?{_PARTICIPIAL}\b)")
_GOES_ON = late_pattern(r", (?:and|or|but)\b|^\w+ing (?:and|or)\b")
# A clause that needs another one: "because …" without its comma.
_NOT_MAIN = late_pattern(
    r"(?:because|although|though|while|whereas|since|as|if|unless|when|once|until|after|before)\b[^,]*$", re.IGNORECASE
)
_LEAST_MAIN = 5
_MOST_NOUN_WORDS = 4


def _adjunct(clause: str) -> list[Part]:
    """`A does B, which leads to C` as `A does B` and the whole clause, which counts for its end."""
    adds, head = _ADDS.search(clause), _find_head(clause)
    main = clause[: adds.start()] if adds else ""
    if not adds or not head or head.end > len(main) or len(main.split()) < _LEAST_MAIN:
        return [Part(clause, _count(clause))]
    # "A table made by a function, such as …": a participle is not the verb of the clause.
    is_doubtful = (_PARTICIPLE.match(head.verb) and not _HELPED.search(main)) or _NOT_MAIN.match(main)
    if is_doubtful or _UNFINISHED.search(main) or _GOES_ON.search(clause[adds.end() :]):
        return [Part(clause, _count(clause))]
    rest = clause[adds.end() :]
    # ", stretching over …, flowing through …": each belongs to the main clause.
    pieces = _ADDS_MORE.split(rest) if re.match(_PARTICIPIAL, rest) else [rest]
    return [Part(main, _count(main)), *(Part(f"{main}, {piece}", _count(piece)) for piece in pieces)]


def _relative(clause: str) -> list[Part]:
    """`A sells B, which are C` as `A sells B` and `B are C`, if B directly follows the verb and agrees with the verb of C; else nothing."""
    head, which = _find_head(clause), _WHICH.search(clause)
    if not head or not which or clause.count(",") > 1 + bool(head.subject) or _WHOLE_LIST.search(clause):
        return []
    # "comes from B": one preposition may follow the verb.
    noun = re.sub(r"^(?:from|to|with|in|on|at|into) ", "", clause[head.end : which.start()].strip())
    is_plural = noun.endswith("s") and not noun.endswith("ss")
    is_short = 0 < len(noun.split()) <= _MOST_NOUN_WORDS and not _LINKS.search(noun) and not _PARTICIPLE.match(noun)
    if not is_short or is_plural is bool(which["one"]):
        return []
    main = clause[: which.start()]
    return [Part(main, _count(main)), Part(f"{noun} {which['rest']}", _count(which["rest"]) + 1)]


def _predicates(clause: Part) -> list[Part]:
    """`A is B and has D` as two statements with the same subject; a second participle gets the auxiliary of the first."""
    head = _find_head(clause.text)
    if not head or _WHOLE.search(clause.text, head.subject) or _is_open(clause.text[head.subject : head.start]):
        return [clause]
    pieces: list[str] = []
    start, closed = 0, True
    for joint in _SECOND.finditer(clause.text, head.end):
        before, after = clause.text[start : joint.start()], clause.text[joint.end() :]
        if _RELATIVE.search(before, 0 if pieces else head.end) or not _agrees(head.verb, after):
            continue
        pieces.append(before)
        start, closed = joint.end(), not joint["series"]
    first, *rest = [*pieces, clause.text[start:]]
    # A comma without "and" later on; "the goods left in the store and sold in May are lost": there the first verb is a participle.
    end = rest[-1] if rest and _PARTICIPLE.match(head.verb) else ""
    is_doubtful = not closed or (not _HELPED.match(head.verb) and _HELPED.search(first + end, head.end))
    if not rest or is_doubtful or any(_TOO_SHORT.match(piece) for piece in rest):
        return [clause]
    if any(_SECOND_SUBJECT.search(piece) for piece in (first[head.subject :], *rest[:-1])):
        return [clause]
    subject, helped = clause.text[: head.start], clause.text[: head.end]
    # Not "must be sent and need …".
    is_modal = bool(_MODAL.fullmatch(head.verb)) and not clause.text.startswith(" be ", head.end)
    if is_modal and any(not _HELPED.match(piece) for piece in rest) and _NEGATED.match(clause.text, head.end):
        return [clause]  # "may not smoke and drink"
    starts = [f"{helped} " if is_modal and not _HELPED.match(piece) else subject for piece in rest]
    return [
        Part(first, _count(first)),
        *(Part(start + piece, _count(piece)) for start, piece in zip(starts, rest, strict=True)),
    ]


def _is_open(subject: str) -> bool:
    """Whether a subject is counted, has a clause of its own, or is not one: "don't …"."""
    return bool(_RELATIVE.search(subject) or _COUNTED_SUBJECT.search(subject) or _NO_SUBJECT.match(subject))


_NO_SUBJECT = late_pattern(rf"(?:{_AUXILIARY}|{_ORDER}|never|always|please)\b", re.IGNORECASE)
# These are followed by a verb without an ending, and so is the next verb: "can come and stay".
_MODAL = late_pattern(r"(?:can|could|will|would|may|might|must|should|shall|do|does|did)")
_NEGATED = late_pattern(r" (?:not|never)\b|['’]t\b")
# Another clause before the joint: its verb may have another subject.
_SECOND_SUBJECT = late_pattern(
    rf", (?:and|but|so|yet|or)\b|, \w+ing\b|\bnow$|, (?!{_AUXILIARY}\b)[\w'’-]+(?: [\w'’-]+){{0,4}}? (?:{_AUXILIARY}|{_COMMON_VERB})\b"
)
_TOO_SHORT = late_pattern(r"\S+(?: not)?$")
_PRESENT = late_pattern(r"(?:is|has|does|[a-z]+s)$")


def _agrees(verb: str, after: str) -> bool:
    """Whether the next words are a second verb of the same subject: an auxiliary, or a verb in the same form."""
    second = after.split(" ", 1)[0]
    if re.fullmatch(_AUXILIARY, second):
        return True
    if _MODAL.fullmatch(verb):
        return not _PRESENT.match(second) and not _PARTICIPLE.match(second)
    if _PARTICIPLE.match(second) and (re.fullmatch(_AUXILIARY, verb) or after.split(" ", 2)[1:2] == ["by"]):
        return False  # "was removed and replaced": the second may share the auxiliary
    return bool(_PRESENT.match(verb)) is bool(_PRESENT.match(second))


def _items(clause: Part) -> list[Part]:
    """`A includes B, C and D` as three statements, for verbs that say of each item what they say of all."""
    found, head = _LIST.search(clause.text), _find_head(clause.text)
    if not found or not head or found.start("verb") > head.end + 12 or _WHOLE_LIST.search(clause.text):
        return [clause]
    items = [found["two"], found["last_of_two"]] if found["two"] else [*found["more"].split(", "), found["last"]]
    if any(_VERB_INSIDE.search(item) or len(item.split()) > _MOST_ITEM_WORDS for item in items):
        return [clause]
    # "tours in English, French and German": the list may be inside its first item.
    if any(map(_LINKS.search, items[:-1])) and not all(map(_OWN_NOUN.match, items)):
        return [clause]
    start = clause.text[: found.end("verb")]
    repeated = _count(clause.text) - clause.words
    return [
        Part(f"{start} {item}", _count(item) + (0 if at else max(0, _count(start) - repeated)))
        for at, item in enumerate(items)
    ]
