"""Pairs for answer match: questions with a reference and right, wrong, wordy, partial and refused answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

import edits
import facts
from answer_forms import other_forms
from corpus import Article, Question, cut, tidy
from open_pairs import Asked, natural, open_pairs, template
from spans import Piece, pieces
from support_pairs import UNKNOWN, Pair, asked_pairs
from words import ANSWER_VOICES, HEDGES, MONTHS, REFUSALS

_ASK = {
    "person": ["who", "which person"], "place": ["where", "which place", "what location"], "group": ["which organisation", "what group"], "thing": ["what", "which one"],
    "year": ["what year", "which year"], "date": ["what date", "when"], "number": ["how many", "what number"], "percent": ["what percentage"],
    "money": ["how much money", "what amount"], "ordinal": ["which place in order"], "word": ["how many"],
}  # fmt: skip


def same_answers(text: str, kind: str, rng: Random) -> list[str]:
    """Ways to write an answer: as it stands, otherwise, with more or fewer small words."""
    found = [text, text, text.lower(), *other_forms(text, kind, rng)]
    if kind == "year":
        found += [f"{rng.choice(MONTHS)} {text}", f"the year {text}"]
    if kind in ("group", "thing") and text[0].isupper():
        found.append(f"the {text}")
    if text.startswith(("the ", "The ", "a ", "an ")):
        found.append(text.split(" ", 1)[1])
    return found


def squad_pairs(question: Question, rng: Random, pool: edits.Pool) -> Iterator[Pair]:
    """Answers to one of SQuAD's questions."""
    reference = rng.choice(question.answers)
    sentences = cut(tidy(question.context))
    holding = [s for s in sentences if any(answer in s for answer in question.answers)]
    spare = [s for s in sentences if s not in holding]
    answer = next((p for p in pieces(f"xx {reference} xx") if len(p.text) > 0.6 * len(reference)), None)
    kind = answer.kind if answer else ""
    near = [p for s in spare for p in pieces(s)]
    wrong = _wrong(reference, kind, near, question.question, rng, pool, sentences)
    right = [*question.answers, *same_answers(reference, kind, rng)]
    first = template(question.question, reference)
    yield from _short(first, right, wrong, spare, rng)
    yield from _wordy(first, reference, holding, spare, wrong, rng)
    if holding:
        yield from open_pairs(
            Asked(question.question, reference, kind, rng.choice(holding), spare, []), wrong, rng, pool
        )
    if rng.random() < 0.5 and not _overlap(wrong, reference):
        yield from asked_pairs(question.question, reference, wrong, " ".join(sentences), "")
    yield (
        Pair("match", "refusal", first, rng.choice(REFUSALS), 0)
        if rng.random() < 0.4
        else Pair("match", "echo", first, question.question, 0)
    )
    if spare and rng.random() < 0.5:
        yield Pair("match", "unlabelled", first, _pad(rng.choice(sentences), spare, rng), UNKNOWN)


def cloze_pairs(article: Article, rng: Random, pool: edits.Pool, count: int) -> Iterator[Pair]:
    """Answers to questions made by asking for one name, number or date of a sentence."""
    for index in rng.sample(range(len(article.sentences)), min(count, len(article.sentences))):
        named = facts.antecedent(article.sentences, index)
        whole = facts.resolve(article.sentences[index], named[0]) if named else article.sentences[index]
        sentence = edits.rewrite(whole, rng, 1)
        found = [p for p in pieces(sentence) if p.text != article.subject and len(p.text) > 1]
        if not found or edits.opens_with_pronoun(sentence) or len(sentence.split()) > 32:
            continue
        piece, asked = _ask(sentence, found, rng)
        spare = [s for i, s in enumerate(article.sentences[max(0, index - 4) : index + 5]) if piece.text not in s]
        near = [p for s in spare for p in pieces(s)]
        wrong = _wrong(piece.text, piece.kind, near, asked, rng, pool, [])
        first = template(edits.surface(asked, rng) if rng.random() < 0.2 else asked, piece.text)
        yield from _short(first, same_answers(piece.text, piece.kind, rng), wrong, spare, rng)
        yield from _wordy(
            first,
            piece.text,
            [article.sentences[index]] if piece.text in article.sentences[index] else [sentence],
            spare,
            wrong,
            rng,
        )
        around = article.sentences[max(0, index - 8) : index] + article.sentences[index + 1 : index + 9]
        mentions = [s for s in around if piece.text in s]
        yield from open_pairs(Asked(asked, piece.text, piece.kind, sentence, spare, mentions), wrong, rng, pool)
        if rng.random() < 0.25 and edits.differs(wrong, piece.text) and piece.text not in asked:
            evidence = " ".join(article.sentences[max(0, index - 2) : index + 3])
            yield from asked_pairs(asked, piece.text, wrong, evidence, sentence if not spare or piece.start else "")
        if rng.random() < 0.15:
            yield Pair("match", "refusal", first, rng.choice(REFUSALS), 0)


def _ask(sentence: str, found: list[Piece], rng: Random) -> tuple[Piece, str]:
    """What is asked for, and a question as people ask where the sentence allows one; else with a gap that a word fills."""
    if rng.random() < 0.5:
        # Those that can be written otherwise are what a judge must learn most.
        found = [piece for piece in found if other_forms(piece.text, piece.kind, rng)] or found
    for piece in rng.sample(found, len(found)):
        if (question := natural(sentence, piece)) is not None:
            return piece, question
    piece = rng.choice(found)
    return piece, sentence[: piece.start] + rng.choice(_ASK[piece.kind]) + sentence[piece.end :].rstrip(".") + "?"


def _wrong(
    reference: str, kind: str, near: list[Piece], asked: str, rng: Random, pool: edits.Pool, sentences: Sequence[str]
) -> str:
    """A wrong answer of the same kind, from the same text where there is one."""
    if kind in ("year", "number", "percent", "money", "date", "word", "ordinal") and rng.random() < 0.5:
        change = edits.falsify_value(reference, kind, rng, pool)
        if change != reference:
            return change
    options = [p.text for p in near if p.kind == kind and edits.differs(p.text, f"{reference} {asked}")]
    if options and rng.random() < 0.75:
        return rng.choice(options)
    if kind:
        return pool.draw(rng, kind)
    words = rng.choice(sentences).rstrip(".").split() if sentences else ["unknown"]
    size = max(1, min(len(words), len(reference.split()) + rng.randint(-1, 2)))
    start = rng.randrange(len(words) - size + 1)
    return " ".join(words[start : start + size]).strip(",;:") or "nothing"


def _overlap(text: str, reference: str) -> bool:
    return reference.lower() in text.lower() or text.lower() in reference.lower()


def _short(first: str, right: list[str], wrong: str, spare: list[str], rng: Random) -> Iterator[Pair]:
    reference = right[0]
    yield Pair("match", "short_right", first, _say(rng.choice(right), spare, rng), 1)
    if not _overlap(wrong, reference) and not any(_overlap(wrong, other) for other in right):
        yield Pair("match", "short_wrong", first, _say(wrong, spare, rng), 0)


def _wordy(first: str, reference: str, holding: list[str], spare: list[str], wrong: str, rng: Random) -> Iterator[Pair]:
    if not holding:
        return
    sentence = rng.choice(holding)
    yield Pair("match", "wordy_right", first, _pad(edits.surface(sentence, rng), spare, rng), 1)
    if reference in sentence and not _overlap(wrong, reference):
        false = sentence.replace(reference, wrong)
        yield Pair("match", "wordy_wrong", first, _pad(edits.surface(false, rng), spare, rng), 0)
    if spare and rng.random() < 0.35:
        other = rng.choice(spare)
        if reference.lower() not in other.lower():
            rest = [s for s in spare if reference.lower() not in s.lower()]
            yield Pair("match", "off_topic", first, _pad(edits.surface(other, rng), rest, rng), 0)


def _say(answer: str, spare: list[str], rng: Random) -> str:
    text = rng.choice(ANSWER_VOICES).format(a=answer)
    return _pad(text if text.endswith((".", "!", ")")) else text + ".", spare, rng) if rng.random() < 0.25 else text


def _pad(text: str, spare: list[str], rng: Random) -> str:
    draw = rng.random()
    if draw < 0.45 or not spare:
        return text
    if draw < 0.55:
        return f"{text} {rng.choice(HEDGES)}"
    return " ".join([text, *rng.sample(spare, min(len(spare), rng.randint(1, 3)))])
