"""Answers as language models give them to open questions: other spellings, near misses, mentions of what is turned down, yes and no."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

import edits
from answer_forms import near_misses, other_forms
from corpus import Article
from spans import Piece
from support_pairs import Pair
from words import ANSWER_VOICES, CORRECTIONS, HEDGES, NO_VOICES, YES_VOICES

TEMPLATE = "question: {question} answer: {reference}"
_BE = re.compile(r"^(?P<subject>(?:The |An? )?[A-Z][^,;:]{2,60}?) (?P<be>is|was|are|were) (?P<rest>[a-z][^;:]*)$")
_WHEN = {"year", "date"}
_OPEN = {
    "person": ["Who"],
    "place": ["Which place", "What"],
    "group": ["Which organisation", "What"],
    "thing": ["What", "Which one"],
}


class Asked(NamedTuple):
    """A question with its reference, the sentence that answers it, and other sentences of the same text."""

    question: str
    reference: str
    kind: str
    holding: str
    spare: list[str]
    mentions: list[str]

    @property
    def first(self) -> str:
        """The first segment of its pairs."""
        return template(self.question, self.reference)


def template(question: str, reference: str) -> str:
    """The first segment of an answer-match pair."""
    return TEMPLATE.format(question=question.strip(), reference=reference.strip())


def natural(sentence: str, piece: Piece) -> str | None:
    """A question as people ask it, where the sentence is simple enough; nothing otherwise."""
    tail = sentence[piece.end :].rstrip(".")
    if piece.start == 0 and piece.kind in _OPEN and re.match(r" (?:is|was|has|had|became|won|wrote|\w+ed) ", tail):
        return f"{_OPEN[piece.kind][len(piece.text) % len(_OPEN[piece.kind])]}{tail}?"
    whole = _BE.match(sentence[: piece.start])
    if whole is None:
        return None
    rest = whole["rest"].rstrip()
    told = re.match(r"^(?P<said>.+?) (?P<link>in|on|at|by|near)(?: the)?$", rest)
    subject = whole["subject"]
    if subject.split()[0] in ("The", "A", "An", "His", "Her", "Its", "This"):
        subject = subject[0].lower() + subject[1:]
    if told is None or len(tail.split()) > 8:
        return None
    ask = (
        "When"
        if piece.kind in _WHEN
        else "Where"
        if piece.kind == "place"
        else "By whom"
        if told["link"] == "by"
        else ""
    )
    return f"{ask} {whole['be']} {subject} {told['said']}{tail}?" if ask else None


def open_pairs(asked: Asked, wrong: str, rng: Random, pool: edits.Pool) -> Iterator[Pair]:
    """Right and wrong answers where words alone mislead."""
    forms = other_forms(asked.reference, asked.kind, rng)
    misses = [m for m in near_misses(asked.reference, asked.kind, rng, pool) if m not in forms]
    if forms:
        yield Pair("match", "form_right", asked.first, told(asked, rng.choice(forms), rng), 1)
    if misses:
        yield Pair("match", "form_wrong", asked.first, told(asked, rng.choice(misses), rng), 0)
    clear = (
        edits.differs(wrong, asked.reference)
        and wrong.lower() not in asked.reference.lower()
        and asked.reference.lower() not in wrong.lower()
    )
    if not clear:
        return
    if rng.random() < 0.55:
        yield Pair(
            "match", "mention_wrong", asked.first, _mention(asked, asked.reference, wrong, asked.mentions, rng), 0
        )
    if rng.random() < 0.55:
        right = rng.choice(forms) if forms and rng.random() < 0.5 else asked.reference
        others = [s for s in asked.spare if wrong in s]
        yield Pair("match", "mention_right", asked.first, _mention(asked, wrong, right, others, rng), 1)
    if rng.random() < 0.6 and asked.reference in asked.holding:
        yield from _whole_reference(asked, wrong, forms, rng)


def told(asked: Asked, answer: str, rng: Random) -> str:
    """An answer in a sentence of the text, in a model's voice, or alone."""
    draw = rng.random()
    if draw < 0.5 and asked.reference in asked.holding:
        text = _rewritten(asked.holding.replace(asked.reference, answer, 1), answer, rng)
        return around(edits.surface(text, rng), asked.spare, rng)
    text = rng.choice(ANSWER_VOICES).format(a=answer)
    return around(text, asked.spare, rng) if draw < 0.65 and text.endswith((".", "!")) else text


def _rewritten(text: str, keep: str, rng: Random) -> str:
    """The text said otherwise, with what matters still in it."""
    new = edits.rewrite(text, rng, 2)
    return new if keep in new else text


def around(text: str, spare: list[str], rng: Random) -> str:
    """The answer with other true sentences before or after it, as talkative models have it."""
    draw = rng.random()
    if draw < 0.5 or not spare:
        return text
    if draw < 0.58:
        return f"{text} {rng.choice(HEDGES)}"
    more = rng.sample(spare, min(len(spare), rng.randint(1, 3)))
    return " ".join([*more, text] if draw < 0.72 else [text, *more])


def _mention(asked: Asked, down: str, meant: str, others: list[str], rng: Random) -> str:
    """An answer that names two things and means one of them."""
    if others and asked.reference in asked.holding and rng.random() < 0.6:
        said = asked.holding if meant == asked.reference else asked.holding.replace(asked.reference, meant)
        parts = [edits.surface(said, rng), rng.choice(others)]
        return " ".join(parts if rng.random() < 0.7 else parts[::-1])
    return rng.choice(CORRECTIONS).format(a=down, b=meant)


def _whole_reference(asked: Asked, wrong: str, forms: list[str], rng: Random) -> Iterator[Pair]:
    """A reference in a whole sentence: what is asked for decides."""
    first = template(asked.question, _rewritten(asked.holding, asked.reference, rng))
    right = rng.choice(forms) if forms and rng.random() < 0.3 else asked.reference
    yield Pair("match", "sentence_right", first, told(asked, right, rng), 1)
    yield Pair("match", "sentence_wrong", first, told(asked, wrong, rng), 0)


def yes_no_pairs(article: Article, rng: Random, pool: edits.Pool, count: int) -> Iterator[Pair]:
    """Questions that ask whether a sentence is so."""
    able = [s for s in article.sentences if len(s.split()) <= 22 and _BE.match(s) and not edits.opens_with_pronoun(s)]
    for sentence in rng.sample(able, min(count, len(able))):
        change = edits.falsify(sentence, rng, pool, [])
        if change is None or change.kind in ("detail", "strength"):
            continue
        yes = rng.random() < 0.5
        asked = _whether(sentence if yes else change.text)
        if asked is None:
            continue
        reference = rng.choice(["yes", "Yes", f"Yes, {sentence}"] if yes else ["no", "No", f"No, {sentence}"])
        agree = _voiced(YES_VOICES, edits.rewrite(sentence, rng, 1) if yes else change.text, rng)
        differ = _voiced(NO_VOICES, change.text if yes else edits.rewrite(sentence, rng, 1), rng)
        yield Pair("match", "yesno_right", template(asked, reference), agree if yes else differ, 1)
        yield Pair("match", "yesno_wrong", template(asked, reference), differ if yes else agree, 0)


def _voiced(voices: list[str], sentence: str, rng: Random) -> str:
    return rng.choice(voices).format(x=sentence)


def _whether(sentence: str) -> str | None:
    match = _BE.match(sentence.rstrip("."))
    if match is None:
        return None
    subject = match["subject"]
    if subject.split()[0] in ("The", "A", "An"):
        subject = subject[0].lower() + subject[1:]
    return f"{match['be'].capitalize()} {subject} {match['rest']}?"
