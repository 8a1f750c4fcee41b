"""Causes of failures without a judge: from the facts in the chunks and the words of the answer.

A fact that no retrieved chunk contains is split if a chunk ends or begins within it, or if two joined chunks contain it. It
is lost if all expected chunks were retrieved, or if no chunk of the corpus contains it. Otherwise its chunk is missing. An
answer that seems wrong is traced by its numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import permutations

from ragstone.compare.cause_names import (
    HALLUCINATED,
    IGNORED,
    LOST,
    LOW,
    MISREAD,
    MISSING,
    NO_ANSWER,
    NOISE,
    OWN,
    REFUSED,
    SPLIT,
    WRONG,
    Cause,
    Finding,
    Outcome,
)
from ragstone.compare.indexed_corpus import Store
from ragstone.compare.sample_evidence import Case
from ragstone.text.cited_parts import without_marks
from ragstone.text.refusals import find_refusal
from ragstone.text.squad import tokens
from ragstone.text.words import FoldedText


def declines(case: Case) -> bool:
    """Whether the answer declines: by its phrases, or if a judge found it evasive and none of its claims is supported."""
    words = case.evidence.get("declining_words")
    if words is None and case.sample.answer:
        words = find_refusal(case.sample.answer)
    if words:
        return True
    return bool(case.evidence.get("noncommittal")) and not _has_substance(case)


def _has_substance(case: Case) -> bool:
    right = case.verdicts("answer_claims_in_reference")
    founded = case.matrix("answer_claims_in_contexts")
    return "entailment" in right or any("entailment" in row for row in founded)


_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
# A paraphrase of a reference still shares about half of its words.
_LEAST_SHARE = 0.5


def numbers(text: str) -> set[str]:
    """The numbers of a text as written."""
    return set(_NUMBER.findall(text))


def seems_right(answer: str, references: Sequence[str]) -> bool:
    """Whether the answer contains all numbers and at least half of the words of some reference."""
    said, figures = set(tokens(answer)), numbers(answer)
    return any(
        numbers(reference) <= figures and _share(tokens(reference), said) >= _LEAST_SHARE for reference in references
    )


def foreign_numbers(answer: str, *known: str) -> set[str]:
    """The numbers of an answer that occur in none of these texts."""
    return numbers(answer).difference(*map(numbers, known))


def _share(wanted: Sequence[str], said: set[str]) -> float:
    return sum(word in said for word in wanted) / len(wanted) if wanted else 0.0


# A chunk among the first few is never ranked too low.
FIRST_FEW = 3
# Fewer words at the edge of a chunk do not show that a fact was split.
_LEAST_WORDS_AT_EDGE = 4

NOT_SEARCHED = "the run did not search the chunks for the facts (-m fact_recall)"
Found = tuple[Cause, Sequence[int], str]


def decide_facts(case: Case, store: Store | None, nothing_to_go_by: str) -> Outcome:
    """The findings for a sample from its facts and the words of its answer."""
    sample = case.sample
    if sample.answerable is False:
        return Outcome(sample.id, tuple(_invented(case)), seen_by="facts")
    if not sample.facts or not case.has("fact_ranks"):
        return Outcome(sample.id, undecided=NOT_SEARCHED if sample.facts else nothing_to_go_by)
    lost = list(trace_facts(case, store))
    right = _seems_right(case)
    findings = lost if right is None else [*lost, *_trace_answer(case, right, len(lost))]
    return Outcome(sample.id, tuple(findings), seen_by="facts", seems_right=None if lost else right)


def trace_facts(case: Case, store: Store | None) -> Iterator[Finding]:
    """One finding per fact that no retrieved chunk contains."""
    facts, ranks = case.sample.facts or [], case.evidence.get("fact_ranks") or []
    for number, (fact, rank) in enumerate(zip(facts, ranks, strict=False), start=1):
        if rank is None:
            cause, chunks, why = _lost(case, fact.text, store)
            yield Finding(cause, "fact", number, fact.text, tuple(chunks), why)


def _lost(case: Case, fact: str, store: Store | None) -> Found:
    texts = [chunk.text for chunk in case.sample.contexts or ()]
    if store and (where := store.find(fact)):
        cause, why = where
        return cause, _cut_by(fact, texts), why
    if cut := _cut_by(fact, texts):
        return SPLIT, cut, _cut_words(cut)
    if texts and _all_expected_are_there(case):
        return LOST, (), "all expected chunks were retrieved, and none of them contains it"
    return MISSING, (), "no retrieved chunk contains it" if texts else "nothing was retrieved"


def _cut_by(fact: str, texts: Sequence[str]) -> tuple[int, ...]:
    """The two chunks that contain a fact when joined, or the one that ends or begins within it."""
    words = FoldedText(fact).folded.split()
    folded = [FoldedText(text).folded.split() for text in texts]
    ends = {rank: size for rank, chunk in enumerate(folded, 1) if 0 < (size := _common(chunk, words)) < len(words)}
    begins = {rank: size for rank, chunk in enumerate(folded, 1) if 0 < (size := _common(words, chunk)) < len(words)}
    for first, second in permutations({*ends, *begins}, 2):
        if ends.get(first, 0) + begins.get(second, 0) >= len(words):
            return (first, second)
    least = min(_LEAST_WORDS_AT_EDGE, len(words) // 2 + 1)
    edges = {rank: max(ends.get(rank, 0), begins.get(rank, 0)) for rank in {*ends, *begins}}
    longest = max(edges, key=lambda rank: edges[rank], default=None)
    return (longest,) if longest is not None and edges[longest] >= least else ()


def _common(before: Sequence[str], after: Sequence[str]) -> int:
    """The number of words at the end of one text that begin the other."""
    most = min(len(before), len(after))
    return next((size for size in range(most, 0, -1) if list(before[-size:]) == list(after[:size])), 0)


def _cut_words(cut: Sequence[int]) -> str:
    if len(cut) == 1:
        return f"chunk {cut[0]} contains only a part of it, at its edge"
    return f"it begins in chunk {cut[0]} and ends in chunk {cut[1]}"


def _all_expected_are_there(case: Case) -> bool:
    """Whether every expected chunk was retrieved, by id or otherwise by text."""
    sample = case.sample
    wanted = {name for name, grade in (sample.relevance or {}).items() if grade > 0}
    if wanted:
        return wanted <= {chunk.id for chunk in sample.contexts or ()}
    texts = [FoldedText(chunk.text) for chunk in sample.contexts or ()]
    expected = [FoldedText(text) for text in sample.reference_contexts or ()]
    return bool(expected) and all(any(text.find(wish) for text in texts) for wish in expected)


def _seems_right(case: Case) -> bool | None:
    sample = case.sample
    if sample.answer is None or not sample.references:
        return None
    return not declines(case) and seems_right(without_marks(sample.answer), sample.references)


def _trace_answer(case: Case, right: bool, missing: int) -> Iterator[Finding]:
    """Findings about the answer; if facts were not retrieved, a wrong answer alone is not a finding."""
    ranks, answer = case.evidence["fact_ranks"], case.sample.answer or ""
    if right:
        if missing == len(ranks):
            yield Finding(OWN, "answer", 1, answer, (), "it matches a reference, but no chunk contains the facts")
    elif missing:
        strange = _strange_numbers(case)
        if strange and not _chunks_with(case, strange):
            why = f"{_listed(strange)} {'is' if len(strange) == 1 else 'are'} in no chunk"
            yield Finding(HALLUCINATED, "answer", 1, answer, (), why)
    else:
        facts = list(enumerate(zip(case.sample.facts or (), ranks, strict=True), 1))
        said = [seems_right(without_marks(answer), [fact.text]) and bool(numbers(fact.text)) for _, (fact, _) in facts]
        for (number, (fact, rank)), stated in zip(facts, said, strict=True):
            cause, chunks, why = _unused(case, rank, fact.text)
            # A fact that the answer states is not what it leaves out, if another one is.
            if cause is not IGNORED or not stated or all(said):
                yield Finding(cause, "fact", number, fact.text, tuple(chunks), why)


def _unused(case: Case, rank: int, fact: str) -> Found:
    """Why an answer that seems wrong lacks a fact that a chunk contains."""
    if case.answer_is_empty:
        return NO_ANSWER, (rank,), f"chunk {rank} contains it, but the answer is empty"
    if declines(case):
        return REFUSED, (rank,), f"chunk {rank} contains it, but the answer declines"
    strange = _strange_numbers(case)
    origins = _chunks_with(case, strange)
    if strange and not origins:
        return (
            HALLUCINATED,
            (rank,),
            f"chunk {rank} contains it; the answer has {_listed(strange)}, which is in no chunk",
        )
    wrong = strange or _wrong_numbers(case)
    if confused := next((chunk for chunk in _chunks_with(case, wrong) if chunk == rank or _has(case, chunk, fact)), 0):
        return (
            MISREAD,
            (confused,),
            f"the answer has {_listed(wrong)}, which chunk {confused} states about something else",
        )
    if strange:
        return (
            NOISE,
            (*origins,),
            f"chunk {rank} contains it; the answer has {_listed(strange)} from chunk {origins[0]}",
        )
    if rank > FIRST_FEW:
        return LOW, (rank,), f"its first chunk is chunk {rank}, and the answer does not use it"
    if left_out := _left_out_numbers(case):
        own = numbers(fact) & left_out
        what = "its numbers" if own and own == numbers(fact) else _listed(own or left_out)
        whose = "" if own else " of the reference"
        return IGNORED, (rank,), f"chunk {rank} contains it, but the answer leaves {what}{whose} out"
    return WRONG, (rank,), f"chunk {rank} contains it, and the answer shares few words with any reference"


def _invented(case: Case) -> Iterator[Finding]:
    answer = case.sample.answer
    if answer is not None and answer.strip() and not declines(case):
        why = "the documents do not contain the answer, but the system does not decline"
        yield Finding(HALLUCINATED, "answer", 1, answer, (), why)


def _strange_numbers(case: Case) -> set[str]:
    sample = case.sample
    known = [sample.question or "", *(sample.references or ()), *(fact.text for fact in sample.facts or ())]
    return foreign_numbers(without_marks(sample.answer or ""), *known)


def _left_out_numbers(case: Case) -> set[str]:
    """The numbers of the references that the answer does not have."""
    return numbers(" ".join(case.sample.references or ())) - numbers(without_marks(case.sample.answer or ""))


def _wrong_numbers(case: Case) -> set[str]:
    """The numbers that the answer has in place of those of the references; the question's own do not count."""
    sample = case.sample
    if not _left_out_numbers(case):
        return set()
    return foreign_numbers(without_marks(sample.answer or ""), sample.question or "", *(sample.references or ()))


def _has(case: Case, rank: int, fact: str) -> bool:
    return bool(FoldedText((case.sample.contexts or ())[rank - 1].text).find(FoldedText(fact)))


def _chunks_with(case: Case, wanted: set[str]) -> list[int]:
    return [rank for rank, chunk in enumerate(case.sample.contexts or (), 1) if wanted & numbers(chunk.text)]


def _listed(found: set[str]) -> str:
    return " and ".join(sorted(found)[:3])
