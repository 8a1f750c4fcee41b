"""Pairs for claim support and for the support fraction, made from an article's sentences."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

import edits
import facts
from corpus import Article
from spans import Piece, pieces

SUPPORTED, NOT_IN_EVIDENCE, CONTRADICTED, NOT_SUPPORTED, UNKNOWN = 0, 1, 2, 3, -1
_LABELS = {
    "date": CONTRADICTED,
    "number": CONTRADICTED,
    "negation": CONTRADICTED,
    "opposite": CONTRADICTED,
    "detail": NOT_IN_EVIDENCE,
}


class Pair(NamedTuple):
    """One row: the task, how it was made, the two segments, and the label or the fraction."""

    task: str
    kind: str
    first: str
    second: str
    label: float


class Scene(NamedTuple):
    """An article, a sentence of it, and the stretch around that sentence which serves as evidence."""

    article: Article
    gold: int
    low: int
    high: int

    @property
    def text(self) -> str:
        """The evidence."""
        return " ".join(self.article.sentences[self.low : self.high])

    def without_gold(self) -> str:
        """The evidence without the sentence in question, one more sentence at an end in its place."""
        sentences = self.article.sentences
        low, high = (self.low, self.high + 1) if self.high < len(sentences) else (max(0, self.low - 1), self.high)
        return " ".join(sentences[low : self.gold] + sentences[self.gold + 1 : high])

    def outside(self, rng: Random) -> str | None:
        """A sentence of the article that is not in the evidence."""
        others = [*range(self.low), *range(self.high, len(self.article.sentences))]
        return self.article.sentences[rng.choice(others)] if others else None

    def inside(self, rng: Random) -> str | None:
        """Another sentence of the evidence."""
        others = [i for i in range(self.low, self.high) if i != self.gold]
        return self.article.sentences[rng.choice(others)] if others else None


def scene(article: Article, gold: int, rng: Random) -> Scene:
    """A window of up to 230 words with the sentence at a random place in it."""
    budget = rng.choice(
        [rng.randint(20, 60), rng.randint(60, 130), rng.randint(60, 130), rng.randint(130, 230), rng.randint(130, 230)]
    )
    low, high = gold, gold + 1
    size = len(article.sentences[gold].split())
    lean = rng.random()
    while low > 0 or high < len(article.sentences):
        go_down = low > 0 and (high >= len(article.sentences) or rng.random() < lean)
        added = article.sentences[low - 1 if go_down else high]
        size += len(added.split())
        if size > budget:
            break
        low, high = (low - 1, high) if go_down else (low, high + 1)
    return Scene(article, gold, low, high)


def support_pairs(article: Article, rng: Random, pool: edits.Pool, count: int) -> Iterator[Pair]:
    """Supported and unsupported claims for some of the article's sentences."""
    golds = rng.sample(range(len(article.sentences)), min(count, len(article.sentences)))
    for gold in golds:
        here, sentence = _named(article, gold, rng)
        if edits.opens_with_pronoun(sentence) and rng.random() < 0.6:
            continue
        near = pieces(here.text)
        for kind, evidence, claim, label in _claims(here, sentence, near, rng, pool):
            yield Pair("support", kind, evidence, edits.surface(claim, rng), label)


def _named(article: Article, gold: int, rng: Random) -> tuple[Scene, str]:
    """The evidence and the sentence with a name in its pronoun's place, where the evidence names it."""
    here, sentence = scene(article, gold, rng), article.sentences[gold]
    named = facts.antecedent(article.sentences, gold)
    if named is not None:
        return here._replace(low=min(here.low, named[1])), facts.resolve(sentence, facts.short_name(named[0], rng))
    known = article.subject and article.subject in here.text
    return here, edits.stand_alone(sentence, article.subject) if known else sentence


def _claims(
    here: Scene, sentence: str, near: list[Piece], rng: Random, pool: edits.Pool
) -> Iterator[tuple[str, str, str, int]]:
    text = here.text
    true = sentence if rng.random() < 0.2 else edits.rewrite(sentence, rng)
    yield "pronoun_true" if sentence != here.article.sentences[here.gold] else "true", text, true, SUPPORTED
    false = edits.falsify(edits.rewrite(sentence, rng, 2), rng, pool, near)
    if false is not None:
        yield false.kind, text, false.text, _LABELS.get(false.kind, NOT_SUPPORTED)
    yield from _absent(here, true, rng)
    yield from _fused(here, true, false, rng)
    yield from _roles(here, sentence, rng)
    if rng.random() < 0.55:
        yield from _twins(text, sentence, near, rng, pool)


def fact_pairs(article: Article, rng: Random, pool: edits.Pool, count: int) -> Iterator[Pair]:
    """One fact of a long sentence, and the same with a mistake in it."""
    able = [(gold, found) for gold, s in enumerate(article.sentences) if (found := facts.single_facts(s))]
    for gold, found in rng.sample(able, min(count, len(able))):
        here, fact = scene(article, gold, rng), rng.choice(found)
        yield Pair("support", "fact_true", here.text, edits.surface(fact, rng), SUPPORTED)
        change = edits.falsify(fact, rng, pool, pieces(here.text))
        if change is not None:
            label = _LABELS.get(change.kind, NOT_SUPPORTED)
            yield Pair("support", "fact_false", here.text, edits.surface(change.text, rng), label)


def _roles(here: Scene, sentence: str, rng: Random) -> Iterator[tuple[str, str, str, int]]:
    """Who did what to whom: told from the other side, exchanged in the claim, or exchanged in the evidence."""
    gold, text = here.article.sentences[here.gold], here.text
    sides = facts.other_side(sentence)
    if sides is not None:
        yield "roles_true", text, sides[0], SUPPORTED
        yield "roles", text, sides[1], NOT_SUPPORTED
    swapped = edits.swap_roles(gold, rng) if sides is not None or rng.random() < 0.7 else None
    if swapped is None:
        return
    changed = text.replace(gold, swapped)
    yield "roles", text, edits.rewrite(swapped, rng, 1) if rng.random() < 0.5 else swapped, NOT_SUPPORTED
    if rng.random() < 0.7:
        yield "roles_true", changed, edits.rewrite(swapped, rng, 2), SUPPORTED
    if rng.random() < 0.3:
        yield "roles", changed, gold, NOT_SUPPORTED


def pronoun_pairs(article: Article, rng: Random, pool: edits.Pool, count: int) -> Iterator[Pair]:
    """Evidence in which a pronoun stands for the name in the sentence before; the claim says the name, or a wrong one."""
    named = [(index, name) for index, s in enumerate(article.sentences) if (name := facts.named_subject(s))]
    for index, name in rng.sample(named, min(2 * count, len(named))):
        gold = article.sentences[index]
        leads = [s for s in article.sentences[:index] if name in s]
        if not leads or gold[len(name) :].startswith((" (", ",")):
            continue
        lead = leads[-1]
        told = facts.with_pronoun(gold, name)
        after = article.sentences[index + 1 : index + 1 + rng.randint(0, 5)]
        others = [s for s in article.sentences[:3] if s != gold]
        evidence = " ".join([*rng.sample(others, min(len(others), rng.randint(0, 2))), lead, told, *after])
        claim = facts.short_name(name, rng) + gold[len(name) :]
        yield Pair("support", "pronoun_true", evidence, edits.rewrite(claim, rng, 2), SUPPORTED)
        names = [p.text for p in pieces(evidence) if p.kind in edits.NAMES and edits.differs(p.text, gold)]
        other = rng.choice(names) if names and rng.random() < 0.6 else pool.draw(rng, "person")
        false = edits.falsify(claim, rng, pool, pieces(evidence)) if rng.random() < 0.5 else None
        wrong = false.text if false else other + gold[len(name) :]
        yield Pair("support", "pronoun_false", evidence, edits.rewrite(wrong, rng, 1), NOT_SUPPORTED)


def asked_pairs(question: str, right: str, wrong: str, evidence: str, statement: str) -> Iterator[Pair]:
    """A question with a short answer in place of a claim, and in place of evidence."""
    yield Pair("support", "asked_true", evidence, f"{question} {right}.", SUPPORTED)
    yield Pair("support", "asked_false", evidence, f"{question} {wrong}.", NOT_SUPPORTED)
    if statement:
        yield Pair("support", "answer_true", f"{question} {right}.", statement, SUPPORTED)
        yield Pair("support", "answer_false", f"{question} {wrong}.", statement, NOT_SUPPORTED)


def _absent(here: Scene, true: str, rng: Random) -> Iterator[tuple[str, str, str, int]]:
    if rng.random() < 0.4:
        yield "removed", here.without_gold(), true, NOT_IN_EVIDENCE
    outside = here.outside(rng)
    if outside is not None and rng.random() < 0.35:
        claim = edits.rewrite(edits.stand_alone(outside, here.article.subject), rng)
        yield "neighbour", here.text, claim, NOT_IN_EVIDENCE
    other = here.inside(rng)
    if other is not None and rng.random() < 0.4:
        crossed = edits.cross(true, other)
        if crossed is not None:
            yield "crossed", here.text, crossed, NOT_SUPPORTED


def _fused(here: Scene, true: str, false: edits.Change | None, rng: Random) -> Iterator[tuple[str, str, str, int]]:
    other, outside = here.inside(rng), here.outside(rng)
    if other is not None and rng.random() < 0.45:
        yield "fused_true", here.text, edits.fuse(true, edits.rewrite(other, rng), rng), SUPPORTED
    if other is not None and false is not None and rng.random() < 0.15:
        order = [edits.rewrite(other, rng), false.text]
        rng.shuffle(order)
        yield "fused_false", here.text, edits.fuse(order[0], order[1], rng), NOT_SUPPORTED
    if outside is not None and rng.random() < 0.1:
        yield "fused_absent", here.text, edits.fuse(true, edits.rewrite(outside, rng), rng), NOT_IN_EVIDENCE


def _twins(
    text: str, sentence: str, near: list[Piece], rng: Random, pool: edits.Pool
) -> Iterator[tuple[str, str, str, int]]:
    """The same change in evidence and claim: the false sentence is now the true one, so that truth must be read off."""
    change = edits.falsify(sentence, rng, pool, near)
    if change is None or not change.old or change.old not in text or len(change.old) < 2 or change.new in text:
        return
    changed = text.replace(change.old, change.new)
    yield "twin_true", changed, edits.rewrite(change.text, rng, 2), SUPPORTED
    if rng.random() < 0.6:
        label = _LABELS.get(change.kind, NOT_SUPPORTED)
        yield "twin_false", changed, edits.rewrite(sentence, rng, 2) if rng.random() < 0.3 else sentence, label


def fraction_pairs(article: Article, rng: Random, pool: edits.Pool, count: int) -> Iterator[Pair]:
    """Texts of which a known share is supported by another text."""
    for _ in range(count):
        here = scene(article, rng.randrange(len(article.sentences)), rng)
        if here.high - here.low < 2:
            continue
        yield _answer_of_source(here, rng, pool) if rng.random() < 0.6 else _part_of_answer(here, rng, pool)


def _answer_of_source(here: Scene, rng: Random, pool: edits.Pool) -> Pair:
    """A text written from the evidence, some of whose sentences are wrong or come from elsewhere."""
    inside = list(range(here.low, here.high))
    rate = rng.choice([0.0, 0.25, 0.5, 0.5, 0.75, 1.0])
    near = pieces(here.text)
    units = []
    for index in sorted(rng.sample(inside, min(len(inside), rng.randint(1, 5)))):
        sentence = edits.stand_alone(here.article.sentences[index], here.article.subject)
        outside = here.outside(rng)
        if rng.random() < rate:
            units.append((edits.rewrite(sentence, rng), 1.0))
        elif outside is not None and rng.random() < 0.65:
            units.append((edits.rewrite(outside, rng), 0.0))
        else:
            change = edits.falsify(sentence, rng, pool, near)
            units.append((change.text, 0.4) if change else (sentence, 1.0))
    if rng.random() < 0.3:
        rng.shuffle(units)
    return Pair("fraction", "written", here.text, " ".join(text for text, _ in units), _share(units))


def _part_of_answer(here: Scene, rng: Random, pool: edits.Pool) -> Pair:
    """A whole text against one that says only some of it."""
    sentences = here.article.sentences[here.low : here.high][:6]
    rate = rng.choice([0.0, 0.25, 0.5, 0.75, 1.0])
    near = pieces(here.text)
    kept, units = [], []
    for sentence in sentences:
        if rng.random() < rate:
            kept.append(edits.rewrite(sentence, rng, 2))
            units.append((sentence, 1.0))
        elif rng.random() < 0.2 and (change := edits.falsify(sentence, rng, pool, near)) is not None:
            kept.append(change.text)
            units.append((sentence, 0.4))
        else:
            units.append((sentence, 0.0))
    outside = here.outside(rng)
    if outside is not None and (not kept or rng.random() < 0.5):
        kept.insert(rng.randrange(len(kept) + 1), outside)
    return Pair("fraction", "kept", " ".join(kept) or "It is not known.", " ".join(sentences), _share(units))


def _share(units: list[tuple[str, float]]) -> float:
    sizes = [len(text.split()) for text, _ in units]
    return sum(size * credit for size, (_, credit) in zip(sizes, units, strict=True)) / sum(sizes)
