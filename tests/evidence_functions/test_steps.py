import time

from ragstone.data.types import Chunk, Fact, FactMatch, Step
from ragstone.evidence_functions.steps import facts_in_steps, first_finds, match_steps, new_chunks, step_ranks
from ragstone.text.matchers import make_matcher

ONE, TWO = Chunk("one fact", "1"), Chunk("two", "2")


class Counting:
    """A matcher that remembers what it was asked."""

    name = signature = "counting"

    def __init__(self):
        self.asked = []

    def find(self, facts, chunks):
        self.asked += chunks
        return make_matcher("citation").find(facts, chunks)


def test_chunks_among_the_contexts_are_not_searched_again():
    matcher, match = Counting(), FactMatch(0, 0, 4, 8, 1.0, "counting")
    steps = [Step("s", "q", [ONE]), Step("s", "q", [ONE, Chunk("a fact more")])]
    found = facts_in_steps(steps, [Fact("fact")], [ONE], [match], matcher)
    assert found == [[[0]], [[0], [0]]]
    assert matcher.asked == ["a fact more"]


def test_new_chunks_and_first_finds():
    steps = [Step("s", "q", [ONE, ONE]), Step("add"), Step("s", "q", [ONE, TWO]), Step("s", "q", [])]
    assert new_chunks(steps) == [1, 0, 1, 0]
    assert first_finds([[[0], []], [], [[0, 2]], []]) == {0: 0, 2: 2}
    assert step_ranks(steps, [TWO, ONE, TWO]) == [[1], [], [0, 1, 2], []]


def test_matches_are_one_to_one():
    made = [Step("s", "x"), Step("s", "x"), Step("s", "z")]
    assert match_steps(made, [Step("s"), Step("s", "x"), Step("t"), Step("s", "x")]) == {0: 2, 1: 0, 3: 1}


def test_many_steps_are_matched_quickly():
    made = [Step("s", f"q{number % 100}") for number in range(10_000)]
    started = time.process_time()
    assert len(match_steps(made, made)) == len(made)
    assert time.process_time() - started < 5
