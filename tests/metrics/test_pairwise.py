"""One answer against another: what each combination of verdicts is worth."""

import pytest

from ragstone.data.types import PairVerdict
from ragstone.engine.evaluate import evaluate
from ragstone.errors import Skip
from ragstone.metrics.pairwise import pair_consistency, pair_first_seat, pair_win
from tests.metrics.models import Obliging


def verdicts(as_first, as_second):
    """Who won when our answer stood first, and when it stood second."""
    return [PairVerdict("one", as_first, ""), PairVerdict("other", as_second, "")]


@pytest.mark.parametrize(
    ("as_first", "as_second", "win", "consistency", "first_seat"),
    [
        ("one", "one", 1.0, 1.0, 0.5),
        ("other", "other", 0.0, 1.0, 0.5),
        ("tie", "tie", 0.5, 1.0, 0.5),
        ("one", "other", 0.5, 0.0, 1.0),
        ("other", "one", 0.5, 0.0, 0.0),
        ("one", "tie", 0.5, 0.0, 0.75),
        ("other", "tie", 0.5, 0.0, 0.25),
    ],
)
def test_both_orders(as_first, as_second, win, consistency, first_seat):
    found = verdicts(as_first, as_second)
    assert (pair_win(found), pair_consistency(found), pair_first_seat(found)) == (win, consistency, first_seat)


@pytest.mark.parametrize(
    ("only", "why"),
    [
        (PairVerdict("other", "one", ""), "one order only"),
        (PairVerdict("neither", "tie", ""), "not called"),
    ],
)
def test_one_order_or_none_says_nothing_about_the_judge(only, why):
    assert pair_win([only]) == (1.0 if only.winner == "one" else 0.5)
    for metric in (pair_consistency, pair_first_seat):
        with pytest.raises(Skip, match=why):
            metric([only])


def test_no_answer_is_not_an_empty_one():
    rows = [
        {"id": "1", "question": "Which?", "contexts": ["x"], "metadata": {"other_answer": "This."}},
        {"id": "2", "question": "Which?", "contexts": ["x"], "answer": "This.", "metadata": {"other_answer": "This."}},
        {"id": "3", "question": "Which?", "contexts": ["x"], "answer": "This.", "metadata": {"other_answer": None}},
    ]
    found = evaluate(rows, ["pair.win"], judge=Obliging(), cache=False)
    cells = {row["sample_id"]: (row["value"], row["status"], row["reason"]) for row in found.scores.to_pylist()}
    assert cells["1"] == (None, "skipped", "there is no answer")
    assert cells["2"] == (0.5, "ok", None)
    assert cells["3"][1] == "skipped"
