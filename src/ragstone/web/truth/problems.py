"""What a person should look at in a case: by looking at it alone, and by looking for its citations in its passages."""

from __future__ import annotations

import time
from collections.abc import Sequence

from ragstone.report.plain import visible
from ragstone.truth.cases import Case, TruthFact
from ragstone.web.truth.checking import ABSENT, check_fact, passages_of

LOST = "citation not found"
PROBLEMS = {
    "no question": "there is nothing to ask",
    "no answer": "no reference answer, although the documents may hold one",
    "no fact": "no accepted fact, although the documents may hold one",
    "to review": "proposed facts or answers wait for a decision",
    "asked twice": "another case asks the same",
    "answer to the unanswerable": "it is said that the documents do not hold the answer, yet there is one",
    "hidden characters": "controls or marks that turn the direction of writing",
    LOST: "a citation stands in none of the passages",
}


def lost_citations(cases: Sequence[Case]) -> frozenset[int]:
    """The rows of cases with a citation that stands in none of its passages; cases without passages are not looked at."""
    found = set()
    for row, case in enumerate(cases):
        begun = time.perf_counter()
        if _has_lost(case):
            found.add(row)
        time.sleep(time.perf_counter() - begun)  # half the time is left to pages that are asked for meanwhile
    return frozenset(found)


def find_problems(case: Case, times_asked: int) -> list[str]:
    """What can be seen from the case alone, and from how often its question is asked."""
    unanswerable = case.answerable is False
    found = {
        "no question": not case.question.strip(),
        "no answer": not case.references and not unanswerable,
        "no fact": not case.accepted_facts and not unanswerable,
        "to review": _has_proposed(case),
        "asked twice": bool(case.question.strip()) and times_asked > 1,
        "answer to the unanswerable": unanswerable and bool(case.references or case.accepted_facts),
        "hidden characters": any(visible(text) != text.replace("\r\n", "\n") for text in _texts(case)),
    }
    return [name for name, there in found.items() if there]


def _has_proposed(case: Case) -> bool:
    answers = case.standing == "proposed" and bool(case.references)
    return answers or any(fact.standing == "proposed" for fact in case.facts)


def _has_lost(case: Case) -> bool:
    passages = [passage.text for passage in passages_of(case)]
    return bool(passages) and any(_is_lost(fact, passages) for fact in case.facts if fact.standing != "rejected")


def _is_lost(fact: TruthFact, passages: Sequence[str]) -> bool:
    return check_fact(fact.kind, fact.text, passages)["verdict"] in ABSENT


def _texts(case: Case) -> list[str]:
    return [case.question, *case.references, *(fact.text for fact in case.facts)]


def fold(text: str) -> str:
    """Questions that differ in case and blanks are the same."""
    return " ".join(text.casefold().split())
