"""Single facts out of a sentence: cut from a long one, with the name that a pronoun stands for, or told from the other side."""

from __future__ import annotations

import re
from random import Random

from spans import OPENERS, is_person, pieces
from words import MEN

_PRONOUN = re.compile(r"^(?P<lead>(?:In|On|After|During|By|At|From) [^,]{3,40}, )?(?P<word>[Hh]e|[Ss]he|[Ii]t|[Hh]is|[Hh]er|[Ii]ts)\b (?=\w)")  # fmt: skip
_OWN = ("his", "her", "its")
_VERB = r"(?:is|was|has|had|became|began|won|received|moved|joined|took|served|died|wrote|made|played|worked|released|directed|married|lived|studied|published|appeared|returned|led|held|wrote|starred|attended|signed|[a-z]{3,}ed)"
_NAMED = re.compile(
    rf"^(?P<name>(?:The )?[A-Z][\w'’.\-]+(?: (?:of|the|de|von|van|[A-Z][\w'’.\-]*))*)(?: \([^)]*\))?,? {_VERB} "
)
_DID = _VERB.replace("|[a-z]{3,}ed", "")
_CONJUNCT = re.compile(
    rf",? and (?=(?:{_DID}|[a-z]{{3,}}ed (?:the|a|an|in|on|at|to|by|from|his|her|its|their|[A-Z]\w+)) )"
)
_RELATIVE = re.compile(r"^(?P<name>[A-Z][^,;()]{2,50}), (?:who|which) (?P<said>(?:is|was|has|had|\w+ed) [^,;]{6,90}),")
_APPOSED = re.compile(r"^(?P<name>[A-Z][^,;()]{2,50}), (?P<said>an? [^,;]{6,70}), (?P<verb>is|was|has|had|\w+ed) ")
_LIFE = re.compile(
    r"^(?P<name>[A-Z][^,;()]{2,50}) \((?P<born>[^()–]{0,20}\d{4})[^()–]{0,3}[–-] ?(?P<died>[^()–]{0,20}\d{4})\)"
)
_BORN = re.compile(r"^(?P<name>[A-Z][^,;()]{2,50}) \(born (?P<born>[^();]{0,20}\d{4})\)")
_NAME = r"(?:the )?[A-Z][\w'’.\-]+(?: (?:of|the|de|von|van|[A-Z][\w'’.\-]*))*"
_DEED = {
    "wrote": "written", "built": "built", "won": "won", "beat": "beaten", "led": "led", "sold": "sold", "bought": "bought", "made": "made", "taught": "taught",
    "overthrew": "overthrown", "chose": "chosen", "drew": "drawn", "saw": "seen", "met": "met",
}  # fmt: skip
_ACTIVE = re.compile(
    rf"^(?P<a>{_NAME}) (?P<verb>{'|'.join(_DEED)}|[a-z]{{3,}}ed) (?P<b>{_NAME})(?P<rest>(?: (?:in|at|on|during|by|for|from|as)\b[^;]*)?)\.$"
)
_PASSIVE = re.compile(
    rf"^(?P<b>[A-Z][^,;]{{2,60}}) (?:was|were|is|are) (?P<verb>{'|'.join(_DEED.values())}|[a-z]{{3,}}ed) by (?P<a>{_NAME})(?P<rest>(?: (?:in|at|on|during|for|from|as)\b[^;]*)?)\.$"
)
_PAST = {done: past for past, done in _DEED.items()}
# "It is common to …": nothing is named by this "it".
_EMPTY = re.compile(
    r"^It (?:is|was) (?:\w+ )?(?:common|possible|because|not|said|also|believed|thought|known|likely|important|estimated|unclear|clear|common|that|the case)\b"
)
_NO_DEED = {"named", "called", "based", "followed", "surrounded", "moved", "died", "married", "started", "ended", "remained", "appeared", "lived", "opened", "returned"}  # fmt: skip


def antecedent(sentences: list[str], index: int) -> tuple[str, int] | None:
    """What a sentence's leading pronoun stands for, and where that is named; nothing where it is not plain."""
    opening = None if _EMPTY.match(sentences[index]) else _PRONOUN.match(sentences[index])
    for back in range(index - 1, max(-1, index - 4), -1):
        if opening is None:
            return None
        if (named := named_subject(sentences[back])) is not None:
            people = {p.text for p in pieces(sentences[back]) if p.kind == "person" and p.text not in named}
            # With two people about, nobody knows by the spelling who "he" is.
            plain = not people or opening["word"].lower() in ("it", "its")
            return (named, back) if plain else None
        opening = _PRONOUN.match(sentences[back])
    return None


def named_subject(sentence: str) -> str | None:
    """The name that a sentence begins with, where it says something about it."""
    match = _NAMED.match(sentence)
    name = match["name"] if match else ""
    usable = 3 < len(name) < 45 and (name.split()[0] not in OPENERS or name.startswith("The "))
    return name if usable else None


def with_pronoun(sentence: str, name: str) -> str:
    """The sentence with a pronoun in place of the name that it begins with."""
    words = ("He", "His") if name.split(maxsplit=1)[0] in MEN else ("She", "Her")
    rest = sentence[len(name) :]
    own = rest.startswith(("'s ", "’s "))
    return (words if is_person(name) else ("It", "Its"))[own] + (rest[2:] if own else rest)


def resolve(sentence: str, name: str) -> str:
    """The sentence with the name in the pronoun's place."""
    match = _PRONOUN.match(sentence)
    if match is None:
        return sentence
    own = match["word"].lower() in _OWN and not re.match(r" (?:is|was|has|had)\b", sentence[match.end("word") :])
    ending = ("'" if name.endswith("s") else "'s") if own else ""
    said = name[0].lower() + name[1:] if match["lead"] and name.startswith("The ") else name
    return f"{match['lead'] or ''}{said}{ending} {sentence[match.end() :]}"


def short_name(name: str, rng: Random) -> str:
    """A person's last name now and then, the name otherwise."""
    return name.rsplit(maxsplit=1)[-1] if is_person(name) and rng.random() < 0.4 else name


def single_facts(sentence: str) -> list[str]:
    """What a long sentence says one thing at a time."""
    found = []
    if sentence.split(maxsplit=1)[0] in OPENERS - {"The"}:
        return []
    for pattern in (_RELATIVE, _APPOSED):
        if (match := pattern.match(sentence)) and len(match["name"].split()) <= 6:
            link = "" if pattern is _RELATIVE else "is " if match["verb"] in ("is", "has") else "was "
            found.append(f"{match['name']} {link}{match['said']}.")
    if match := _LIFE.match(sentence):
        found += [f"{match['name']} was born {_when(match['born'])}.", f"{match['name']} died {_when(match['died'])}."]
    if match := _BORN.match(sentence):
        found.append(f"{match['name']} was born {_when(match['born'])}.")
    found += _conjuncts(sentence)
    return [fact for fact in found if 4 <= len(fact.split()) <= 30]


def _when(date: str) -> str:
    date = date.strip(" ,")
    return f"in {date}" if date.isdigit() else f"on {date}" if re.match(r"\d|[A-Z]\w+ \d{1,2},", date) else f"in {date}"


def _conjuncts(sentence: str) -> list[str]:
    """Both halves of a sentence in which X was A and won B: each is said of X."""
    named = named_subject(sentence)
    parts = _CONJUNCT.split(sentence.rstrip("."))
    if (
        not named
        or len(parts) != 2
        or len(parts[0].split()) > 25
        or re.search(r"\b(?:both|either|that|which|who)\b", parts[0])
    ):
        return []
    return [f"{parts[0].rstrip(',')}.", f"{named} {parts[1]}."]


def other_side(sentence: str) -> tuple[str, str] | None:
    """The same deed told from the other side, and the deed with both sides exchanged in that telling."""
    if sentence.split(maxsplit=1)[0] in OPENERS - {"The"}:
        return None
    match = _ACTIVE.match(sentence)
    if match and match["verb"] not in _NO_DEED:
        done, rest = _DEED.get(match["verb"], match["verb"]), match["rest"]
        return (
            f"{_upper(match['b'])} was {done} by {match['a']}{rest}.",
            f"{match['a']} was {done} by {match['b']}{rest}.",
        )
    match = _PASSIVE.match(sentence)
    if match and match["verb"] not in _NO_DEED:
        did, rest = _PAST.get(match["verb"], match["verb"]), match["rest"]
        return (f"{_upper(match['a'])} {did} {_lower(match['b'])}{rest}.", f"{match['b']} {did} {match['a']}{rest}.")
    return None


def _upper(text: str) -> str:
    return text[0].upper() + text[1:]


def _lower(text: str) -> str:
    return (
        text[0].lower() + text[1:]
        if text.split(maxsplit=1)[0] in ("The", "A", "An", "His", "Her", "Its", "This")
        else text
    )
