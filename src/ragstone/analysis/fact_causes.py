"""Causes of failures without a judge: from the facts in the chunks and the words of the answer.

A fact that no retrieved chunk contains is split if a chunk ends or begins within it, or if two joined chunks contain it. It
is lost if all expected chunks were retrieved, or if no chunk of the corpus contains it. Otherwise its chunk is missing. An
answer that seems wrong is traced by its numbers. Whether it is right is decided by a language model alone; the local judge
and the words vote, and a vote against another one leaves the verdict open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from typing import Literal, NamedTuple

from ragstone.analysis.cause_names import (
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
from ragstone.analysis.indexed_corpus import Store
from ragstone.analysis.sample_evidence import Case
from ragstone.data.verdict import ENTAILMENT, UNSURE
from ragstone.text.answer_words import compare_answer, compare_polarity
from ragstone.text.cited_parts import without_marks
from ragstone.text.overlap import content_stems
from ragstone.text.passages import is_table_head
from ragstone.text.sentences import sentences
from ragstone.text.squad import tokens
from ragstone.text.table_cells import check_cells
from ragstone.text.technical_names import strange_names
from ragstone.text.words import FoldedText

NOT_COMPARED = "its words do not show whether the answer is right, and no judge compared it with a reference (--judge)"
NOT_AGREED = "the local judge and the words do not agree whether the answer is right"
# Between these probabilities the local judge is not sure.
_UNSURE = (0.35, 0.65)

# Of the claim's content words, in one sentence of a near chunk. A near chunk changes no cause.
_MOST_WORDS = 2 / 3
# In the sentence that is quoted from a chunk that denies it.
_SOME_WORDS = 1 / 3
_MOST_QUOTED = 80
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
# An answer that states a fact shares about half of its words.
_LEAST_SHARE = 0.5
_NEGATED = re.compile(r"\b(?:not|no|never)\b|n['’]t\b", re.IGNORECASE)


def numbers(text: str) -> set[str]:
    """The numbers of a text as written."""
    return set(_NUMBER.findall(text))


def foreign_numbers(answer: str, *known: str) -> set[str]:
    """The numbers of an answer that occur in none of these texts."""
    return numbers(answer).difference(*map(numbers, known))


def _states(answer: str, fact: str) -> bool:
    """Whether the answer contains all numbers, at least one, and at least half of the words of a fact."""
    said, wanted = set(tokens(answer)), tokens(fact)
    there = set() < numbers(fact) <= numbers(answer)
    return there and sum(word in said for word in wanted) >= _LEAST_SHARE * len(wanted)


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
    verdict = judge_answer(case)
    if verdict is None:
        return Outcome(sample.id, tuple(lost), seen_by="facts")
    if lost:
        return Outcome(sample.id, (*lost, *_trace_answer(case, verdict, len(lost))), seen_by="facts")
    unknown = verdict.why if verdict.right is None else ""
    findings = tuple(_trace_answer(case, verdict, 0))
    return Outcome(sample.id, findings, unknown, "facts", seems_right=verdict.right, right_by=verdict.by)


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


def _trace_answer(case: Case, verdict: AnswerVerdict, missing: int) -> Iterator[Finding]:
    """Findings about the answer; if facts were not retrieved, a wrong answer alone is not a finding."""
    ranks, answer = case.evidence["fact_ranks"], case.sample.answer or ""
    if verdict.right is None and not missing:
        return
    if verdict.right:
        if missing == len(ranks):
            yield Finding(OWN, "answer", 1, answer, (), "it matches a reference, but no chunk contains the facts")
    elif missing:
        strange = strange_numbers(case)
        if strange and not _chunks_with(case, strange):
            why = f"{_listed(strange)} {'is' if len(strange) == 1 else 'are'} in no chunk"
            yield Finding(HALLUCINATED, "answer", 1, answer, (), why)
    else:
        facts = list(enumerate(zip(case.sample.facts or (), ranks, strict=True), 1))
        said = [_states(without_marks(answer), fact.text) for _, (fact, _) in facts]
        for (number, (fact, rank)), stated in zip(facts, said, strict=True):
            cause, chunks, why = _unused(case, rank, fact.text, verdict)
            # A fact that the answer states is not what it leaves out, if another one is.
            if cause is not IGNORED or not stated or all(said):
                yield Finding(cause, "fact", number, fact.text, tuple(chunks), why, verdict.probability)


def _unused(case: Case, rank: int, fact: str, verdict: AnswerVerdict) -> Found:
    """Why an answer that seems wrong lacks a fact that a chunk contains."""
    if case.answer_is_empty:
        return NO_ANSWER, (rank,), f"chunk {rank} contains it, but the answer is empty"
    if declines(case):
        return REFUSED, (rank,), f"chunk {rank} contains it, but the answer declines"
    strange = strange_numbers(case)
    origins = _chunks_with(case, strange)
    if strange and not origins:
        why = f"chunk {rank} contains it; the answer has {_listed(strange)}, which is in no chunk"
        return HALLUCINATED, (rank,), why
    wrong = strange or _wrong_numbers(case)
    if confused := next((chunk for chunk in _chunks_with(case, wrong) if chunk == rank or _has(case, chunk, fact)), 0):
        why = f"the answer has {_listed(wrong)}, which chunk {confused} states about something else"
        return MISREAD, (confused,), why
    if strange:
        return (
            NOISE,
            (*origins,),
            f"chunk {rank} contains it; the answer has {_listed(strange)} from chunk {origins[0]} instead",
        )
    if rank > FIRST_FEW:
        return LOW, (rank,), f"its first chunk is chunk {rank}, and the answer does not use it"
    if left_out := _left_out_numbers(case):
        own = numbers(fact) & left_out
        what = "its numbers" if own and own == numbers(fact) else _listed(own or left_out)
        whose = "" if own else " of the reference"
        return IGNORED, (rank,), f"chunk {rank} contains it, but the answer leaves {what}{whose} out"
    return WRONG, (rank,), f"chunk {rank} contains it, but {verdict.why}"


def _invented(case: Case) -> Iterator[Finding]:
    answer = case.sample.answer
    if answer is not None and answer.strip() and not declines(case):
        why = "the documents do not contain the answer, but the system does not decline"
        yield Finding(HALLUCINATED, "answer", 1, answer, (), why)


def strange_numbers(case: Case, *more: str) -> set[str]:
    """The numbers of the answer that neither question, references and facts nor these other texts have."""
    sample = case.sample
    known = [sample.question or "", *(sample.references or ()), *(fact.text for fact in sample.facts or ()), *more]
    return foreign_numbers(without_marks(sample.answer or ""), *known)


def has_other_name(case: Case) -> bool:
    """Whether the answer has a technical name that neither question nor references have, in place of one of a reference."""
    known, answer = " ".join(case.sample.references or ()), without_marks(case.sample.answer or "")
    found = strange_names(answer, known, case.sample.question or "") if known else {}
    return any(other in known for others in found.values() for other in others)


def _left_out_numbers(case: Case) -> set[str]:
    """The numbers of the references that the answer does not have."""
    return numbers(" ".join(case.sample.references or ())) - numbers(without_marks(case.sample.answer or ""))


def _wrong_numbers(case: Case) -> set[str]:
    """The numbers that the answer has in place of those of the references; the question's own do not count."""
    known = (case.sample.question or "", *(case.sample.references or ()))
    return foreign_numbers(without_marks(case.sample.answer or ""), *known) if _left_out_numbers(case) else set()


def _has(case: Case, rank: int, fact: str) -> bool:
    return bool(FoldedText((case.sample.contexts or ())[rank - 1].text).find(FoldedText(fact)))


def _chunks_with(case: Case, wanted: set[str]) -> list[int]:
    return [rank for rank, chunk in enumerate(case.sample.contexts or (), 1) if wanted & numbers(chunk.text)]


def _listed(found: set[str]) -> str:
    return " and ".join(sorted(found)[:3])


def near_sentence(claim: str, chunks: Mapping[int, str], least: float = _MOST_WORDS) -> tuple[int, str] | None:
    """The rank and the sentence of the chunk that has most words of a claim; None if it has too few. Numbers may differ."""
    wanted = {stem for stem in content_stems(claim) if not numbers(stem)}
    best, found = 0.0, None
    for rank, chunk in chunks.items() if wanted else ():
        for sentence in sentences(chunk):
            text = chunk[sentence.start : sentence.end]
            share = len(wanted & content_stems(text)) / len(wanted)
            is_heading = len(text.split()) < 5 and not text.endswith((".", "!", "?"))
            is_head = is_heading or is_table_head(text, chunk[sentence.end :][:40])
            if share >= least and share > best and not is_head:
                best, found = share, (rank, quoted(text, claim))
    return found


def say_otherwise(case: Case, claim: str, denied: Sequence[int]) -> str:
    """The cell or the sentence of a denying chunk that is about a claim, or that it contradicts the claim."""
    texts = {rank: chunk.text for rank, chunk in enumerate(case.sample.contexts or (), start=1) if rank in denied}
    for rank, text in texts.items():
        if (cell := check_cells(claim, text)) and cell.reason:
            return cell.reason.replace("the table", f"the table in chunk {rank}", 1)
    near = near_sentence(claim, texts, _SOME_WORDS) if case.words else None
    contradict = "contradicts" if len(denied) == 1 else "contradict"
    return f"chunk {near[0]} says {near[1]}" if near else f"{name_chunks(denied)} {contradict} it"


def name_chunks(ranks: Sequence[int]) -> str:
    """`chunk 2`, `chunks 1 and 3`."""
    several = f"chunks {', '.join(map(str, ranks[:-1]))} and {ranks[-1]}"
    return several if len(ranks) > 1 else f"chunk {ranks[0]}"


def quoted(text: str, claim: str) -> str:
    """A sentence on one line in quotation marks; of a long one, the part that has most words of the claim and numbers."""
    line, wanted = " ".join(text.split()), content_stems(claim)
    line = "; ".join(cell.strip() for cell in line.strip("|").split("|")) if line.startswith("|") else line
    words = [*re.finditer(r"\S+", line)][:300] if len(line) > _MOST_QUOTED else []
    worth = [2 * bool(content_stems(one[0]) & wanted) + bool(numbers(one[0])) for one in words]

    def gain(at: int) -> int:
        ends = at + _MOST_QUOTED
        return sum(gain for one, gain in zip(words, worth, strict=True) if at <= one.start() and one.end() < ends)

    start = max((one.start() for one in words), key=gain, default=0)
    part = line[start : start + _MOST_QUOTED]
    part = part if start + len(part) == len(line) else part.rpartition(" ")[0] or part
    return f'"{"…" if start else ""}{part}{"…" if start + len(part) < len(line) else ""}"'


class AnswerVerdict(NamedTuple):
    """Whether an answer is right (None: unknown), the reason, who decided, and how sure the local judge is if it is wrong."""

    right: bool | None
    why: str
    by: Literal["words", "judge", "nothing"]
    probability: float | None = None


def judge_answer(case: Case) -> AnswerVerdict | None:
    """The verdict on the answer by its references, or otherwise by its facts; None if there is nothing to compare."""
    sample = case.sample
    if sample.answer is None or not (sample.references or sample.facts):
        return None
    if declines(case) or case.answer_is_empty:
        return AnswerVerdict(right=False, why="the answer does not answer", by="words")
    matches = case.evidence.get("reference_matches") if sample.references else None
    if matches and not case.by_facts:
        return AnswerVerdict(max(matches) >= 0.5, WRONG.meaning, "judge")
    by_words = _compare_words(case)
    votes = {None: 0, True: 1, False: -2}[by_words]
    # A word of the same kind in place of the right one counts more than a small judge.
    matched = [(max(matches) >= _UNSURE[1]) - (max(matches) <= _UNSURE[0])] if matches else []
    by_judge = [*matched, *([_of_claims(case)] if sample.references else [])]
    score = votes + sum(by_judge)
    if not score or (score > 0 and -1 in by_judge[-1:]):
        return AnswerVerdict(None, NOT_AGREED if any(by_judge) else NOT_COMPARED, "nothing")
    if score < 0 and by_words is False:
        why = "the answer has another number, name or other word in place of that of the reference"
        return AnswerVerdict(right=False, why=why, by="words")
    chance = max(matches) if matches else 0.0
    return AnswerVerdict(score > 0, WRONG.meaning, "words" if by_words and score > 0 else "judge", round(1 - chance, 2))


def _compare_words(case: Case) -> bool | None:
    """True by the words of one reference, False by those of all. Several facts may give another answer."""
    sample, answer = case.sample, without_marks(case.sample.answer or "")
    known = sample.references or [fact.text for fact in sample.facts or ()]
    found = [compare_answer(sample.question or "", answer, text, whole=bool(sample.references)) for text in known]
    if not sample.references:
        return True if all(found) else found[0] if len(found) == 1 else None
    return True if True in found else None if None in found else False


def says_opposite(case: Case) -> bool:
    """Whether the answer begins with yes and all references with no, or the other way round; not after "Is it not ..."."""
    found = [compare_polarity(without_marks(case.sample.answer or ""), text) for text in case.sample.references or ()]
    return bool(found) and not any(one is None for one in found) and not _NEGATED.search(case.sample.question or "")


def _of_claims(case: Case) -> int:
    """1 if the answer has every claim of the reference, -1 if it lacks one, 0 if that is unsure or unknown."""
    verdicts = set(map(str, case.verdicts("reference_claims_in_answer")))
    return -1 if verdicts - {ENTAILMENT, UNSURE} else int(verdicts == {ENTAILMENT})


def declines(case: Case) -> bool:
    """Whether the answer declines: by its phrases, or if a judge found it evasive and none of its claims is supported."""
    return bool(case.declining_words or (case.evidence.get("noncommittal") and not _has_substance(case)))


def _has_substance(case: Case) -> bool:
    right = case.verdicts("answer_claims_in_reference")
    founded = case.matrix("answer_claims_in_contexts")
    return ENTAILMENT in right or any(ENTAILMENT in row for row in founded)
