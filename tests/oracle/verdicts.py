"""What follows from what in the world: the one rule by which statements support or contradict a claim."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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
    known = asserted(statements)
    countries = {fact.subject: fact.value for fact in known if fact.attribute == "country"}
    return known | {
        Proposition(fact.subject, "flag", countries[fact.value])
        for fact in known
        if fact.attribute == "port" and fact.value in countries
    }


def needed(subject: str, asked: Iterable[str], statements: Sequence[Statement]) -> list[bool]:
    """Which statements are needed to answer as fully as they allow; of those that say the same, the first.

    A flag that is not stated is answered by its two halves, where both are there.
    """
    wanted = {fact for fact in asserted(statements) if fact.subject == subject and fact.attribute in asked}
    if "flag" in asked and not any(fact.attribute == "flag" for fact in wanted):
        wanted |= halves(subject, statements)
    seen: set[Proposition] = set()
    found = []
    for statement in statements:
        fact = statement.meaning if statement.stance == "asserts" else None
        found.append(fact in wanted - seen)
        seen |= {fact} if fact else set()
    return found


def useful(wanted: Iterable[Proposition], chunks: Sequence[Sequence[Statement]]) -> list[bool]:
    """Which chunks give a wanted claim, or a fact from which one is derived: a half of a flag, where the other is there."""
    everything = [statement for chunk in chunks for statement in chunk]
    facts = set(wanted)
    for claim in wanted:
        if claim.attribute == "flag" and claim in conclusions(everything):
            facts |= halves(claim.subject, everything)
    return [bool(facts & asserted(chunk)) for chunk in chunks]


def halves(subject: str, statements: Iterable[Statement]) -> set[Proposition]:
    """The ship's port and the port's country, where both are asserted."""
    known = asserted(statements)
    ports = {fact for fact in known if (fact.subject, fact.attribute) == (subject, "port")}
    countries = {fact for fact in known if fact.attribute == "country"}
    pairs = {(port, country) for port in ports for country in countries if port.value == country.subject}
    return {fact for pair in pairs for fact in pair}


def asserted(statements: Iterable[Statement]) -> set[Proposition]:
    """What is said to be so."""
    return {statement.meaning for statement in statements if statement.stance == "asserts" and statement.meaning}
