"""A cascade of token probabilities and a stronger model: only what the first is not sure of is escalated."""

import asyncio

import pytest

from ragstone.data.verdict import Verdict
from ragstone.llm.cascade_tally import Tally, tally_into
from ragstone.tools.checkers import TokenCascade
from tests.tools.checking import Found, Stub, in_chunks, in_text


class Below(Stub):
    signature = "below"

    def prompt_hash(self, name):
        return "b"

    def verdict(self, claim):
        likely = {"sure": 0.97, "not": 0.02}.get(claim, 0.7)
        return Verdict("entailment" if likely > 0.6 else "neutral", likely, 0.0)

    async def in_text(self, question, claims, text):
        return [self.verdict(claim) for claim in claims]

    async def in_chunks(self, question, claims, chunks):
        each = [[self.verdict(claim) for _ in chunks] for claim in claims]
        return Found(each, [row[0] for row in each])

    async def matches(self, question, answer, references):
        return [{"sure": 0.97}.get(answer, 0.5)]


class Above(Stub):
    signature = "above"

    def __init__(self):
        self.asked = []

    def prompt_hash(self, name):
        return "a"

    def calls_for(self, claims, chunks=1):
        return bool(claims * chunks)

    async def in_text(self, question, claims, text):
        self.asked.append(list(claims))
        return ["contradiction"] * len(claims)

    async def in_chunks(self, question, claims, chunks):
        self.asked.append((list(claims), list(chunks)))
        return Found([["contradiction"] * len(chunks) for _ in claims], ["contradiction"] * len(claims))

    async def matches(self, question, answer, references):
        self.asked.append(answer)
        return [0.0]


@pytest.fixture
def above():
    return Above()


def test_only_unsure_claims_are_escalated(above):
    ladder = TokenCascade(Below(), above, 0.9)
    tally = Tally()
    with tally_into(tally):
        found = asyncio.run(in_text(ladder, "q", ["sure", "maybe", "not"], "text"))
    assert found == ["entailment", "contradiction", "neutral"]
    assert above.asked == [["maybe"]]
    assert (tally.decided, tally.passed_on) == (2, 1)
    assert ladder.signature == "below>above@0.9"


def test_chunks_and_answers(above):
    ladder = TokenCascade(Below(), above, 0.9)
    found = asyncio.run(in_chunks(ladder, "q", ["sure", "maybe"], ["a", "b"]))
    assert found.each == [["entailment"] * 2, ["contradiction"] * 2]
    assert found.together == ["entailment", "contradiction"]
    assert above.asked == [(["maybe"], ["a", "b"])]
    assert asyncio.run(ladder.matches("q", "sure", ["x"])) == [0.97]
    assert asyncio.run(ladder.matches("q", "maybe", ["x"])) == [0.0]


def test_a_quote_counts_both(above):
    ladder = TokenCascade(Below(), above, 0.9, dry_run=True)
    asyncio.run(in_text(ladder, "q", ["sure"], "text"))
    assert above.asked == [["sure"]]
