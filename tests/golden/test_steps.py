"""Agentic retrieval, computed by hand.

Three facts, four steps of which three search. Search 1 finds A in one of two chunks, search 2 (step 3) finds A again and B
in two of three chunks, search 3 (step 4) repeats a chunk of search 2. C is never found.
"""

import pytest

from ragstone.data.types import Chunk, Fact, Sample, Step
from tests.metrics.scoring import cell

A, NOISE, A2, B, NOISE2 = (
    Chunk("So fact alpha holds.", "1"),
    Chunk("Nothing.", "2"),
    Chunk("Again: fact alpha.", "3"),
    Chunk("And fact beta.", "4"),
    Chunk("Else.", "5"),
)
STEPS = [
    Step("search", "alpha", [A, NOISE]),
    Step("add", "1+1"),
    Step("search", "beta", [A2, B, NOISE2]),
    Step("search", "beta again", [B]),
]
EXPECTED = [Step("search", "Alpha!"), Step("search"), Step("search", "gamma"), Step("add")]
SAMPLE = Sample(
    "agent",
    question="What about alpha, beta and gamma?",
    answer="Alpha and beta.",
    contexts=[A, NOISE, A2, B, NOISE2],
    facts=[Fact("fact alpha"), Fact("fact beta"), Fact("fact gamma")],
    relevance={"1": 1.0, "4": 2.0, "9": 1.0, "5": 0.0},
    steps=STEPS,
    expected_steps=EXPECTED,
)
# Per search: facts found 1, 2, 1 of 3; useful chunks 1/2, 2/3, 1/1; first found 1 (A), 1 (B), 0.
HAND = {
    "steps.fact_recall": (1 / 3 + 2 / 3 + 1 / 3) / 3,
    "steps.fact_precision": (1 / 2 + 2 / 3 + 1) / 3,
    "steps.fact_gain": (1 / 3 + 1 / 3 + 0) / 3,
    "steps.first_found": (1 + 2) / 2,
    "steps.found_later": 1 / 2,
    # By id: search 1 has chunk 1, search 2 chunk 4, search 3 chunk 4 again, of 1, 4 and 9.
    "steps.recall": 1 / 3,
    "steps.precision": (1 / 2 + 1 / 3 + 1) / 3,
    "steps.gain": (1 / 3 + 1 / 3 + 0) / 3,
    "steps.redundant": 1 / 3,
    "steps.count": 4,
    # Matched: alpha with its query, any search, add; gamma was not searched for.
    "steps.tool_precision": 3 / 4,
    "steps.tool_recall": 3 / 4,
    "steps.tool_f1": 3 / 4,
    "steps.tool_sequence": 0,
    # By name alone, three searches and one add are expected and made, in another order.
    "steps.tool_f1(by=tool)": 1,
    "steps.tool_sequence(by=tool)": 0,
}


@pytest.mark.parametrize(("name", "value"), HAND.items(), ids=HAND)
def test_by_hand(name, value):
    assert cell(SAMPLE, name).value == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(
    ("made", "expected", "precision", "recall", "sequence"),
    [
        # ragas' ToolCallF1 compares sets: it would give 1 here, as the repeated call counts once.
        ([Step("s", "x"), Step("s", "x")], [Step("s", "x")], 1 / 2, 1, 0),
        # ragas' ToolCallAccuracy gives 0 to another order; the order matters for the sequence only.
        ([Step("b"), Step("a")], [Step("a"), Step("b")], 1, 1, 0),
        ([Step("a"), Step("b")], [Step("a"), Step("b")], 1, 1, 1),
        ([Step("A", "Two  words.")], [Step(" a ", "two words")], 1, 1, 1),
        # An expected step with a query takes the only step that has it.
        ([Step("s", "x"), Step("s", "y")], [Step("s"), Step("s", "x")], 1, 1, 0),
        ([], [Step("a")], 0, 0, 0),
        # A query without words is no query.
        ([Step("a", "anything")], [Step("a", "?!")], 1, 1, 1),
    ],
)
def test_calls_by_hand(made, expected, precision, recall, sequence):
    sample = Sample("s", steps=made, expected_steps=expected)
    assert cell(sample, "steps.tool_precision").value == precision
    assert cell(sample, "steps.tool_recall").value == recall
    assert cell(sample, "steps.tool_sequence").value == sequence
