"""Finds cases whose ground truth is probably wrong, from stored data only: references, documents, and the answers of several systems."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any, Literal

from ragstone.data.codec import canonical_json
from ragstone.data.types import Chunk
from ragstone.data.verdict import CONTRADICTION, ENTAILMENT, Verdict
from ragstone.storage.runs import Run
from ragstone.text.overlap import content_words
from ragstone.text.questions import question_key
from ragstone.text.refusals import find_refusal
from ragstone.text.words import words
from ragstone.truth.citations.check import check_cases
from ragstone.truth.citations.spelled_text import NEGATIONS
from ragstone.truth.join import CaseMatcher
from ragstone.truth.model import Case

# Below this share of a reference's words, the facts are about something else.
_LEAST_COVERED = 0.34

Kind = Literal["systems", "references", "documents", "duplicates"]
TITLES: dict[Kind, str] = {
    "systems": "systems agree against the ground truth",
    "references": "references disagree with their facts",
    "documents": "facts are not in their documents",
    "duplicates": "the same question with different answers",
}
_DIGITS = re.compile(r"\d+")
_YES = frozenset(["yes", "ja", "oui", "sí", "да", "是"])
_NO = frozenset(["no", "nein", "non", "nee", "нет", "否"])
# Share of the shorter answer's words that the longer one must contain for the two to agree.
ENOUGH = 0.8
# Verdicts on the answer's claims, and on the reference's claims.
_VERDICTS = ("answer_claims_in_reference", "reference_claims_in_answer")
_IN_ALL_CONTEXTS, _IN_EACH_CONTEXT = "answer_claims_in_all_contexts", "answer_claims_in_contexts"
_MATCH = "answer_match"


def find_suspects(
    cases: Sequence[Case], runs: Sequence[Run] = (), documents: Mapping[str, str] | None = None
) -> list[Suspect]:
    """All suspect cases of a ground truth; no model is called.

    `runs` are stored evaluations of several systems over these cases, `documents` the current texts by name.
    """
    return [
        *find_outvoted(cases, runs),
        *_find_unsupported(cases),
        *_find_absent(cases, documents),
        *_find_conflicting(cases),
    ]


def _find_unsupported(cases: Sequence[Case]) -> Iterator[Suspect]:
    """Cases whose accepted facts support none of their references."""
    for case in cases:
        references, facts = case.accepted_references, [fact.text for fact in case.accepted_facts]
        if not references or not facts:
            continue
        known = gist_of(" ".join(facts), "")
        problems = [_problem(gist_of(reference, case.question), known, case.question) for reference in references]
        if all(problems):
            witnesses = [Witness("reference", text) for text in references]
            witnesses += [Witness(f"fact {number}", text) for number, text in enumerate(facts, start=1)]
            yield Suspect("references", case.id, case.question, str(problems[0]), witnesses)


def _problem(reference: Gist, facts: Gist, question: str) -> str | None:
    """The part of a reference that the facts lack."""
    if reference.says or not reference.words:
        return None  # words alone do not show whether facts amount to a yes
    asked = gist_of(question, "").numbers
    lacking = reference.numbers - facts.numbers
    others = facts.numbers - asked - reference.numbers
    if lacking and others:
        return f"the reference says {_join_numbers(lacking)}, the facts say {_join_numbers(others)}"
    return "no fact has the words of a reference" if reference.share_in(facts) < _LEAST_COVERED else None


def _join_numbers(numbers: Iterable[str]) -> str:
    return ", ".join(sorted(numbers, key=lambda digits: (len(digits), digits)))


def _find_absent(cases: Sequence[Case], documents: Mapping[str, str] | None) -> Iterator[Suspect]:
    """Cases with accepted citations that are not in their passages, or not in the documents if these are passed."""
    texts = {_file_name(name): (name, text) for name, text in (documents or {}).items()}
    checked = check_cases([_with_documents(replace(case, facts=case.accepted_facts), texts) for case in cases])
    absent: dict[str, list[Witness]] = {}
    for fact in checked.fallen:
        witness = Witness(fact.document, fact.citation, f"{fact.check.verdict}: {fact.check.why}")
        absent.setdefault(fact.case, []).append(witness)
    for case in cases:
        if witnesses := absent.get(case.id):
            share = f"{len(witnesses)} of {len(case.accepted_facts)}"
            reason = f"{share} facts are not in {'the documents' if documents else 'the passages'}"
            yield Suspect("documents", case.id, case.question, reason, witnesses)


def _with_documents(case: Case, texts: Mapping[str, tuple[str, str]]) -> Case:
    """The case with the documents that it names as passages; with all documents if it names none."""
    if not texts:
        return case
    named = [*case.documents, *(fact.source for fact in case.facts if fact.source)]
    wanted = dict.fromkeys(_file_name(name) for name in named) if named else texts
    passages = [Chunk(texts[name][1], source=texts[name][0]) for name in wanted if name in texts]
    return replace(case, passages=passages) if passages else case


def _file_name(path: str) -> str:
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2].casefold()


def _find_conflicting(cases: Sequence[Case]) -> Iterator[Suspect]:
    """Cases with the same question and the same documents, but different answers."""
    groups: dict[str, list[Case]] = {}
    for case in cases:
        groups.setdefault(question_key(case.question), []).append(case)
    for group in groups.values():
        for one, other in combinations(group, 2):
            same = not one.documents or not other.documents or set(one.documents) == set(other.documents)
            if same and (reason := _conflict(one, other)):
                witnesses = [Witness(f"case {case.id}", _describe(case)) for case in (one, other)]
                yield Suspect("duplicates", one.id, one.question, reason, witnesses)


def _conflict(one: Case, other: Case) -> str | None:
    if one.answerable is not None and other.answerable is not None and one.answerable != other.answerable:
        return f"case '{other.id}' has the same question, and only one of them is marked as answerable"
    ours, theirs = ([gist_of(text, one.question) for text in case.accepted_references] for case in (one, other))
    if ours and theirs and not any(first.agrees(second) for first in ours for second in theirs):
        return f"case '{other.id}' has the same question and a different reference"
    return None


def _describe(case: Case) -> str:
    answer = " / ".join(case.accepted_references) or "no reference"
    return answer if case.answerable is None else f"{answer} ({'answerable' if case.answerable else 'unanswerable'})"


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
                system,
                SystemAnswer(
                    system,
                    sample.answer,
                    gist_of(sample.answer, case.question),
                    find_refusal(sample.answer) is not None,
                ),
            )
            # A judgement against other references does not apply to these.
            if (sample.references or []) == case.accepted_references:
                answer.judged += stored.judgements(sample.id)
            answer.supported = answer.supported or stored.is_supported(sample.id)
    return {case: list(answers.values()) for case, answers in by_case.items()}


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
        contradicted = sum(verdicts.get(sample, []).count(CONTRADICTION) for verdicts in self._verdicts)
        if contradicted:
            claims = f"{contradicted} claim{'s' if contradicted != 1 else ''}"
            judged.append((False, f"{claims} against the reference by {self._judge_name('checker')}"))
        elif entailed := self._verdicts[1].get(sample):
            right = all(verdict == ENTAILMENT for verdict in entailed)
            judged += [(True, f"all claims of the reference by {self._judge_name('checker')}")] if right else []
        score = self._matches.get(sample)
        if score is not None:
            judged.append((score >= 0.5, f"{_MATCH} {score:.2f} by {self._judge_name('grader')}"))
        return judged

    def is_supported(self, sample: str) -> bool:
        """Whether the retrieved chunks support every claim of the answer."""
        together, each = (support.get(sample) for support in self._support)
        claims = [[verdict] for verdict in together] if together is not None else each or []
        return bool(claims) and all(ENTAILMENT in verdicts for verdicts in claims)

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
    return Verdict.from_text(value) if isinstance(value, str) else [_words(item) for item in value]
