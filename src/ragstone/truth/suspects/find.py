"""Finds cases whose ground truth is probably wrong, from stored data only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from ragstone.data.types import Chunk
from ragstone.storage.runs import Run
from ragstone.text.questions import question_key
from ragstone.truth.citations.check import check_cases
from ragstone.truth.model import Case
from ragstone.truth.suspects.votes import Gist, Suspect, Witness, find_outvoted, gist_of

# Below this share of a reference's words, the facts are about something else.
_LEAST_COVERED = 0.34


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
    if reference.share_in(facts) < _LEAST_COVERED:
        return "no fact has the words of a reference"
    return None


def _join_numbers(numbers: Iterable[str]) -> str:
    return ", ".join(sorted(numbers, key=lambda digits: (len(digits), digits)))


def _find_absent(cases: Sequence[Case], documents: Mapping[str, str] | None) -> Iterator[Suspect]:
    """Cases with accepted citations that are not in their passages, or not in the documents if these are passed."""
    texts = {_file_name(name): (name, text) for name, text in (documents or {}).items()}
    checked = check_cases([_with_documents(case.with_facts(case.accepted_facts), texts) for case in cases])
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
