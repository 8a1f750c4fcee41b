"""Compares the answers of several systems in stored runs, and their judges' verdicts, with the ground truth.

A suspect: a case whose ground truth is probably wrong, with the reason and the evidence.

The gist of a short answer: the words and numbers that its question does not already contain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from ragstone.data.codec import canonical_json
from ragstone.data.types import ScoredVerdict
from ragstone.storage.runs import Run
from ragstone.text.overlap import content_words
from ragstone.text.refusals import find_refusal
from ragstone.text.words import words
from ragstone.truth.citations.meaning_changes import NEGATIONS
from ragstone.truth.join import CaseMatcher
from ragstone.truth.model import Case

Kind = Literal["systems", "references", "documents", "duplicates"]
TITLES: dict[Kind, str] = {
    "systems": "systems agree against the ground truth",
    "references": "references disagree with their facts",
    "documents": "facts are not in their documents",
    "duplicates": "the same question with different answers",
}


@dataclass(frozen=True)
class Witness:
    """One piece of evidence: its origin (a system, a document, a fact), its text, and a remark on the ground truth."""

    who: str
    text: str
    says: str = ""


@dataclass(frozen=True)
class Suspect:
    """A case to review, with the reason."""

    kind: Kind
    case: str
    question: str
    reason: str
    witnesses: list[Witness] = field(default_factory=list)


_DIGITS = re.compile(r"\d+")
_YES = frozenset(["yes", "ja", "oui", "sí", "да", "是"])
_NO = frozenset(["no", "nein", "non", "nee", "нет", "否"])
# Share of the shorter answer's words that the longer one must contain for the two to agree.
ENOUGH = 0.8


@dataclass(frozen=True)
class Gist:
    """Content words, the numbers among them, a leading "yes" or "no", and whether the text contains a negation."""

    words: frozenset[str]
    numbers: frozenset[str]
    says: str
    denies: bool

    def agrees(self, other: Gist) -> bool:
        """Whether two answers to one question mean the same, judged by words: the longer one contains the shorter one."""
        if self.says or other.says:
            return self.says == other.says
        if self.denies != other.denies:
            return False
        short, long = sorted((self, other), key=lambda gist: len(gist.words))
        return short.numbers <= long.numbers and short.share_in(long) >= ENOUGH

    def share_in(self, other: Gist) -> float:
        """The share of this gist's words that another one contains; 0 if it has no words."""
        return len(self.words & other.words) / len(self.words) if self.words else 0.0


def gist_of(text: str, question: str) -> Gist:
    """The gist of an answer, a reference, or several facts joined."""
    first = next((word.text for word in words(text)), "")
    says = "yes" if first in _YES else "no" if first in _NO else ""
    own = content_words(text) - _YES - _NO
    new = own - content_words(question) or own
    numbers = frozenset(digits for word in new for digits in _DIGITS.findall(word))
    return Gist(new, numbers, says, any(word.text in NEGATIONS for word in words(text)))


# Verdicts on the answer's claims, and on the reference's claims.
_VERDICTS = ("answer_claims_in_reference", "reference_claims_in_answer")
_IN_ALL_CONTEXTS, _IN_EACH_CONTEXT = "answer_claims_in_all_contexts", "answer_claims_in_contexts"
_MATCH = "answer_match"


@dataclass
class SystemAnswer:
    """A system's answer to a case, with the verdicts of the judges of its runs."""

    system: str
    answer: str
    gist: Gist
    declines: bool
    # Whether a judge found the answer right, with the judge's finding in words.
    judged: list[tuple[bool, str]] = field(default_factory=list)
    supported: bool = False

    def is_against(self, references: Sequence[Gist]) -> bool:
        """Whether the ground truth contradicts the answer: by the judges if there are any, otherwise by words."""
        if self.judged:
            return not any(right for right, _ in self.judged)
        return not any(self.gist.agrees(reference) for reference in references)

    def witness(self) -> Witness:
        """The answer as evidence."""
        says = [words for _, words in self.judged]
        says += ["its retrieved chunks support it"] if self.supported else []
        return Witness(self.system, self.answer, "; ".join(says))


def find_outvoted(cases: Sequence[Case], runs: Sequence[Run]) -> Iterator[Suspect]:
    """Cases where two or more systems agree on another answer, and more of them than agree with the ground truth."""
    answers = _gather_answers(cases, runs)
    for case in cases:
        of_case = answers.get(case.id, [])
        if len(of_case) > 1 and (suspect := _judge(case, of_case)):
            yield suspect


def _judge(case: Case, all_answers: Sequence[SystemAnswer]) -> Suspect | None:
    references = case.accepted_references
    gold = [gist_of(text, case.question) for text in references]
    answers = [answer for answer in all_answers if not answer.declines]
    if not answers and (references or case.answerable):
        reason = f"all {len(all_answers)} systems decline to answer: is the answer in the documents?"
        return Suspect("systems", case.id, case.question, reason, [answer.witness() for answer in all_answers])
    if not references and case.answerable is not False:
        return None
    against = [answer for answer in answers if not references or answer.is_against(gold)]
    group = max(
        ([other for other in against if answer.gist.agrees(other.gist)] for answer in against), key=len, default=[]
    )
    if len(group) < 2 or len(group) <= len(answers) - len(against):
        return None
    known = f"the reference says {references[0]!r}" if references else "the case is marked as unanswerable"
    reason = f"{len(group)} of {len(all_answers)} systems say the same, such as {min((answer.answer for answer in group), key=len)!r}; {known}"
    return Suspect("systems", case.id, case.question, reason, [answer.witness() for answer in group])


def _gather_answers(cases: Sequence[Case], runs: Sequence[Run]) -> dict[str, list[SystemAnswer]]:
    """The answer of each system to each case; runs with the same answers are one system with several judges."""
    by_case: dict[str, dict[str, SystemAnswer]] = {}
    systems: dict[str, str] = {}
    for run in runs:
        stored = _StoredJudgements(run)
        system = systems.setdefault(stored.answers, run.name)
        matcher = CaseMatcher(cases)
        for sample in run.samples:
            case = matcher.find(sample.id, sample.question, sample.documents)
            if case is None or not sample.answer:
                continue
            answer = by_case.setdefault(case.id, {}).setdefault(
                system, _read_answer(system, sample.answer, case.question)
            )
            # A judgement against other references does not apply to these.
            if (sample.references or []) == case.accepted_references:
                answer.judged += stored.judgements(sample.id)
            answer.supported = answer.supported or stored.is_supported(sample.id)
    return {case: list(answers.values()) for case, answers in by_case.items()}


def _read_answer(system: str, answer: str, question: str) -> SystemAnswer:
    return SystemAnswer(system, answer, gist_of(answer, question), find_refusal(answer) is not None)


class _StoredJudgements:
    """The verdicts that a run stores about each answer."""

    def __init__(self, run: Run) -> None:
        self._run = run

    @cached_property
    def answers(self) -> str:
        """All answers as one string; two runs of one system have the same."""
        table = self._run.samples.table
        return canonical_json([table["question"].to_pylist(), table["answer"].to_pylist()])

    def judgements(self, sample: str) -> list[tuple[bool, str]]:
        """Whether each judge found the answer right, with the finding in words."""
        judged: list[tuple[bool, str]] = []
        contradicted = sum(verdicts.get(sample, []).count("contradiction") for verdicts in self._verdicts)
        if contradicted:
            claims = f"{contradicted} claim{'s' if contradicted != 1 else ''}"
            judged.append((False, f"{claims} against the reference by {self._judge_name('checker')}"))
        elif entailed := self._verdicts[1].get(sample):
            right = all(verdict == "entailment" for verdict in entailed)
            judged += [(True, f"all claims of the reference by {self._judge_name('checker')}")] if right else []
        score = self._matches.get(sample)
        if score is not None:
            judged.append((score >= 0.5, f"{_MATCH} {score:.2f} by {self._judge_name('grader')}"))
        return judged

    def is_supported(self, sample: str) -> bool:
        """Whether the retrieved chunks support every claim of the answer."""
        together, each = (support.get(sample) for support in self._support)
        claims = [[verdict] for verdict in together] if together is not None else each or []
        return bool(claims) and all("entailment" in verdicts for verdicts in claims)

    def _judge_name(self, tool: str) -> str:
        signature = self._run.info.judge.get(tool)
        return signature.name if signature else "a judge"

    @cached_property
    def _verdicts(self) -> list[Mapping[str, Any]]:
        return [self._evidence(name) for name in _VERDICTS]

    @cached_property
    def _support(self) -> list[Mapping[str, Any]]:
        return [self._evidence(name) for name in (_IN_ALL_CONTEXTS, _IN_EACH_CONTEXT)]

    @cached_property
    def _matches(self) -> dict[str, float]:
        rows = self._run.scores.select(["sample_id", "metric", "value"]).to_pylist()
        return {row["sample_id"]: row["value"] for row in rows if row["metric"] == _MATCH and row["value"] is not None}

    def _evidence(self, name: str) -> dict[str, Any]:
        """Evidence that the run computed or that came with its data."""
        if name in self._run.info["evidence"]:
            table = self._run.evidence(name)
            return _present(table["sample_id"].to_pylist(), table["value"].to_pylist())
        samples = self._run.samples.table
        if name in samples.schema.names:
            return _present(samples["id"].to_pylist(), samples[name].to_pylist())
        return {}


def _present(names: Sequence[str], values: Sequence[Any]) -> dict[str, Any]:
    return {name: _words(value) for name, value in zip(names, values, strict=True) if value is not None}


def _words(value: Any) -> Any:
    """Verdicts without their probabilities."""
    return ScoredVerdict.from_text(value) if isinstance(value, str) else [_words(item) for item in value]
