"""Edits of a sentence: those that keep it true of its text, and those that make it false."""

from __future__ import annotations

import re
from random import Random
from typing import NamedTuple

from spans import Piece, pieces
from words import EXTRAS, MONTHS, NUMBER_WORDS, OPPOSITE, ORDINALS, RELATIONS, SAME, VOICES

NAMES = ("person", "place", "group", "thing")
_PRONOUN = re.compile(r"^(He|She|It|They|His|Her|Its|Their)\b")
_POSSESSIVE = {"His", "Her", "Its", "Their"}
_BRACKETS = re.compile(r" \([^()]*\)")
_OPENING = re.compile(r"^(?:In|On|During|After|Before|By|As|At|For|Since|Until|With|Under|From)\b[^,]{3,60}, ")
_ADVERB = re.compile(
    r"^(?:However|Therefore|Moreover|Furthermore|In addition|As a result|Meanwhile|Later|Then|Also|Finally|Thus), "
)
_CLAUSE = re.compile(
    r", (?:which|who|where|whose|while|although|though|because|including|such as|making|leading|resulting|known as|especially|particularly)\b[^,;]*(?=[,.;]|$)"
)
_APPOSITION = re.compile(r", (?:an?|the) [^,.;]{4,60}, (?=(?:is|was|were|are|has|had|which|who|[a-z]+ed)\b)")
_TAIL = re.compile(
    r"(?:, (?:and|but|while|although|because)|;| but| because| although| while) (?P<tail>[^,;]{15,})\.?$"
)
_AND_VERB = re.compile(
    r" and (?=(?:was|were|is|are|has|had|became|made|won|received|moved|began|joined|took|served|died|[a-z]{3,}ed)\b)"
)
_ACTIVE_BY = re.compile(
    r"^(?P<subject>.{3,70}?) (?P<be>is|was|were|are) (?P<verb>\w+ed|written|built|made|won|sung|held|led|run|drawn|chosen) by (?P<agent>[^,.;]{3,50})\.$"
)
_OF = re.compile(r"\bthe (\w+) of ([A-Z]\w+(?: [A-Z]\w+)?)(?=[ .,])")
_DATE = re.compile(rf"\b({'|'.join(MONTHS)}) (\d{{1,2}}), (\d{{4}})")
_SMALL = re.compile(rf"\b({'|'.join(NUMBER_WORDS[2:13])})\b")
_DIGITS = re.compile(r"(?<![\d.,$-])([2-9]|1[0-2])(?![\d.,%:-])(?= [a-z])")
_BE = re.compile(
    r" (is|was|are|were|has been|had been|can|could|will|would|may|should|must|does|did|do|has|have|had)(?: also| currently| still)?(?= [a-z])"
)
_SOFT = re.compile(
    r"\b(may|might|could|planned to|tried to|attempted to|wanted to|was expected to|allegedly|reportedly|is thought to|is believed to|approximately|some|partly|sometimes|possibly) "
)
_SPLIT_VERB = re.compile(r" (?:is|was|are|were|has|had|became|won|received|moved|began|joined|took|served|died|wrote|made|has been|directed|played) ")  # fmt: skip


def _table(text: str, *, cycle: bool) -> dict[str, list[str]]:
    table: dict[str, list[str]] = {}
    for group in text.strip("|").split("|"):
        words = [word.replace("_", " ") for word in group.split()]
        for word in words:
            table.setdefault(word, []).extend(other for other in words if other != word)
    return table if cycle else {word: others for word, others in table.items() if others}


def _pattern(table: dict[str, list[str]]) -> re.Pattern[str]:
    return re.compile(r"\b(" + "|".join(sorted(map(re.escape, table), key=len, reverse=True)) + r")\b")


_SAME, _OPPOSITE, _RELATIONS = (_table(text, cycle=True) for text in (SAME, OPPOSITE, RELATIONS))
_SAME_RE, _OPPOSITE_RE, _RELATIONS_RE = _pattern(_SAME), _pattern(_OPPOSITE), _pattern(_RELATIONS)


class Change(NamedTuple):
    """A false sentence, which kind of edit made it, and what was put in place of what (empty where that is no name)."""

    text: str
    kind: str
    old: str = ""
    new: str = ""


class Pool(NamedTuple):
    """Names and numbers from elsewhere, by kind, to put in place of those of a sentence."""

    by_kind: dict[str, list[str]]

    def draw(self, rng: Random, kind: str) -> str:
        """One of that kind."""
        return rng.choice(self.by_kind[kind])


def stand_alone(sentence: str, subject: str) -> str:
    """The sentence with a leading pronoun replaced by what the article is about, where that is known."""
    match = _PRONOUN.match(sentence)
    if not match or not subject:
        return sentence
    name = subject + ("'s" if match[1] in _POSSESSIVE else "")
    return name + sentence[match.end() :]


def opens_with_pronoun(sentence: str) -> bool:
    """Whether the sentence cannot be understood alone."""
    return bool(_PRONOUN.match(sentence)) or sentence.startswith(("This ", "These ", "That ", "Those ", "Such "))


def rewrite(sentence: str, rng: Random, strength: int = 3) -> str:
    """The sentence said otherwise or shortened, still true wherever the sentence is."""
    for edit in rng.sample([_shorten, _shorten, _synonyms, _passive_to_active, _forms, _reorder], strength):
        sentence = edit(sentence, rng)
    return sentence


def surface(sentence: str, rng: Random) -> str:
    """The sentence in another voice or spelling, which changes nothing of what it says."""
    if rng.random() < 0.5:
        return sentence
    return rng.choice([_voice, _spelling])(sentence, rng)


def _shorten(sentence: str, rng: Random) -> str:
    cuts = [_BRACKETS, _ADVERB, _CLAUSE, _APPOSITION]
    cuts += [_OPENING] if rng.random() < 0.5 else []
    short = sentence
    for pattern in cuts:
        if rng.random() < 0.7:
            short = pattern.sub(" " if pattern is _APPOSITION else "", short)
    match = _TAIL.search(short)
    if match and rng.random() < 0.5:
        short = short[: match.start()] + "."
    parts = _AND_VERB.split(short)
    if len(parts) == 2 and rng.random() < 0.5 and len(parts[0].split()) > 4:
        first = _SPLIT_VERB.search(parts[0])
        short = parts[0] + "." if not first or rng.random() < 0.5 else parts[0][: first.start()] + " " + parts[1]
    if len(short.split()) < 4:
        return sentence
    return short[0].upper() + short[1:]


def _synonyms(sentence: str, rng: Random) -> str:
    return _SAME_RE.sub(lambda match: rng.choice(_SAME[match[1]]) if rng.random() < 0.7 else match[1], sentence)


def _passive_to_active(sentence: str, rng: Random) -> str:
    match = _ACTIVE_BY.match(sentence)
    if not match or match["verb"] in ("followed", "surrounded", "bordered") or rng.random() < 0.2:
        return sentence
    past = {"written": "wrote", "sung": "sang", "drawn": "drew", "chosen": "chose", "run": "ran"}
    verb = past.get(match["verb"], match["verb"])
    subject = match["subject"]
    if subject.split()[0] in ("The", "A", "An", "His", "Her", "Its", "Their", "It", "This"):
        subject = subject[0].lower() + subject[1:]
    agent = match["agent"]
    return f"{agent[0].upper()}{agent[1:]} {verb} {subject}."


def _forms(sentence: str, rng: Random) -> str:
    sentence = _DATE.sub(lambda m: f"{m[2]} {m[1]} {m[3]}" if rng.random() < 0.6 else f"{m[1]} {m[3]}", sentence)
    sentence = _SMALL.sub(lambda m: str(NUMBER_WORDS.index(m[1])), sentence)
    if rng.random() < 0.5:
        sentence = _DIGITS.sub(lambda m: NUMBER_WORDS[int(m[1])], sentence)
    return _OF.sub(lambda m: f"{m[2]}'s {m[1]}" if rng.random() < 0.5 else m[0], sentence)


def _reorder(sentence: str, rng: Random) -> str:
    match = _OPENING.match(sentence)
    if not match or not sentence.endswith(".") or rng.random() < 0.2:
        return sentence
    head, rest = match[0][:-2], sentence[match.end() : -1]
    if len(rest.split()) < 4:
        return sentence
    return f"{rest[0].upper()}{rest[1:]} {head[0].lower()}{head[1:]}."


def _voice(sentence: str, rng: Random) -> str:
    if rng.random() < 0.5:
        return sentence
    first = sentence.split(maxsplit=1)[0]
    lowered = (
        sentence[0].lower() + sentence[1:]
        if first in ("The", "A", "An", "It", "He", "She", "They", "In", "On", "There")
        else sentence
    )
    return rng.choice(VOICES).format(x=lowered)


def _spelling(sentence: str, rng: Random) -> str:
    draw = rng.random()
    if draw < 0.25:
        return sentence.lower()
    return sentence.rstrip(".") if draw < 0.5 else sentence.replace('"', "").replace("“", "").replace("”", "")


def falsify(sentence: str, rng: Random, pool: Pool, near: list[Piece]) -> Change | None:
    """A false version of the sentence; `near` are pieces of the same text, which make the hardest swaps."""
    kinds = [
        _swap_piece,
        _swap_piece,
        _swap_piece,
        _swap_piece,
        _opposite,
        _relation,
        _negate,
        _swap_roles,
        _add_detail,
        _harden,
    ]
    for edit in rng.sample(kinds, len(kinds)):
        change = edit(sentence, rng, pool, near)
        if change is not None and change.text != sentence:
            return change
    return None


def _swap_piece(sentence: str, rng: Random, pool: Pool, near: list[Piece]) -> Change | None:
    found = pieces(sentence)
    if not found:
        return None
    piece = rng.choice(found)
    if piece.kind in NAMES:
        options = [p.text for p in near if p.kind == piece.kind and _differs(p.text, sentence)]
        new = rng.choice(options) if options and rng.random() < 0.6 else pool.draw(rng, piece.kind)
        if not _differs(new, sentence):
            return None
    else:
        new = _other_value(piece, rng, pool)
    if new.lower() == piece.text.lower():
        return None
    text = sentence[: piece.start] + new + sentence[piece.end :]
    kind = "entity" if piece.kind in NAMES else "date" if piece.kind in ("date", "year") else "number"
    return Change(text, kind, piece.text, new)


def _differs(name: str, sentence: str) -> bool:
    """Whether no word of the name is in the sentence: Obama is no wrong answer for Barack Obama."""
    return not any(len(word) > 3 and word in sentence for word in name.split())


def _other_value(piece: Piece, rng: Random, pool: Pool) -> str:
    text = piece.text
    if piece.kind == "word":
        return rng.choice([word for word in NUMBER_WORDS[2:13] if word != text])
    if piece.kind == "ordinal":
        return rng.choice([word for word in ORDINALS[:8] if word != text])
    if piece.kind == "date":
        return _other_date(text, rng) if rng.random() < 0.7 else pool.draw(rng, "date")
    digits = re.search(r"\d[\d,]*(?:\.\d+)?", text)
    if digits is None or rng.random() < 0.2:
        return pool.draw(rng, piece.kind)
    if piece.kind == "year":
        other = int(digits[0][:4]) + rng.choice([-30, -12, -10, -7, -5, -3, -2, -1, 1, 2, 3, 4, 6, 10, 20])
        return text[: digits.start()] + str(other) + text[digits.end() :]
    return text[: digits.start()] + _other_digits(digits[0], rng) + text[digits.end() :]


def _other_digits(text: str, rng: Random) -> str:
    value = float(text.replace(",", "") or 1)
    if rng.random() < 0.5:
        place = rng.randrange(len(text))
        if text[place].isdigit():
            return text[:place] + rng.choice([d for d in "123456789" if d != text[place]]) + text[place + 1 :]
    new = max(1.0, value * rng.choice([0.1, 0.5, 0.6, 0.8, 1.2, 1.5, 2, 3, 10]) + rng.choice([0, 1]))
    if "." in text:
        return f"{new:.{len(text.split('.')[1])}f}"
    return f"{round(new):,}" if "," in text else str(round(new))


def _other_date(text: str, rng: Random) -> str:
    month = next(month for month in MONTHS if month in text)
    if rng.random() < 0.5:
        return text.replace(month, rng.choice([other for other in MONTHS if other != month]))
    return re.sub(
        r"\d+", lambda m: str(int(m[0]) + rng.choice([1, 2, 3, 5])) if len(m[0]) == 4 else str(int(m[0]) % 27 + 1), text
    )


def _lists(
    pattern: re.Pattern[str], table: dict[str, list[str]], sentence: str, rng: Random, kind: str
) -> Change | None:
    found = list(pattern.finditer(sentence))
    if not found:
        return None
    match = rng.choice(found)
    return Change(sentence[: match.start()] + rng.choice(table[match[1]]) + sentence[match.end() :], kind)


def _opposite(sentence: str, rng: Random, pool: Pool, near: list[Piece]) -> Change | None:
    del pool, near
    return _lists(_OPPOSITE_RE, _OPPOSITE, sentence, rng, "opposite")


def _relation(sentence: str, rng: Random, pool: Pool, near: list[Piece]) -> Change | None:
    del pool, near
    return _lists(_RELATIONS_RE, _RELATIONS, sentence, rng, "relation")


def _negate(sentence: str, rng: Random, pool: Pool, near: list[Piece]) -> Change | None:
    del pool, near
    if re.search(r"\b(?:not|no|never|n't)\b", sentence):
        text = re.sub(r" (?:not|never)(?= )", "", sentence, count=1)
        return Change(text, "negation") if text != sentence else None
    found = list(_BE.finditer(sentence))[:2]
    if not found or rng.random() < 0.4:
        return None
    match = rng.choice(found)
    word = rng.choice([" not", " not", " never"])
    return Change(sentence[: match.end()] + word + sentence[match.end() :], "negation")


def _swap_roles(sentence: str, rng: Random, pool: Pool, near: list[Piece]) -> Change | None:
    del pool, near
    text = swap_roles(sentence, rng)
    return Change(text, "roles") if text else None


def swap_roles(sentence: str, rng: Random) -> str | None:
    """The sentence with two names or two numbers of a kind in each other's place."""
    found = [piece for piece in pieces(sentence) if piece.kind in (*NAMES, "year", "number")]
    pairs = [
        (a, b)
        for index, a in enumerate(found)
        for b in found[index + 1 :]
        if (a.kind == b.kind or {a.kind, b.kind} <= {"person", "thing", "group"})
        and a.text not in b.text
        and b.text not in a.text
        and len(sentence[a.end : b.start].split()) > 1
        and not _listed(sentence[a.end : b.start])
    ]
    if not pairs:
        return None
    a, b = rng.choice(pairs)
    return sentence[: a.start] + b.text + sentence[a.end : b.start] + a.text + sentence[b.end :]


def _listed(between: str) -> bool:
    """Whether two names only stand side by side, so that their order says nothing."""
    return not re.search(r"[a-z]{4,}", between)


def _add_detail(sentence: str, rng: Random, pool: Pool, near: list[Piece]) -> Change | None:
    if not sentence.endswith(".") or rng.random() < 0.3:
        return None
    names = [piece.text for piece in near if piece.kind in NAMES and piece.text not in sentence]
    name = rng.choice(names) if names and rng.random() < 0.5 else pool.draw(rng, "person")
    detail = rng.choice(EXTRAS).format(
        place=pool.draw(rng, "place"), year=pool.draw(rng, "year"), name=name, number=rng.randrange(2, 90)
    )
    return Change(f"{sentence[:-1]} {detail}.", "detail")


def _harden(sentence: str, rng: Random, pool: Pool, near: list[Piece]) -> Change | None:
    del pool, near
    match = _SOFT.search(sentence)
    if match is None:
        return None
    firm = {
        "may": "must",
        "might": "will",
        "could": "did",
        "some": "all",
        "sometimes": "always",
        "approximately": "exactly",
        "possibly": "certainly",
        "partly": "completely",
    }
    new = firm.get(match[1], "refused to" if match[1].endswith("ed to") else "certainly")
    del rng
    return Change(sentence[: match.start()] + new + " " + sentence[match.end() :], "strength")


def cross(first: str, second: str) -> str | None:
    """What the first sentence is about with what the second says about something else."""
    a, b = _SPLIT_VERB.search(first), _SPLIT_VERB.search(second)
    if not a or not b or a.start() < 4 or b.start() < 4 or first[: a.start()] == second[: b.start()]:
        return None
    if opens_with_pronoun(second) or opens_with_pronoun(first) or len(first[: a.start()].split()) > 9:
        return None
    return first[: a.start()] + second[b.start() :]


def fuse(first: str, second: str, rng: Random) -> str:
    """Two sentences as one text or one sentence."""
    if rng.random() < 0.5:
        return f"{first} {second}"
    word = rng.choice([", and", ", while", ";", " and", ", whereas"])
    start = (
        second[0].lower() + second[1:]
        if second.split(maxsplit=1)[0] in ("The", "A", "An", "It", "He", "She", "They", "In", "On")
        else second
    )
    return first.rstrip(".") + f"{word} {start}"


def falsify_value(text: str, kind: str, rng: Random, pool: Pool) -> str:
    """Another number or date of the same kind."""
    return _other_value(Piece(0, len(text), text, kind), rng, pool)


def differs(name: str, text: str) -> bool:
    """Whether a name shares no word with a text, so that it cannot be a short form of what is there."""
    return _differs(name, text)
