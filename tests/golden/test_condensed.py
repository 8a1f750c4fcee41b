"""Judged share and condensed lists, computed by hand.

The list is a u b v c with a: 2, b: 0, c: 1 judged, d: 1 relevant and never retrieved, and u and v unjudged. Condensed it is
a b c. The judged share equals that of ir_measures 0.4.3 (Judged, Judged@k) on 200 random queries.
"""

import math
import random

import pytest

from ragstone.engine.in_memory import score_rankings

RANKING, GRADES = ["a", "u", "b", "v", "c"], {"a": 2.0, "b": 0.0, "c": 1.0, "d": 1.0}
IDEAL = 2 + 1 / math.log2(3) + 1 / math.log2(4)
HAND = {
    "judged@1": 1,
    "judged@2": 1 / 2,
    "judged@4": 2 / 4,
    "judged@5": 3 / 5,
    "judged@10": 3 / 5,
    "judged": 3 / 5,
    "precision@3": 1 / 3,
    "precision(condensed=true)@3": 2 / 3,
    "precision(condensed=true)@5": 2 / 5,
    "precision(over=retrieved, condensed=true)@5": 2 / 3,
    "precision(condensed=true)": 2 / 3,
    "recall@3": 1 / 3,
    "recall(condensed=true)@3": 2 / 3,
    "f1(condensed=true)@3": 2 / 3,
    "hit(rel=1.0, condensed=true)@1": 1,
    "r_precision": 1 / 3,
    "r_precision(condensed=true)": 2 / 3,
    "map": (1 + 2 / 5) / 3,
    "map(condensed=true)": (1 + 2 / 3) / 3,
    "mrr(condensed=true)": 1,
    "ndcg": (2 + 1 / math.log2(6)) / IDEAL,
    "ndcg(condensed=true)": (2 + 1 / math.log2(4)) / IDEAL,
    "rbp(p=0.5, condensed=true)": 0.5 * (1 + 0.25),
    "err(max_grade=2.0, condensed=true)": 3 / 4 + 1 / 3 * 1 / 4 * 1 / 4,
}


@pytest.mark.parametrize(("name", "value"), HAND.items(), ids=HAND)
def test_by_hand(name, value):
    assert score_rankings([RANKING], [GRADES], name)[name] == [pytest.approx(value, abs=1e-12)]


def test_grades_below_zero_are_no_judgements():
    scores = score_rankings([["a", "b"]], [{"a": -1.0, "b": 1.0}], ["judged", "precision(condensed=true)"])
    assert scores == {"judged": [0.5], "precision(condensed=true)": [1.0]}


def test_only_judged_needs_no_relevant_chunk():
    assert score_rankings([["a", "b"], ["a"]], [{"a": 0.0}, {"a": -1.0}], "judged")["judged"] == [0.5, None]


NAMES = ["precision", "recall", "f1", "hit", "mrr", "map", "ndcg", "rbp", "err"]


def test_condensed_is_the_metric_of_the_list_without_unjudged_chunks():
    draw = random.Random(3)
    ids = [f"d{number}" for number in range(30)]
    lists = [draw.sample(ids, draw.randint(0, 25)) for _ in range(200)]
    judged = [{name: float(draw.choice([0, 0, 1, 3])) for name in draw.sample(ids, 12)} for _ in lists]
    shorter = [[name for name in row if name in grades] for row, grades in zip(lists, judged, strict=True)]
    plain = score_rankings(shorter, judged, [f"{name}@{k}" for name in NAMES for k in (1, 5, 20)] + ["r_precision"])
    condensed = score_rankings(
        lists,
        judged,
        [f"{name}(condensed=true)@{k}" for name in NAMES for k in (1, 5, 20)] + ["r_precision(condensed=true)"],
    )
    for (name, expected), values in zip(plain.items(), condensed.values(), strict=True):
        assert values == [None if one is None else pytest.approx(one, abs=1e-12) for one in expected], name


def test_bpref_does_not_change_if_the_list_is_condensed():
    scores = score_rankings([RANKING, ["a", "b", "c"]], [GRADES, GRADES], "bpref")["bpref"]
    assert scores[0] == scores[1]
