"""What several systems say in stored runs against what is held for true: their answers, and what the judges said about them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ragstone.data.codec import canonical_json
from ragstone.storage.runs import Run
from ragstone.text.refusals import find_refusal
from ragstone.truth.cases import Case
from ragstone.truth.joining import CaseMatcher
from ragstone.truth.repair.gist import Gist, agree, gist_of
from ragstone.truth.repair.references import known_references
from ragstone.truth.repair.suspect import Suspect, Witness

# Verdicts of claims by the side that they were held against.
_VERDICTS = ("answer_claims_in_reference", "reference_claims_in_answer")
_IN_ALL_CONTEXTS, _IN_EACH_CONTEXT = "answer_claims_in_all_contexts", "answer_claims_in_contexts"
_MATCH = "answer_match"
# In a signature the name stands before the settings.
_NAME = re.compile(r"[;,(]")


@dataclass
class Word:
    """A system's answer to a case, and what the judges of its runs said about it."""

    system: str
    answer: str
    gist: Gist
    declines: bool
    # True: as right; False: as wrong. Each with who says so.
    judged: list[tuple[bool, str]] = field(default_factory=list)
    supported: bool = False

    def is_against(self, references: Sequence[Gist]) -> bool:
        """Whether it is wrong by the ground truth: by the judges where there are any, else by its words."""
        if self.judged:
            return not any(right for right, _ in self.judged)
        return not any(agree(self.gist, reference) for reference in references)

    def witness(self) -> Witness:
        """As evidence."""
        says = [words for _, words in self.judged]
        says += ["its retrieved chunks support it"] if self.supported else []
        return Witness(self.system, self.answer, "; ".join(says))


def find_outvoted(cases: Sequence[Case], runs: Sequence[Run]) -> Iterator[Suspect]:
    """Cases against whose ground truth two or more systems agree, and more than agree with it."""
    words = gather_words(cases, runs)
    for case in cases:
        found = words.get(case.id, [])
        if len(found) > 1 and (suspect := _judge(case, found)):
            yield suspect


def _judge(case: Case, words: Sequence[Word]) -> Suspect | None:
    references = known_references(case)
    gold = [gist_of(text, case.question) for text in references]
    answers = [word for word in words if not word.declines]
    if not answers and (references or case.answerable):
        reason = f"all {len(words)} systems decline to answer: does it stand in the documents?"
        return Suspect("systems", case.id, case.question, reason, [word.witness() for word in words])
    if not references and case.answerable is not False:
        return None
    against = [word for word in answers if not references or word.is_against(gold)]
    group = max(([other for other in against if agree(word.gist, other.gist)] for word in against), key=len, default=[])
    if len(group) < 2 or len(group) <= len(answers) - len(against):
        return None
    told = f"the reference says {references[0]!r}" if references else "it is said to be unanswerable"
    reason = f"{len(group)} of {len(words)} systems say the same, such as {_shortest(group)!r}; {told}"
    return Suspect("systems", case.id, case.question, reason, [word.witness() for word in group])


def _shortest(group: Sequence[Word]) -> str:
    return min((word.answer for word in group), key=len)


def gather_words(cases: Sequence[Case], runs: Sequence[Run]) -> dict[str, list[Word]]:
    """What each system answered to each case; runs with the same answers are one system, maybe with several judges."""
    found: dict[str, dict[str, Word]] = {}
    systems: dict[str, str] = {}
    for run in runs:
        stored = _Stored(run)
        system = systems.setdefault(stored.answers, run.name)
        matcher = CaseMatcher(cases)
        for sample in run.samples:
            case = matcher.find(sample.id, sample.question, sample.documents)
            if case is None or not sample.answer:
                continue
            word = found.setdefault(case.id, {}).setdefault(system, _word(system, sample.answer, case.question))
            # What a judge said about other references says nothing about these.
            if (sample.references or []) == known_references(case):
                word.judged += stored.judged(sample.id)
            word.supported = word.supported or stored.is_supported(sample.id)
    return {case: list(words.values()) for case, words in found.items()}


def _word(system: str, answer: str, question: str) -> Word:
    return Word(system, answer, gist_of(answer, question), find_refusal(answer) is not None)


class _Stored:
    """What a run keeps about each answer."""

    def __init__(self, run: Run) -> None:
        self._run = run

    @cached_property
    def answers(self) -> str:
        """All answers, by which runs of one system are told."""
        table = self._run.samples.table
        return canonical_json([table["question"].to_pylist(), table["answer"].to_pylist()])

    def judged(self, sample: str) -> list[tuple[bool, str]]:
        """Whether the answer was found right, and by whom."""
        said: list[tuple[bool, str]] = []
        contradicted = sum(verdicts.get(sample, []).count("contradiction") for verdicts in self._verdicts)
        if contradicted:
            claims = f"{contradicted} claim{'s' if contradicted != 1 else ''}"
            said.append((False, f"{claims} against the reference by {self._who('checker')}"))
        elif entailed := self._verdicts[1].get(sample):
            right = all(verdict == "entailment" for verdict in entailed)
            said += [(True, f"all claims of the reference by {self._who('checker')}")] if right else []
        score = self._matches.get(sample)
        if score is not None:
            said.append((score >= 0.5, f"{_MATCH} {score:.2f} by {self._who('grader')}"))
        return said

    def is_supported(self, sample: str) -> bool:
        """Whether the retrieved chunks bear out every claim of the answer."""
        together, each = (support.get(sample) for support in self._support)
        claims = [[verdict] for verdict in together] if together is not None else each or []
        return bool(claims) and all("entailment" in verdicts for verdicts in claims)

    def _who(self, tool: str) -> str:
        named = str((self._run.info["judge"] or {}).get(tool) or "a judge")
        return _NAME.split(named)[0].strip()

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
        """Evidence that the run made, or that came with its data."""
        if name in self._run.info["evidence"]:
            table = self._run.evidence(name)
            return _present(table["sample_id"].to_pylist(), table["value"].to_pylist())
        samples = self._run.samples.table
        if name in samples.schema.names:
            return _present(samples["id"].to_pylist(), samples[name].to_pylist())
        return {}


def _present(names: Sequence[str], values: Sequence[Any]) -> dict[str, Any]:
    return {name: value for name, value in zip(names, values, strict=True) if value is not None}
