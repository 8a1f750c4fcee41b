"""References that disagree with the facts of their own case, and cases of one question that disagree with each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from ragstone.text.questions import question_key
from ragstone.truth.cases import Case
from ragstone.truth.repair.gist import Gist, agree, covered, gist_of, join_numbers
from ragstone.truth.repair.suspect import Suspect, Witness

# Facts that hold fewer of a reference's words are about something else.
_LEAST_COVERED = 0.34


def known_references(case: Case) -> list[str]:
    """The references that are scored against."""
    return case.references if case.standing == "accepted" else []


def find_unsupported(cases: Sequence[Case]) -> Iterator[Suspect]:
    """Cases none of whose references is borne out by their accepted facts."""
    for case in cases:
        references, facts = known_references(case), [fact.text for fact in case.accepted_facts]
        if not references or not facts:
            continue
        held = gist_of(" ".join(facts), "")
        problems = [_problem(gist_of(reference, case.question), held, case.question) for reference in references]
        if all(problems):
            witnesses = [Witness("reference", text) for text in references]
            witnesses += [Witness(f"fact {number}", text) for number, text in enumerate(facts, start=1)]
            yield Suspect("references", case.id, case.question, str(problems[0]), witnesses)


def _problem(reference: Gist, facts: Gist, question: str) -> str | None:
    """What of a reference the facts do not have."""
    if reference.says or not reference.words:
        return None  # whether facts amount to a yes is not a matter of words
    asked = gist_of(question, "").numbers
    lacking = reference.numbers - facts.numbers
    others = facts.numbers - asked - reference.numbers
    if lacking and others:
        return f"the reference says {join_numbers(lacking)}, the facts say {join_numbers(others)}"
    if covered(reference, facts) < _LEAST_COVERED:
        return "no fact has the words of a reference"
    return None


def find_conflicting(cases: Sequence[Case]) -> Iterator[Suspect]:
    """Cases that ask the same about the same documents, and know different answers."""
    groups: dict[str, list[Case]] = {}
    for case in cases:
        groups.setdefault(question_key(case.question), []).append(case)
    for group in groups.values():
        for one, other in combinations(group, 2):
            if _may_be_same(one, other) and (reason := _conflict(one, other)):
                witnesses = [Witness(f"case {case.id}", _told(case)) for case in (one, other)]
                yield Suspect("duplicates", one.id, one.question, reason, witnesses)


def _may_be_same(one: Case, other: Case) -> bool:
    return not one.documents or not other.documents or set(one.documents) == set(other.documents)


def _conflict(one: Case, other: Case) -> str | None:
    if one.answerable is not None and other.answerable is not None and one.answerable != other.answerable:
        return f"case '{other.id}' asks the same, and only one of them is said to be answerable"
    mine, theirs = known_references(one), known_references(other)
    gists = [[gist_of(text, one.question) for text in side] for side in (mine, theirs)]
    if mine and theirs and not any(agree(first, second) for first in gists[0] for second in gists[1]):
        return f"case '{other.id}' asks the same and has another reference"
    return None


def _told(case: Case) -> str:
    words = " / ".join(known_references(case)) or "no reference"
    return words if case.answerable is None else f"{words} ({'answerable' if case.answerable else 'unanswerable'})"
