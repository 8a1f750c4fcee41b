"""TREC's nugget scores, FActScore and CRAG, computed by hand from their definitions."""

import math

import pytest

import ragstone
from ragstone.errors import Skip
from ragstone.metrics.crag import crag_outcome, graded_score
from ragstone.metrics.factscore import factscore

# Four vital and three okay nuggets. Of the vital ones two are supported, one partly and one not; of the okay ones one each.
FACTS = [
    {"text": f"nugget {number}", "kind": "statement", "importance": importance}
    for number, importance in enumerate(["vital"] * 4 + ["okay"] * 3, start=1)
]
LABELS = ["support", "support", "partial_support", "not_support", "support", "partial_support", "not_support"]
TREC = {
    # (1 + 1 + ½ + 0 + 1 + ½ + 0) / 7
    "nugget.all": 4 / 7,
    # (1 + 1 + 1) / 7
    "nugget.all_strict": 3 / 7,
    # (1 + 1 + ½) / 4
    "nugget.vital": 2.5 / 4,
    # (1 + 1) / 4
    "nugget.vital_strict": 2 / 4,
    # (2.5 + ½ · 1.5) / (4 + ½ · 3)
    "nugget.weighted": 3.25 / 5.5,
    # (2 + ½ · 1) / (4 + ½ · 3)
    "nugget.weighted_strict": 2.5 / 5.5,
}


def test_all_six_scores_of_trec():
    rows = [{"id": "1", "question": "q", "answer": "a", "facts": FACTS, "nugget_support": LABELS}]
    run = ragstone.evaluate(rows, "nugget")
    assert {row.metric: row.mean for row in run.summary()} == pytest.approx(TREC)
    assert run.info["totals"]["calls"] == 0


def test_a_fact_without_importance_is_vital_and_vital_scores_need_one():
    plain = [{"text": "one"}, {"text": "two"}]
    okay = [{"text": "one", "importance": "okay"}, {"text": "two", "importance": "okay"}]
    labels = ["support", "partial_support"]
    rows = [
        {"id": name, "question": "q", "answer": "a", "facts": facts, "nugget_support": labels}
        for name, facts in (("plain", plain), ("okay", okay))
    ]
    run = ragstone.evaluate(rows, ["nugget.vital", "nugget.weighted"])
    cells = {(row["sample_id"], row["metric"]): (row["value"], row["reason"]) for row in run.scores.to_pylist()}
    assert cells["plain", "nugget.vital"] == (0.75, None)
    assert cells["okay", "nugget.vital"] == (None, "no nugget is vital")
    assert cells["okay", "nugget.weighted"] == (0.75, None)


def test_factscore_with_and_without_the_length_penalty():
    """Four of five claims are supported; with γ = 10 and n = 5 the factor is exp(1 − 10 / 5) = 1 / e."""
    verdicts = ["entailment"] * 4 + ["contradiction"]
    assert factscore(verdicts, []) == pytest.approx(0.8)
    assert factscore(verdicts, [], gamma=10) == pytest.approx(0.8 / math.e)
    assert factscore(verdicts * 2, [], gamma=10) == pytest.approx(0.8), "ten claims: no penalty"
    assert factscore(verdicts * 4, [], gamma=10) == pytest.approx(0.8), "more claims earn nothing"


def test_factscore_leaves_out_answers_that_abstain():
    with pytest.raises(Skip, match="declines"):
        factscore([], ["I do not know"])
    with pytest.raises(Skip, match="no claims"):
        factscore([], [])


@pytest.mark.parametrize(
    ("answer", "references", "matches", "outcome"),
    [
        # An exact match is correct, whatever the judge says; case, articles and punctuation do not matter.
        ("The Eiffel Tower.", ["eiffel tower"], [0.0], "correct"),
        ("It is 71 m tall.", ["71 m"], [1.0], "correct"),
        ("It is 72 m tall.", ["71 m", "71 metres"], [0.0, 0.4], "incorrect"),
        ("I don't know.", ["71 m"], [0.0], "missing"),
        ("", ["71 m"], [0.0], "missing"),
        # Where the right answer declines, declining is correct and anything else is not.
        ("I do not know.", ["The documents do not say."], [1.0], "correct"),
        ("It is 71 m tall.", ["The documents do not say."], [0.0], "incorrect"),
    ],
)
def test_the_rules_of_crag(answer, references, matches, outcome):
    assert crag_outcome(answer, references, matches) == outcome


def test_the_mean_of_crag_is_the_share_of_correct_minus_that_of_incorrect_answers():
    """Five answers: two correct, one missing, two incorrect, so (2 − 2) / 5; CRAG's formula (2c + m) / n − 1 is the same."""
    said = ["Paris", "paris.", "I don't know.", "Rome", "London"]
    rows = [{"id": str(at), "question": "q", "answer": text, "references": ["Paris"]} for at, text in enumerate(said)]

    def judge(prompts):
        return ['{"matches": []}' for _ in prompts]

    run = ragstone.evaluate(
        rows, ["crag.score", "crag.accuracy", "crag.missing", "crag.hallucination_rate"], judge=judge
    )
    means = {row.metric: row.mean for row in run.summary()}
    assert means == pytest.approx(
        {"crag.score": 0.0, "crag.accuracy": 0.4, "crag.missing": 0.2, "crag.hallucination_rate": 0.4}
    )
    assert means["crag.score"] == pytest.approx((2 * 2 + 1) / 5 - 1)


def test_an_acceptable_answer_is_correct_with_an_error_beside_it():
    assert graded_score("correct", ["entailment", "neutral"]) == 1.0
    assert graded_score("correct", ["entailment", "contradiction"]) == 0.5
    assert graded_score("missing", []) == 0.0
    assert graded_score("incorrect", ["contradiction"]) == -1.0
