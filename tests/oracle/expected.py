"""The right value of every claim metric for a sample of the world, by plain counting over what it was made from.

Nothing here reads a text to find a claim, and nothing is shared with the metrics: each number is counted anew from
the definitions in words. A cell without a value is the word "skipped".
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

from tests.oracle.embedding import embed
from tests.oracle.language import Statement, ask, join
from tests.oracle.verdicts import needed, useful, verdict
from tests.oracle.world import World

SKIPPED = "skipped"
Value = float | Literal["skipped"]


def expected(sample: World, questions: int = 3) -> dict[str, Value]:
    """Metric by metric what a perfect judge's evidence gives; `questions` are generated from each answer."""
    return {**_of_claims(sample), **_of_contexts(sample), **_of_meaning(sample, questions)}


def claims(statements: Sequence[Statement] | None) -> list[Statement]:
    """The statements of a text that claim something."""
    return [statement for statement in statements or () if statement.stance == "asserts"]


def _entails(statements: Sequence[Statement], claim: Statement) -> bool:
    assert claim.meaning
    return verdict(claim.meaning, statements) == "entailment"


def _ratio(part: int, whole: int) -> Value:
    return float(Fraction(part, whole)) if whole else SKIPPED


def _of_claims(sample: World) -> dict[str, Value]:
    """What counts claims; without a reference only faithfulness has a value."""
    said, wanted = claims(sample.answer), claims(sample.reference)
    everything = [statement for chunk in sample.chunks for statement in chunk]
    backed = [any(_entails(chunk, claim) for chunk in sample.chunks) for claim in said]
    found: dict[str, Value] = {
        "ragchecker.faithfulness": _ratio(sum(backed), len(said)),
        "ragas.faithfulness": _ratio(sum(_entails(everything, claim) for claim in said), len(said)),
    }
    if sample.reference is None:
        return found | dict.fromkeys(_NEED_REFERENCE, SKIPPED)
    right = [_entails(sample.reference, claim) for claim in said]
    relevant = [any(_entails(chunk, claim) for claim in wanted) for chunk in sample.chunks]
    told = [_entails(sample.answer, claim) for claim in wanted]
    there = [any(_entails(chunk, claim) for chunk in sample.chunks) for claim in wanted]
    kinds = [_kind_of_claim(sample, claim, correct, relevant) for claim, correct in zip(said, right, strict=True)]
    found |= {
        name: _ratio(kinds.count(kind), len(said))
        for name, kind in (
            ("ragchecker.noise_sensitivity_in_relevant", "from relevant"),
            ("ragchecker.noise_sensitivity_in_irrelevant", "from irrelevant"),
            ("ragchecker.hallucination", "made up"),
            ("ragchecker.self_knowledge", "known"),
            ("ragas.noise_sensitivity", "from relevant"),
        )
    }
    precision, recall = _ratio(sum(right), len(said)), _ratio(sum(told), len(wanted))
    return found | {
        "ragchecker.precision": precision,
        "ragchecker.recall": recall,
        "ragchecker.f1": _harmonic(precision, recall) if said else _ratio(0, len(wanted)),
        "ragchecker.claim_recall": _ratio(sum(there), len(wanted)),
        "ragchecker.context_precision": _ratio(sum(relevant), len(relevant)),
        "ragchecker.context_utilization": _ratio(sum(map(min, there, told)), sum(there)),
        "ragas.context_recall": _ratio(sum(_entails(everything, claim) for claim in wanted), len(wanted)),
    }


_NEED_REFERENCE = (
    "ragchecker.precision",
    "ragchecker.recall",
    "ragchecker.f1",
    "ragchecker.claim_recall",
    "ragchecker.context_precision",
    "ragchecker.context_utilization",
    "ragchecker.noise_sensitivity_in_relevant",
    "ragchecker.noise_sensitivity_in_irrelevant",
    "ragchecker.hallucination",
    "ragchecker.self_knowledge",
    "ragas.noise_sensitivity",
    "ragas.context_recall",
)


def _kind_of_claim(sample: World, claim: Statement, correct: bool, relevant: list[bool]) -> str:
    origins = [counts for chunk, counts in zip(sample.chunks, relevant, strict=True) if _entails(chunk, claim)]
    if not origins:
        return "known" if correct else "made up"
    if correct:
        return "right"
    return "from relevant" if any(origins) else "from irrelevant"


def _harmonic(first: Value, second: Value) -> Value:
    if isinstance(first, str) or isinstance(second, str):
        return SKIPPED
    return 2 / (1 / first + 1 / second) if first and second else 0.0


def _of_contexts(sample: World) -> dict[str, Value]:
    """What judges chunks by their use, their sentences and their names."""
    against = claims(sample.answer if sample.reference is None else sample.reference)
    helps = useful([claim.meaning for claim in against if claim.meaning], sample.chunks)
    ranks = [rank for rank, is_useful in enumerate(helps, start=1) if is_useful]
    sentences = [statement for chunk in sample.chunks for statement in chunk]
    named = entities(sample.reference)
    contexts = [join(sample.language, chunk) for chunk in sample.chunks]
    return {
        "ragas.context_precision": (
            math.fsum((place + 1) / rank for place, rank in enumerate(ranks)) / len(ranks)
            if ranks
            else (0.0 if helps else SKIPPED)
        ),
        "ragas.context_relevance": _ratio(sum(needed(sample.subject, sample.asked, sentences)), len(sentences)),
        "ragas.context_entity_recall": _ratio(sum(_occurs(name, contexts) for name in named), len(named)),
    }


def entities(statements: Sequence[Statement] | None) -> list[str]:
    """The names, years and measures of a text, each once and as it is written there; a cargo is an ordinary noun."""
    found = []
    for claim in claims(statements):
        assert claim.meaning
        subject, attribute, value = claim.meaning
        measure = re.search(rf"{value} ?(metres|Meter|米)", claim.text) if attribute == "length" else None
        found += [subject, *([] if attribute == "cargo" else [measure[0] if measure else value])]
    return list(dict.fromkeys(found))


def _occurs(name: str, contexts: list[str]) -> bool:
    """Whether a name stands in a text as whole words; in Chinese, which has no spaces, as characters."""
    if re.search(r"[\u4e00-\u9fff]", name) or any(re.search(r"[\u4e00-\u9fff]", text) for text in contexts):
        return any(name in text for text in contexts)
    return any(re.search(rf"\b{re.escape(name.lower())}\b", text.lower()) for text in contexts)


def _of_meaning(sample: World, questions: int) -> dict[str, Value]:
    """What takes embeddings."""
    answer = join(sample.language, sample.answer)
    asked = generated_questions(claims(sample.answer), questions)
    relevancy: Value = 0.0
    if not sample.noncommittal:
        relevancy = sum(cosine(text, sample.question) for text in asked) / len(asked)
    if sample.reference is None:
        return {
            "ragas.answer_relevancy": relevancy,
            "semantic_similarity": SKIPPED,
            "ragas.answer_correctness": SKIPPED,
        }
    alike = cosine(answer, join(sample.language, sample.reference))
    hits = sum(_entails(sample.reference, claim) for claim in claims(sample.answer))
    false = len(claims(sample.answer)) - hits
    lost = sum(not _entails(sample.answer, claim) for claim in claims(sample.reference))
    overlap = float(Fraction(2 * hits, 2 * hits + false + lost)) if hits else 0.0
    return {
        "ragas.answer_relevancy": relevancy,
        "semantic_similarity": alike,
        "ragas.answer_correctness": 0.75 * overlap + 0.25 * alike,
    }


def generated_questions(said: Sequence[Statement], count: int) -> list[str]:
    """The questions that an answer's claims answer, in turn until there are enough."""
    meanings = [
        statement.meaning for statement in said if statement.meaning and statement.meaning.attribute != "country"
    ]
    turns = [meanings[turn % len(meanings)] for turn in range(count)] if meanings else []
    return [ask(meaning.subject, [meaning.attribute]) for meaning in turns]


def cosine(first: str, second: str) -> float:
    """The cosine of two texts' embeddings."""
    one, other = embed(first), embed(second)
    dot = math.fsum(left * right for left, right in zip(one, other, strict=True))
    return dot / math.sqrt(math.fsum(value * value for value in one) * math.fsum(value * value for value in other))
