"""What follows from what in the world: the one rule by which statements support or contradict a claim."""

from __future__ import annotations

from collections.abc import Iterable

from tests.oracle.language import Proposition, Statement


def verdict(claim: Proposition, statements: Iterable[Statement]) -> str:
    """Whether statements, taken together, entail a claim, contradict it or say nothing of it; what is said for it wins."""
    statements = list(statements)
    known = conclusions(statements)
    if claim in known:
        return "entailment"
    denied = {statement.meaning for statement in statements if statement.stance == "denies"}
    other = any((claim.subject, claim.attribute) == (fact.subject, fact.attribute) for fact in known)
    return "contradiction" if other or claim in denied else "neutral"


def conclusions(statements: Iterable[Statement]) -> set[Proposition]:
    """What is asserted, and what follows: a ship flies the flag of the country that its port lies in."""
    known = {statement.meaning for statement in statements if statement.stance == "asserts" and statement.meaning}
    countries = {fact.subject: fact.value for fact in known if fact.attribute == "country"}
    return known | {
        Proposition(fact.subject, "flag", countries[fact.value])
        for fact in known
        if fact.attribute == "port" and fact.value in countries
    }


def needed(subject: str, asked: Iterable[str], truths: list[Proposition | None]) -> list[bool]:
    """Which of the true statements are needed to answer: the asked ones, and both halves of a flag if both are there."""
    asked = set(asked)
    ports = {fact.value for fact in truths if fact and (fact.subject, fact.attribute) == (subject, "port")}
    located = {fact.subject for fact in truths if fact and fact.attribute == "country"} & ports
    return [bool(fact) and _is_needed(fact, subject, asked, located) for fact in truths]


def _is_needed(fact: Proposition, subject: str, asked: set[str], located: set[str]) -> bool:
    if fact.subject == subject:
        return fact.attribute in asked or ("flag" in asked and fact.attribute == "port" and fact.value in located)
    return "flag" in asked and fact.attribute == "country" and fact.subject in located
