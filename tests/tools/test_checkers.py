"""The local judge decides what it is sure of; the rest is escalated."""

import asyncio
from types import SimpleNamespace

import pytest

from ragstone.data.verdict import Verdict
from ragstone.llm.cascade_tally import Tally, tally_into
from ragstone.tools.checkers import CascadeGrader, LocalCascade, confidence
from tests.tools.checking import Found, Stub, in_chunks, in_text, labels

SURE = Verdict("entailment", 0.99, 0.0, counted=0.95)
UNSURE = Verdict("unsure", 0.6, 0.0)
AGAINST = Verdict("contradiction", 0.01, 0.95, counted=0.1)


class Local(Stub):
    """A local judge with fixed supports per (claim, text)."""

    signature = "local"
    card = SimpleNamespace(
        confidence_for=lambda task, agreement: agreement,
        reads=lambda *texts: not any("Fähre" in text for text in texts),
    )

    def __init__(self, supports):
        self._supports = supports
        self.checker = self

    async def weigh(self, claims, texts, known=""):
        return [[self._supports[claim, text] for text in texts] for claim in claims]

    async def in_text(self, question, claims, text):
        return [self._supports[claim, text] for claim in claims]

    async def weigh_together(self, claims, chunks, wanted, known=""):
        return [None] * len(claims)

    def joined(self, words, together):
        return next((word for word in ("entailment", "contradiction") if word in words), "neutral")

    async def matches(self, question, answer, references):
        return [self._supports[reference] for reference in references]

    async def labels(self, question, nuggets, answer):
        return [self._supports[nugget] for nugget in nuggets]


class Above(Stub):
    """A language model that contradicts everything and records what it is asked."""

    signature = "llm"

    def __init__(self):
        self.asked = []

    def prompt_hash(self, name):
        return f"hash of {name}"

    def calls_for(self, claims, chunks=1):
        return min(claims * chunks, 1)

    async def in_text(self, question, claims, text):
        self.asked.append(list(claims))
        return ["contradiction"] * len(claims)

    async def in_chunks(self, question, claims, chunks):
        self.asked.append((list(claims), list(chunks)))
        return Found([["contradiction"] * len(chunks) for _ in claims], ["contradiction"] * len(claims))

    async def matches(self, question, answer, references):
        self.asked.append(list(references))
        return [0.0] * len(references)

    async def labels(self, question, nuggets, answer):
        self.asked.append(list(nuggets))
        return ["not_support"] * len(nuggets)


TEXT = "A long text that is not a fragment of an answer, with a verb that says something."


def test_only_unsure_claims_are_escalated():
    above, tally = Above(), Tally()
    checker = LocalCascade(Local({("a", TEXT): SURE, ("b", TEXT): UNSURE, ("c", TEXT): AGAINST}), above, 0.9)
    with tally_into(tally):
        words = asyncio.run(in_text(checker, "Where?", ["a", "b", "c"], TEXT))
    assert words == ["entailment", "contradiction", "contradiction"]
    assert above.asked == [["b"]]
    assert tally != Tally()


def test_only_unsure_chunks_are_escalated():
    above = Above()
    supports = {("a", "1"): SURE, ("a", "2"): AGAINST, ("b", "1"): AGAINST, ("b", "2"): UNSURE}
    found = asyncio.run(in_chunks(LocalCascade(Local(supports), above, 0.9), "q", ["a", "b"], ["1", "2"]))
    assert above.asked == [(["b"], ["2"])]
    assert found.each == [["entailment", "contradiction"], ["contradiction", "contradiction"]]
    assert found.together == ["entailment", "contradiction"]


def test_a_language_that_the_local_judge_does_not_read_is_escalated():
    above, german = Above(), "Die letzte Fähre fährt um acht."
    assert asyncio.run(in_text(LocalCascade(Local({}), above, 0.9), "q", ["a"], german)) == ["contradiction"]
    found = asyncio.run(in_chunks(LocalCascade(Local({}), above, 0.9), "q", ["a"], [german]))
    assert found.together == ["contradiction"]
    assert asyncio.run(CascadeGrader(Local({}), above, 0.9).matches("q", german, ["r"])) == [0.0]
    assert len(above.asked) == 3


@pytest.mark.parametrize(("probability", "escalated"), [(0.97, False), (0.02, False), (0.6, True)])
def test_unclear_answers_are_escalated(probability, escalated):
    above = Above()
    found = asyncio.run(CascadeGrader(Local({"r": probability}), above, 0.9).matches("q", "a", ["r"]))
    assert (found, bool(above.asked)) == (([0.0], True) if escalated else ([probability], False))


def test_signature_and_prompts():
    checker = LocalCascade(Local({}), Above(), 0.9)
    assert checker.signature == "local>llm@0.9"
    assert checker.prompt_hash("verdicts") == "hash of verdicts"


def test_confidence():
    assert (confidence(0.2), confidence(0.9)) == (0.8, 0.9)


def test_nuggets_that_are_unsure_or_partial_are_escalated():
    supports = {
        "sure": Verdict("support", 0.99, 0.0, counted=1.0),
        "partial": Verdict("partial_support", 0.02, 0.0, counted=0.5),
        "unsure": Verdict("support", 0.7, 0.0, counted=1.0),
        "no": Verdict("not_support", 0.01, 0.0, counted=0.0),
    }
    above, tally = Above(), Tally()
    with tally_into(tally):
        found = asyncio.run(labels(LocalCascade(Local(supports), above, 0.9), "q", list(supports), TEXT))
    assert found == ["support", "not_support", "not_support", "not_support"]
    assert above.asked == [["partial", "unsure"]]
    asyncio.run(labels(LocalCascade(Local(supports), above, 0.9), "q", ["sure"], "Die Fähre fährt."))
    assert above.asked[1:] == [["sure"]], "other languages are read by the language model"
